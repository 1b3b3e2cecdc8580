#include "dlprim/export/passes/call_parts.h"

#include <algorithm>

#include "dlprim/export/primitive_table.h"
#include "dlprim/ops/pointwise/table.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {

ArgumentContext own_arguments() {
  return {[](const Tensor& tensor) { return tensor; }, [](PhiloxState state) { return state; }};
}

const ArgumentValue* argument_of(const ProgramCall& call, const char* name) {
  for (const Argument& argument : call.arguments)
    if (argument.name == name) return &argument.value;
  return nullptr;
}

const Tensor& tensor_of(const ProgramCall& call, const char* name) {
  static const Tensor none;
  const auto* tensor = std::get_if<Tensor>(argument_of(call, name));
  return tensor ? *tensor : none;
}

void set_tensor(ProgramCall& call, const char* name, const Tensor& tensor) {
  for (Argument& argument : call.arguments)
    if (argument.name == name) argument.value = tensor;
}

Tensor new_temporary(ExportedProgram& program, Device& device, const Dims& shape, DType dtype) {
  ProgramBuffer buffer;
  buffer.bytes = static_cast<std::size_t>(product(shape)) * size_of(dtype);
  buffer.storage = std::make_shared<Storage>(device, buffer.bytes);
  const Tensor made{buffer.storage, dtype, shape, contiguous_strides(shape), 0};
  program.buffers.push_back(std::move(buffer));
  return made;
}

ProgramCall pointwise_call(const PointwiseOp& op, const std::vector<Tensor>& inputs, const Tensor& result) {
  std::vector<Argument> parameters, tensors;
  for (const PointwiseParameter& parameter : op.parameters)
    parameters.push_back({"", parameter.default_value});
  DType compute = inputs.front().dtype;
  for (const Tensor& input : inputs) {
    tensors.push_back({"", input});
    compute = promote_types(compute, input.dtype);
  }
  return {"pointwise",
          {{"expression", full_name(forward_expression(op))},
           {"compute", std::string(name(compute))},
           {"inputs", tensors},
           {"parameters", parameters},
           {"outputs", std::vector<Argument>{{"", result}}}},
          op.name,
          {}};
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
