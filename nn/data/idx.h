#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ocl::data {

/** The unsigned bytes of an IDX file, row-major: values.size() is the product of `shape`. */
struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values;
};

/**
 * Reads an IDX file, the format of MNIST and its relatives: unsigned bytes in 1 to 4 dimensions.
 * Plain and gzip files are told apart by their content, not by their name. A gzip file may unpack to 10^9
 * bytes. Throws dlprim::FileError, which names the file and what is wrong with it.
 */
IdxArray read_idx(const std::filesystem::path& path);
/** The shape alone, as its header has it: what a caller can refuse before the file is unpacked. */
std::vector<std::int64_t> read_idx_shape(const std::filesystem::path& path);

}  // namespace ocl::data
