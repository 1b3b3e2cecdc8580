#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "dlprim/core/error.h"

/** Files of the operating system, as the formats of this folder and of nn/data read and write them. */
namespace dlprim::io {

/** An error of the operating system. Python: the child of OSError that its number stands for. */
class SystemError : public FileError {
 public:
  SystemError(const std::filesystem::path& path, const std::string& doing, int number);
  const std::filesystem::path path;
  const std::string reason;  // "cannot write: No space left on device"
  const int number;          // errno
};

/** An open file, closed at the end. */
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /** Gives the number to the caller, who closes it. */
  int release();

 private:
  int number_;
};

/**
 * A regular file open for reading; any thread may read. A folder, a pipe or a device, which is no regular
 * file, is refused without waiting for it. Throws FileError, which names the file.
 */
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }
  /** Its size when it was opened. */
  std::size_t size() const { return size_; }
  /** Copies up to `count` bytes from `position` on; fewer only where the file ends. */
  std::size_t read(std::size_t position, void* destination, std::size_t count) const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::size_t size_ = 0;
};

/**
 * A file that is written as a whole: the bytes go to a temporary file beside it, which takes its name in
 * finish(), once it is on the disk. A crash never leaves half a file, and without finish() nothing changes.
 * It keeps the mode and the owner of the file that it replaces, and a symbolic link stays one to the file
 * replaced. Temporary files that killed processes left are removed. A pipe or a device is written directly.
 * Throws FileError, which names the file.
 */
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const void* bytes, std::size_t count);
  void finish();
  bool is_finished() const { return !descriptor_.is_open(); }

 private:
  void open_directly();
  void open_temporary(bool is_private);
  void discard();
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path target_;     // path_ with its links followed
  std::filesystem::path temporary_;  // empty: written directly, or in its place
  Descriptor descriptor_;
};

}  // namespace dlprim::io
