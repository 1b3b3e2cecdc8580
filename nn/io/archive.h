#pragma once

#include "nn/io/state_dict.h"

/** libtorch's archives: tensors by name, which are one safetensors file. */
namespace ocl::serialize {

/** It is written: `module->save(archive); archive.save_to("net.safetensors")`. */
class OutputArchive {
 public:
  /** Shares the tensor, which is read when the file is written. Throws ValueError for an undefined tensor or
   * a key that is taken. */
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  /** All of another archive, as "key.name". */
  void write(const std::string& key, const OutputArchive& archive);
  /** Throws FileError. */
  void save_to(const std::filesystem::path& path) const { save(state_, path); }

 private:
  StateDict state_;
};

/** It is read: `archive.load_from("net.safetensors"); module->load(archive)`. */
class InputArchive {
 public:
  /** Throws FileError. */
  void load_from(const std::filesystem::path& path, const Device& device = {}) {
    state_ = ocl::load(path, device);
  }
  /** Writes into the tensor, a parameter say, or sets an undefined one. Throws ValueError where nothing is
   * under the key, or something of another shape. */
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  /** Whether something is there. */
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  /** Reads what begins with "key.", without that beginning. Throws ValueError where nothing does. */
  void read(const std::string& key, InputArchive& archive) const;
  std::vector<std::string> keys() const;
  const StateDict& state() const { return state_; }

 private:
  StateDict state_;
};

}  // namespace ocl::serialize
