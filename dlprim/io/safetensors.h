#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dlprim/core/dtype.h"
#include "dlprim/io/file.h"

namespace dlprim::io {

/** One tensor of a safetensors file: row-major, little-endian. */
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // the format's own names: "F32", "F64", "F16", "BF16", "I64", "I32", "U8", "BOOL", ...
  std::vector<std::int64_t> shape;
  std::size_t begin = 0, end = 0;  // byte range in the data section
};

/** The dtype that the format names so. Throws ValueError for one that tensors do not have. */
DType dtype_of_safetensors(const std::string& name);

/**
 * A safetensors file open for reading; the header is checked in full before anything is believed.
 * https://huggingface.co/docs/safetensors: header length (8 bytes, little-endian), JSON header, data section.
 * A file that breaks the format throws FileError, which names it. Any thread may read.
 */
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  /** The tensors in the order of their data, which is the one in which they were written. */
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /** Copies the `entry.end - entry.begin` bytes of a tensor of this file to `destination`. */
  void read(const SafetensorsEntry& entry, void* destination) const;

 private:
  InputFile file_;
  std::size_t data_start_ = 0, data_bytes_ = 0;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

/**
 * Writes a safetensors file as a whole (OutputFile): write() once for each entry, in order, then finish().
 */
class SafetensorsWriter {
 public:
  /** The ranges of `entries` are computed here. A repeated name, unknown dtype or bad shape:
   * ValueError. */
  SafetensorsWriter(const std::filesystem::path& path, std::vector<SafetensorsEntry> entries,
                    const std::map<std::string, std::string>& metadata = {});

  /** The next entry's bytes: all of them, `count` says how many. */
  void write(const void* bytes, std::size_t count);
  void finish();

 private:
  std::vector<SafetensorsEntry> entries_;
  std::size_t written_entries_ = 0;
  OutputFile file_;
};

}  // namespace dlprim::io
