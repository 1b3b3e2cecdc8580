#pragma once

#include <filesystem>
#include <map>

#include "nn/module.h"

namespace ocl {

using Metadata = std::map<std::string, std::string>;

/** Writes tensors to a safetensors file, one at a time from the device. A crash leaves no half-written file.
 * Throws FileError. */
void save(const StateDict& state, const std::filesystem::path& path, const Metadata& metadata = {});

/** Reads a safetensors file to `device`, and to `metadata` the text that save() was given with the tensors.
 * Throws FileError when the file is missing or damaged or has what the device has not; every error names the
 * file. */
StateDict load(const std::filesystem::path& path, const Device& device = {}, Metadata* metadata = nullptr);
/** The text that save() was given with the tensors. */
Metadata load_metadata(const std::filesystem::path& path);

}  // namespace ocl
