#include "nn/io/state_dict.h"

#include "autograd/creation.h"
#include "nn/io/safetensors.h"

namespace ocl {
namespace {

DType dtype_of(const std::filesystem::path& path, const std::string& safetensors_name) {
  for (int i = 0; i < dlprim::dtype_count; ++i)
    if (safetensors_name == info(static_cast<DType>(i)).safetensors_name) return static_cast<DType>(i);
  throw FileError(
      dlprim::concat(path.string(), ": tensors of type ", safetensors_name, " are not supported"));
}

}  // namespace

void save(const StateDict& state, const std::filesystem::path& path, const Metadata& metadata) {
  std::vector<io::SafetensorsEntry> entries;
  for (const auto& [name, tensor] : state)
    entries.push_back({name, info(tensor.dtype()).safetensors_name, tensor.shape().vector(), 0, 0});
  io::SafetensorsWriter writer(path, std::move(entries), metadata);
  for (const auto& [name, tensor] : state) {
    const std::vector<char> bytes = tensor.to_bytes();
    writer.write(bytes.data(), bytes.size());
  }
  writer.finish();
}

StateDict load(const std::filesystem::path& path, const Device& device) {
  const io::SafetensorsFile file(path);
  StateDict state;
  for (const io::SafetensorsEntry& entry : file.entries()) {
    std::vector<char> bytes(entry.end - entry.begin);
    file.read(entry, bytes.data());
    state.emplace_back(entry.name,
                       from_bytes(bytes.data(), entry.shape, dtype_of(path, entry.dtype), device));
  }
  return state;
}

Metadata load_metadata(const std::filesystem::path& path) {
  return io::SafetensorsFile(path).metadata();
}

}  // namespace ocl
