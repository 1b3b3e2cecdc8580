#include "nn/io/state_dict.h"

#include <memory>
#include <new>

#include "autograd/tensor/creation.h"
#include "dlprim/io/safetensors.h"

namespace ocl {
namespace {

Tensor read(const dlprim::io::SafetensorsFile& file, const dlprim::io::SafetensorsEntry& entry,
            const Device& device) {
  const DType dtype = dlprim::io::dtype_of_safetensors(entry.dtype);
  // Not zeroed: a false file promises more bytes than there is memory.
  const std::unique_ptr<char[]> bytes(new char[entry.end - entry.begin]);
  file.read(entry, bytes.get());
  return from_bytes(bytes.get(), entry.shape, dtype, device);
}

}  // namespace

void save(const StateDict& state, const std::filesystem::path& path, const Metadata& metadata) {
  std::vector<dlprim::io::SafetensorsEntry> entries;
  for (const auto& [name, tensor] : state)
    entries.push_back({name, info(tensor.dtype()).safetensors_name, tensor.shape().vector(), 0, 0});
  dlprim::io::SafetensorsWriter writer(path, std::move(entries), metadata);
  for (const auto& [name, tensor] : state) {
    const std::vector<char> bytes = tensor.to_bytes();
    writer.write(bytes.data(), bytes.size());
  }
  writer.finish();
}

StateDict load(const std::filesystem::path& path, const Device& device, Metadata* metadata) {
  const dlprim::io::SafetensorsFile file(path);
  StateDict state;
  for (const dlprim::io::SafetensorsEntry& entry : file.entries()) {
    const auto message = [&](const char* what) {
      return dlprim::concat(path.string(), ": tensor \"", entry.name, "\": ", what);
    };
    try {
      state.emplace_back(entry.name, read(file, entry, device));
    } catch (const OutOfMemoryError& error) {
      throw OutOfMemoryError(message(error.what()), error.requested_bytes);
    } catch (const DeviceError& error) {
      throw DeviceError(message(error.what()));
    } catch (const ValueError& error) {
      throw FileError(message(error.what()));
    } catch (const TypeError& error) {
      throw FileError(message(error.what()));
    } catch (const std::bad_alloc&) {
      throw FileError(message("there is no memory for its bytes"));
    }
  }
  if (metadata) *metadata = file.metadata();
  return state;
}

void save(const Tensor& tensor, const std::filesystem::path& path) {
  dlprim::require(tensor.defined(), "save: the tensor is undefined");
  save(TensorList{tensor}, path);
}

void load(Tensor& tensor, const std::filesystem::path& path, const Device& device) {
  TensorList tensors;
  load(tensors, path, device);
  dlprim::require(tensors.size() == 1, path.string(), ": expected one tensor, got ", tensors.size());
  tensor = tensors[0];
}

void save(const TensorList& tensors, const std::filesystem::path& path) {
  StateDict state;
  for (const Tensor& tensor : tensors) {
    dlprim::require(tensor.defined(), "save: tensor ", state.size(), " is undefined");
    state.emplace_back(std::to_string(state.size()), tensor);
  }
  save(state, path);
}

void load(TensorList& tensors, const std::filesystem::path& path, const Device& device) {
  const StateDict state = load(path, device);
  TensorList read;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const std::string name = std::to_string(i);
    dlprim::require(state.contains(name), path.string(), ": holds no list of tensors: tensor \"", name,
                    "\" is missing");
    read.push_back(state[name]);
  }
  tensors = std::move(read);
}

void save(const nn::Module& module, const std::filesystem::path& path) {
  save(module.state_dict(), path);
}

void load(nn::Module& module, const std::filesystem::path& path) {
  module.load_state_dict(load(path));
}

Metadata load_metadata(const std::filesystem::path& path) {
  return dlprim::io::SafetensorsFile(path).metadata();
}

}  // namespace ocl
