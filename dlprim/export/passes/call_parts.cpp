#include "dlprim/export/passes/call_parts.h"

#include <algorithm>

#include "dlprim/export/primitive_table.h"

namespace dlprim {

const Tensor& tensor_of(const ProgramCall& call, const char* name) {
  static const Tensor none;
  for (const Argument& argument : call.arguments)
    if (argument.name == name)
      if (const auto* tensor = std::get_if<Tensor>(&argument.value)) return *tensor;
  return none;
}

void set_tensor(ProgramCall& call, const char* name, const Tensor& tensor) {
  for (Argument& argument : call.arguments)
    if (argument.name == name) argument.value = tensor;
}

bool may_wait(const std::vector<ProgramCall>& calls, std::size_t i) {
  const std::vector<Tensor> read = find_primitive(calls[i].primitive)->tensors(calls[i].arguments).read;
  const auto writes = [&](const std::vector<Tensor>& written) {
    return std::any_of(written.begin(), written.end(), [&](const Tensor& tensor) {
      return std::any_of(read.begin(), read.end(),
                         [&](const Tensor& one) { return one.storage == tensor.storage; });
    });
  };
  return std::none_of(calls.data() + i + 1, calls.data() + calls.size(), [&](const ProgramCall& later) {
    const Primitive::Tensors tensors = find_primitive(later.primitive)->tensors(later.arguments);
    return writes(tensors.written) || writes(tensors.updated);
  });
}

}  // namespace dlprim
