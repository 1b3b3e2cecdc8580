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
/** Files of one tensor, several or one module, as torch::save and torch::load write and read them. A tensor
 * goes to `device`, a module keeps its own. Throw FileError, and ValueError where the file holds something
 * else. */
void save(const Tensor& tensor, const std::filesystem::path& path);
void load(Tensor& tensor, const std::filesystem::path& path, const Device& device = {});
void save(const TensorList& tensors, const std::filesystem::path& path);
void load(TensorList& tensors, const std::filesystem::path& path, const Device& device = {});
void save(const nn::Module& module, const std::filesystem::path& path);
void load(nn::Module& module, const std::filesystem::path& path);
template <class M, class = std::enable_if_t<std::is_base_of_v<nn::Module, M>>>
void save(const std::shared_ptr<M>& module, const std::filesystem::path& path) {
  save(*module, path);
}
template <class M, class = std::enable_if_t<std::is_base_of_v<nn::Module, M>>>
void load(const std::shared_ptr<M>& module, const std::filesystem::path& path) {
  load(*module, path);
}
template <class M>
void save(const nn::Child<M>& module, const std::filesystem::path& path) {
  save(module.ptr(), path);
}
template <class M>
void load(const nn::Child<M>& module, const std::filesystem::path& path) {
  load(module.ptr(), path);
}

/** The text that save() was given with the tensors. */
Metadata load_metadata(const std::filesystem::path& path);

}  // namespace ocl
