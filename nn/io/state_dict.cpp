#include "nn/io/state_dict.h"

#include "autograd/creation.h"
#include "nn/io/safetensors.h"

namespace ocl {
namespace {

struct FormatName {
  DType dtype;
  const char* name;
};
constexpr FormatName format_names[] = {{DType::float32, "F32"}, {DType::float64, "F64"}, {DType::float16, "F16"},
                                       {DType::bfloat16, "BF16"}, {DType::int64, "I64"}, {DType::int32, "I32"},
                                       {DType::uint8, "U8"}, {DType::boolean, "BOOL"}};

const char* format_name(DType dtype) {
  for (const FormatName& row : format_names)
    if (row.dtype == dtype) return row.name;
  throw TypeError(dlprim::concat("save: dtype ", name(dtype), " has no name in safetensors"));
}

DType dtype_of(const std::filesystem::path& path, const std::string& name) {
  for (const FormatName& row : format_names)
    if (name == row.name) return row.dtype;
  throw FileError(dlprim::concat(path.string(), ": tensors of type ", name, " are not supported"));
}

}  // namespace

void save(const StateDict& state, const std::filesystem::path& path, const Metadata& metadata) {
  std::vector<io::SafetensorsEntry> entries;
  for (const auto& [name, tensor] : state) entries.push_back({name, format_name(tensor.dtype()), tensor.shape().vector(), 0, 0});
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
    state.emplace_back(entry.name, from_bytes(bytes.data(), entry.shape, dtype_of(path, entry.dtype), device));
  }
  return state;
}

Metadata load_metadata(const std::filesystem::path& path) { return io::SafetensorsFile(path).metadata(); }

}  // namespace ocl
