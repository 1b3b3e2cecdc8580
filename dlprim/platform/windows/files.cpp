#include "dlprim/platform/files.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace dlprim::platform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // Windows counts bytes in 32 bits

/** Locks keep others from the bytes that they cover, so they cover one that no file has. */
constexpr DWORD lock_position = 0x7fffffff;

constexpr const wchar_t* name_of_lock = L"lock";

bool fail() {
  errno = std::system_category().default_error_condition(static_cast<int>(GetLastError())).value();
  return false;
}

HANDLE handle_of(int file) {
  return reinterpret_cast<HANDLE>(_get_osfhandle(file));
}

/** Others may do anything with the file meanwhile, as on other systems. */
int open(const fs::path& path, DWORD access, DWORD creation, int flags) {
  constexpr DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  HANDLE handle = CreateFileW(path.c_str(), access, share, nullptr, creation, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    fail();
    return -1;
  }
  const int file = _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), flags | _O_BINARY | _O_NOINHERIT);
  if (file < 0) CloseHandle(handle);
  return file;
}

/** Windows 10's rename, which takes the place of files that are open too. */
bool rename_open(HANDLE file, const fs::path& to) {
  std::error_code error;
  const fs::path target = fs::absolute(to, error);
  if (error) return false;
  struct Target {
    FILE_RENAME_INFO info;
    wchar_t rest[32768];  // the longest path of Windows
  };
  const std::size_t bytes = target.native().size() * sizeof(wchar_t);
  if (bytes > sizeof(Target::rest)) return false;
  const auto named = std::make_unique<Target>();
  constexpr auto file_rename_info_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  constexpr DWORD replace = 1,
                  posix_semantics = 2;  // FILE_RENAME_FLAG_*, where headers of Windows 10 have them
  named->info.Flags = replace | posix_semantics;
  named->info.FileNameLength = static_cast<DWORD>(bytes);
  std::memcpy(named->info.FileName, target.c_str(), bytes);
  return SetFileInformationByHandle(file, file_rename_info_ex, named.get(), sizeof(Target)) != 0;
}

bool describe(int result, const struct _stat64& found, FileStatus& status) {
  if (result != 0) return false;
  status.kind = (found.st_mode & _S_IFMT) == _S_IFREG   ? FileStatus::Kind::regular
                : (found.st_mode & _S_IFMT) == _S_IFDIR ? FileStatus::Kind::folder
                                                        : FileStatus::Kind::other;
  status.size = static_cast<std::uint64_t>(found.st_size);
  return true;
}

}  // namespace

bool status_of(const fs::path& path, FileStatus& status) {
  struct _stat64 found{};
  return describe(_wstat64(path.c_str(), &found), found, status);
}

bool status_of(int file, FileStatus& status) {
  struct _stat64 found{};
  if (!describe(_fstat64(file, &found), found, status)) return false;
  FILE_STANDARD_INFO info{};
  if (GetFileInformationByHandleEx(handle_of(file), FileStandardInfo, &info, sizeof info))
    status.has_name = !info.DeletePending;
  return true;
}

bool is_writable(const fs::path& path) {
  return _waccess(path.c_str(), 2) == 0;
}

int open_for_reading(const fs::path& path) {
  return open(path, GENERIC_READ, OPEN_EXISTING, _O_RDONLY);
}

int open_for_writing(const fs::path& path) {
  return open(path, GENERIC_WRITE, OPEN_EXISTING, _O_WRONLY);
}

int open_for_locking(const fs::path& path) {
  return open(path, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, _O_RDWR);
}

// Files have the rights of their folder.
int create_file(const fs::path& path, bool) {
  return open(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, _O_RDWR);
}

void close_file(int file) {
  _close(file);
}

std::ptrdiff_t read_at(int file, void* destination, std::size_t count, std::uint64_t position) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(position);
  place.OffsetHigh = static_cast<DWORD>(position >> 32);
  DWORD got = 0;
  const auto most = static_cast<DWORD>(std::min(count, largest_transfer));
  if (ReadFile(handle_of(file), destination, most, &got, &place) || GetLastError() == ERROR_HANDLE_EOF)
    return static_cast<std::ptrdiff_t>(got);
  fail();
  return -1;
}

std::ptrdiff_t write_file(int file, const void* bytes, std::size_t count) {
  return _write(file, bytes, static_cast<unsigned>(std::min(count, largest_transfer)));
}

bool flush_to_disk(int file) {
  return FlushFileBuffers(handle_of(file)) || GetLastError() == ERROR_INVALID_FUNCTION || fail();
}

void take_over_rights(int, const FileStatus&) {}

bool rename_over(const fs::path& from, const fs::path& to) {
  const int file = open(from, DELETE | SYNCHRONIZE, OPEN_EXISTING, _O_RDONLY);
  const bool is_done = file >= 0 && rename_open(handle_of(file), to);
  if (file >= 0) _close(file);
  return is_done ||
         MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) || fail();
}

bool remove_file(const fs::path& path) {
  return DeleteFileW(path.c_str()) || fail();
}

// MOVEFILE_WRITE_THROUGH has done it.
void flush_folder(const fs::path&) {}

// A folder below the user's own is the user's alone.
bool make_private_folder(const fs::path& folder) {
  return CreateDirectoryW(folder.c_str(), nullptr) || fail();
}

bool try_lock(int file, Lock lock) {
  unlock(file);  // Windows would have the process wait for its own lock
  OVERLAPPED place{};
  place.OffsetHigh = lock_position;
  const DWORD exclusive = lock == Lock::exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0;
  if (LockFileEx(handle_of(file), exclusive | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place)) return true;
  const DWORD error = GetLastError();
  if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) return fail();
  errno = EWOULDBLOCK;
  return false;
}

void unlock(int file) {
  OVERLAPPED place{};
  place.OffsetHigh = lock_position;
  UnlockFileEx(handle_of(file), 0, 1, 0, &place);
}

int open_lock_of_folder(const fs::path& folder) {
  return open(folder / name_of_lock, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, _O_RDWR);
}

}  // namespace dlprim::platform
