#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

/**
 * Files as the operating system has them. Folders posix and windows have one implementation each. Functions
 * that can fail return false or -1 and set errno. Open files have the numbers of the C library, and are not
 * inherited by processes that this one starts.
 */
namespace dlprim::platform {

struct FileStatus {
  enum class Kind { regular, folder, other };
  Kind kind = Kind::other;
  std::uint64_t size = 0;
  bool has_name = true;                          ///< false for an open file that is removed already
  std::uint32_t mode = 0, owner = 0, group = 0;  ///< POSIX's; 0 on Windows
};

/** Symbolic links are followed. */
bool status_of(const std::filesystem::path& path, FileStatus& status);
bool status_of(int file, FileStatus& status);
/** Whether this user may write to what is there. */
bool is_writable(const std::filesystem::path& path);

/** Does not wait for the writer of a pipe. */
int open_for_reading(const std::filesystem::path& path);
/** Does not wait for the reader of a pipe: there must be one. Writing waits. */
int open_for_writing(const std::filesystem::path& path);
/** For the lock on it; no symbolic link is followed. */
int open_for_locking(const std::filesystem::path& path);
/** A new file, for writing; `is_private`: this user's alone, else as the process makes files. */
int create_file(const std::filesystem::path& path, bool is_private);
void close_file(int file);

/** The bytes that were read from `position` on, at least one where the file has not ended there. Any thread
 * may call it. */
std::ptrdiff_t read_at(int file, void* destination, std::size_t count, std::uint64_t position);
/** The bytes that were written, at least one. */
std::ptrdiff_t write_file(int file, const void* bytes, std::size_t count);
/** Waits until the file is on the disk. True where it cannot be on one. */
bool flush_to_disk(int file);
/** Owner, where this user may give files away, and mode of another file. Windows: a file has its folder's. */
void take_over_rights(int file, const FileStatus& of);

/** One step: whoever opens `to` finds the old file or the new one. `from` may be open, and so may `to`, but
 * on Windows before 10 and under Wine, which refuse that. */
bool rename_over(const std::filesystem::path& from, const std::filesystem::path& to);
/** Open files stay readable. */
bool remove_file(const std::filesystem::path& path);
/** Makes a rename in the folder survive a power cut, as far as the file system can. */
void flush_folder(const std::filesystem::path& folder);
/** A new folder for this user alone. */
bool make_private_folder(const std::filesystem::path& folder);

enum class Lock { shared, exclusive };

/** Takes a lock that ends with the open file, or changes the one held, in which case others may have had it
 * in between. Where another file has it: false, and errno is EWOULDBLOCK. */
bool try_lock(int file, Lock lock);
void unlock(int file);
/** try_lock takes this for the folder. Windows locks files alone, so there it is a file in the folder. */
int open_lock_of_folder(const std::filesystem::path& folder);

}  // namespace dlprim::platform
