#include "dlprim/io/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace dlprim::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call
constexpr int most_links = 40;                                  // as the kernel's own limit
constexpr std::size_t longest_name = 255;
constexpr std::size_t random_digits = 16;
const std::string temporary_suffix = ".tmp";

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
std::string temporary_prefix(const fs::path& path) {
  const std::size_t rest = 1 + random_digits + temporary_suffix.size();
  return path.filename().string().substr(0, longest_name - rest) + '.';
}

fs::path random_temporary(const fs::path& path) {
  constexpr char digits[] = "0123456789abcdef";
  std::random_device random;
  std::string name = temporary_prefix(path);
  for (std::size_t i = 0; i < random_digits; ++i) name += digits[random() % 16];
  return path.parent_path() / (name + temporary_suffix);
}

bool is_temporary_of(const std::string& name, const std::string& prefix) {
  if (name.size() != prefix.size() + random_digits + temporary_suffix.size()) return false;
  const auto digits = name.begin() + static_cast<std::ptrdiff_t>(prefix.size());
  const auto suffix = name.end() - static_cast<std::ptrdiff_t>(temporary_suffix.size());
  return name.compare(0, prefix.size(), prefix) == 0 &&
         std::equal(suffix, name.end(), temporary_suffix.begin()) &&
         std::all_of(digits, suffix, [](char c) { return std::strchr("0123456789abcdef", c) != nullptr; });
}

/** A writer holds a lock on its temporary file: one that nobody holds was left by a process that died. */
bool is_left_behind(const fs::path& temporary) {
  const Descriptor file(::open(temporary.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  return file.is_open() && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

void remove_left_behind(const fs::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code ignored;
  for (fs::directory_iterator entry(folder_of(path), ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (is_temporary_of(entry->path().filename().string(), prefix) && is_left_behind(entry->path()))
      ::unlink(entry->path().c_str());
}

/** Locks a file just made. False where somebody else took it for one left behind in the meantime. */
bool lock(const Descriptor& file) {
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status{};
  return ::fstat(file.number(), &status) != 0 || status.st_nlink > 0;
}

/** Makes the rename itself survive a power cut, as far as the file system can. */
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) ::fsync(descriptor.number());
}

void require_regular(const fs::path& path, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) throw SystemError(path, "cannot read", EISDIR);
  require<FileError>(S_ISREG(status.st_mode), path.string(),
                     ": is a pipe or a device; only regular files are read");
}

}  // namespace

SystemError::SystemError(const fs::path& file, const std::string& doing, int error)
    : FileError(concat(file.string(), ": ", doing, ": ", std::strerror(error))),
      path(file),
      reason(concat(doing, ": ", std::strerror(error))),
      number(error) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (is_open()) ::close(number_);
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

InputFile::InputFile(const fs::path& path) : path_(path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) throw SystemError(path, "cannot open", errno);
  require_regular(path, status);
  // Should a pipe have taken its place, opening it must not wait.
  descriptor_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor_.is_open() || ::fstat(descriptor_.number(), &status) != 0)
    throw SystemError(path, "cannot open", errno);
  require_regular(path, status);
  size_ = static_cast<std::size_t>(status.st_size);
}

std::size_t InputFile::read(std::size_t position, void* destination, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(descriptor_.number(), static_cast<char*>(destination) + done,
                std::min(count - done, largest_transfer), static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError(path_, "cannot read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

OutputFile::OutputFile(const fs::path& path) : path_(path), target_(with_links_followed(path)) {
  struct stat old{};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) fail();
  if (replaces && S_ISDIR(old.st_mode)) throw SystemError(path, "cannot write", EISDIR);
  if (replaces && !S_ISREG(old.st_mode)) {
    open_directly();
    return;
  }
  if (replaces && ::access(target_.c_str(), W_OK) != 0) fail();
  remove_left_behind(target_);
  // Nobody may open what takes over a private file's place before it is private too.
  open_temporary(replaces ? 0600 : 0666);
  if (!replaces) return;
  // Only root may give files away; an owner that cannot be kept is no reason not to save.
  const bool keeps_owner = ::fchown(descriptor_.number(), old.st_uid, old.st_gid) == 0;
  ::fchmod(descriptor_.number(), old.st_mode & (keeps_owner ? 07777 : 0777));
}

void OutputFile::open_directly() {
  // Without waiting for the reader of a pipe: there must be one.
  descriptor_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor_.is_open()) fail();
  const int flags = ::fcntl(descriptor_.number(), F_GETFL);
  ::fcntl(descriptor_.number(), F_SETFL, flags & ~O_NONBLOCK);
}

void OutputFile::open_temporary(unsigned mode) {
  do {
    temporary_ = random_temporary(target_);
    descriptor_ = Descriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
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
    const ssize_t wrote = ::write(descriptor_.number(), static_cast<const char*>(bytes) + done,
                                  std::min(count - done, largest_transfer));
    if (wrote < 0 && errno != EINTR) fail();
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
}

void OutputFile::finish() {
  if (!temporary_.empty()) {
    const bool is_on_disk = ::fsync(descriptor_.number()) == 0 || errno == EINVAL;
    if (!is_on_disk || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
      const SystemError error(path_, "cannot write", errno);
      discard();
      throw error;
    }
    temporary_.clear();
    sync_folder(folder_of(target_));
  }
  descriptor_ = Descriptor();
}

void OutputFile::discard() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  descriptor_ = Descriptor();
}

void OutputFile::fail() const {
  throw SystemError(path_, "cannot write", errno);
}

}  // namespace dlprim::io
