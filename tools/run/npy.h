#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"
#include "dlprim/io/file.h"

/** An array of a file of NumPy's format
 * (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): elements in row-major order. */
struct NpyArray {
  dlprim::DType dtype;
  dlprim::Dims shape;
  std::vector<char> bytes;
};

/** Throws dlprim::FileError, which names the file, for one that is damaged, is in column-major order or has a
 * dtype that tensors do not have. */
NpyArray read_npy(const std::filesystem::path& path);

/** Writes the whole file. bfloat16, which NumPy does not have, is written as float32. Throws
 * dlprim::FileError. */
void write_npy(dlprim::io::OutputFile& file, const NpyArray& array);
