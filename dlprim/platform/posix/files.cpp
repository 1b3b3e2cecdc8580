#include "dlprim/platform/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace dlprim::platform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call

bool describe(int result, const struct stat& found, FileStatus& status) {
  if (result != 0) return false;
  status.kind = S_ISREG(found.st_mode)   ? FileStatus::Kind::regular
                : S_ISDIR(found.st_mode) ? FileStatus::Kind::folder
                                         : FileStatus::Kind::other;
  status.size = static_cast<std::uint64_t>(found.st_size);
  status.has_name = found.st_nlink > 0;
  status.mode = found.st_mode & 07777;
  status.owner = found.st_uid;
  status.group = found.st_gid;
  return true;
}

}  // namespace

bool status_of(const fs::path& path, FileStatus& status) {
  struct stat found{};
  return describe(::stat(path.c_str(), &found), found, status);
}

bool status_of(int file, FileStatus& status) {
  struct stat found{};
  return describe(::fstat(file, &found), found, status);
}

bool is_writable(const fs::path& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

int open_for_reading(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int open_for_writing(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

int open_for_locking(const fs::path& path) {
  return ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int create_file(const fs::path& path, bool is_private) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666);
}

void close_file(int file) {
  ::close(file);
}

std::ptrdiff_t read_at(int file, void* destination, std::size_t count, std::uint64_t position) {
  for (;;) {
    const ssize_t got =
        ::pread(file, destination, std::min(count, largest_transfer), static_cast<off_t>(position));
    if (got >= 0 || errno != EINTR) return got;
  }
}

std::ptrdiff_t write_file(int file, const void* bytes, std::size_t count) {
  for (;;) {
    const ssize_t wrote = ::write(file, bytes, std::min(count, largest_transfer));
    if (wrote > 0 || (wrote < 0 && errno != EINTR)) return wrote;
  }
}

bool flush_to_disk(int file) {
  return ::fsync(file) == 0 || errno == EINVAL;
}

void take_over_rights(int file, const FileStatus& of) {
  const bool keeps_owner = ::fchown(file, of.owner, of.group) == 0;
  ::fchmod(file, of.mode & (keeps_owner ? 07777 : 0777));
}

bool rename_over(const fs::path& from, const fs::path& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

bool remove_file(const fs::path& path) {
  return ::unlink(path.c_str()) == 0;
}

void flush_folder(const fs::path& folder) {
  const int file = open_lock_of_folder(folder);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

bool make_private_folder(const fs::path& folder) {
  return ::mkdir(folder.c_str(), S_IRWXU) == 0;
}

bool try_lock(int file, Lock lock) {
  int result;
  do {
    result = ::flock(file, (lock == Lock::shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

void unlock(int file) {
  ::flock(file, LOCK_UN);
}

int open_lock_of_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace dlprim::platform
