#include "dlprim/io/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "dlprim/platform/files.h"

namespace dlprim::io {
namespace {

namespace fs = std::filesystem;

using platform::FileStatus;

using Name = fs::path::string_type;

constexpr int most_links = 40;  // as the kernel's own limit
constexpr std::size_t longest_name = 255;
constexpr std::size_t random_digits = 16;
const Name temporary_suffix = fs::path(".tmp").native();

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/** The file that opening `path` for writing would write, which need not be there yet. */
fs::path with_links_followed(const fs::path& path) {
  fs::path target = path;
  std::error_code none;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, none)); ++links) {
    if (links == most_links) throw SystemError(path, "cannot write", ELOOP);
    const fs::path next = fs::read_symlink(target, none);
    if (none) throw SystemError(path, "cannot write", none.value());
    target = target.parent_path() / next;  // an absolute `next` stands for itself
  }
  return target;
}

/** The names of temporary files are this, 16 hexadecimal digits and ".tmp". */
Name temporary_prefix(const fs::path& path) {
  const std::size_t rest = 1 + random_digits + temporary_suffix.size();
  return (fs::path(path.filename().native().substr(0, longest_name - rest)) += ".").native();
}

fs::path random_temporary(const fs::path& path) {
  constexpr char digits[] = "0123456789abcdef";
  std::random_device random;
  Name name = temporary_prefix(path);
  for (std::size_t i = 0; i < random_digits; ++i)
    name += static_cast<Name::value_type>(digits[random() % 16]);
  return path.parent_path() / (name + temporary_suffix);
}

bool is_temporary_of(const Name& name, const Name& prefix) {
  if (name.size() != prefix.size() + random_digits + temporary_suffix.size()) return false;
  const auto digits = name.begin() + static_cast<std::ptrdiff_t>(prefix.size());
  const auto suffix = name.end() - static_cast<std::ptrdiff_t>(temporary_suffix.size());
  return name.compare(0, prefix.size(), prefix) == 0 &&
         std::equal(suffix, name.end(), temporary_suffix.begin()) &&
         std::all_of(digits, suffix, [](auto c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/** A writer holds a lock on its temporary file: one that nobody holds was left by a process that died. */
bool is_left_behind(const fs::path& temporary) {
  const Descriptor file(platform::open_for_locking(temporary));
  FileStatus status;
  return file.is_open() && platform::status_of(file.number(), status) &&
         status.kind == FileStatus::Kind::regular &&
         platform::try_lock(file.number(), platform::Lock::exclusive);
}

void remove_left_behind(const fs::path& path) {
  const Name prefix = temporary_prefix(path);
  std::error_code ignored;
  for (fs::directory_iterator entry(folder_of(path), ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (is_temporary_of(entry->path().filename().native(), prefix) && is_left_behind(entry->path()))
      platform::remove_file(entry->path());
}

/** Locks a file just made. False where somebody else took it for one left behind in the meantime. */
bool lock(const Descriptor& file) {
  if (!platform::try_lock(file.number(), platform::Lock::exclusive) && errno == EWOULDBLOCK) return false;
  FileStatus status;
  return !platform::status_of(file.number(), status) || status.has_name;
}

void require_regular(const fs::path& path, const FileStatus& status) {
  if (status.kind == FileStatus::Kind::folder) throw SystemError(path, "cannot read", EISDIR);
  require<FileError>(status.kind == FileStatus::Kind::regular, path.u8string(),
                     ": is a pipe or a device; only regular files are read");
}

}  // namespace

SystemError::SystemError(const fs::path& file, const std::string& doing, int error)
    : FileError(concat(file.u8string(), ": ", doing, ": ", std::strerror(error))),
      path(file),
      reason(concat(doing, ": ", std::strerror(error))),
      number(error) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (is_open()) platform::close_file(number_);
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

InputFile::InputFile(const fs::path& path) : path_(path) {
  FileStatus status;
  if (!platform::status_of(path, status)) throw SystemError(path, "cannot open", errno);
  require_regular(path, status);
  // Should a pipe have taken its place, opening it must not wait.
  descriptor_ = Descriptor(platform::open_for_reading(path));
  if (!descriptor_.is_open() || !platform::status_of(descriptor_.number(), status))
    throw SystemError(path, "cannot open", errno);
  require_regular(path, status);
  size_ = static_cast<std::size_t>(status.size);
}

std::size_t InputFile::read(std::size_t position, void* destination, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const std::ptrdiff_t got = platform::read_at(descriptor_.number(), static_cast<char*>(destination) + done,
                                                 count - done, position + done);
    if (got < 0) throw SystemError(path_, "cannot read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

OutputFile::OutputFile(const fs::path& path) : path_(path), target_(with_links_followed(path)) {
  FileStatus old;
  const bool replaces = platform::status_of(target_, old);
  if (!replaces && errno != ENOENT) fail();
  if (replaces && old.kind == FileStatus::Kind::folder) throw SystemError(path, "cannot write", EISDIR);
  if (replaces && old.kind != FileStatus::Kind::regular) {
    open_directly();
    return;
  }
  if (replaces && !platform::is_writable(target_)) fail();
  remove_left_behind(target_);
  // Nobody may open what takes over a private file's place before it is private too.
  open_temporary(replaces);
  // Only root may give files away; an owner that cannot be kept is no reason not to save.
  if (replaces) platform::take_over_rights(descriptor_.number(), old);
}

void OutputFile::open_directly() {
  descriptor_ = Descriptor(platform::open_for_writing(target_));
  if (!descriptor_.is_open()) fail();
}

void OutputFile::open_temporary(bool is_private) {
  do {
    temporary_ = random_temporary(target_);
    descriptor_ = Descriptor(platform::create_file(temporary_, is_private));
    if (!descriptor_.is_open()) {
      temporary_.clear();
      fail();
    }
  } while (!lock(descriptor_));
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::write(const void* bytes, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const std::ptrdiff_t wrote =
        platform::write_file(descriptor_.number(), static_cast<const char*>(bytes) + done, count - done);
    if (wrote < 0) fail();
    done += static_cast<std::size_t>(wrote);
  }
}

void OutputFile::finish() {
  if (!temporary_.empty()) {
    if (!platform::flush_to_disk(descriptor_.number()) || !platform::rename_over(temporary_, target_)) {
      const SystemError error(path_, "cannot write", errno);
      discard();
      throw error;
    }
    temporary_.clear();
    platform::flush_folder(folder_of(target_));
  }
  descriptor_ = Descriptor();
}

void OutputFile::discard() {
  if (!temporary_.empty()) platform::remove_file(temporary_);
  temporary_.clear();
  descriptor_ = Descriptor();
}

void OutputFile::fail() const {
  throw SystemError(path_, "cannot write", errno);
}

}  // namespace dlprim::io
