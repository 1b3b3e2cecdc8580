#include "arrays.h"

#include <algorithm>

#include "dlprim/export/program_sizes.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"

using dlprim::ProgramRunner;
using dlprim::ProgramTensor;
using dlprim::Tensor;

std::size_t index_of_input(const ProgramRunner& runner, const std::string& name) {
  runner.input(name);  // throws for an unknown name
  const std::vector<ProgramTensor>& inputs = runner.program().inputs;
  const auto has_name = [&](const ProgramTensor& each) { return each.name == name; };
  return static_cast<std::size_t>(std::find_if(inputs.begin(), inputs.end(), has_name) - inputs.begin());
}

void set_input(ProgramRunner& runner, const std::string& name, const NpyArray& array) {
  const Tensor input = runner.input(name);
  dlprim::Queue& queue = runner.device().queue();
  const Tensor ordered = Tensor::empty(runner.device(), input.shape, input.dtype);
  upload(queue, {array.bytes.data(), array.bytes.size()}, ordered);
  copy(queue, ordered, input);
}

NpyArray get_output(ProgramRunner& runner, const std::string& name) {
  const Tensor output = runner.output(name);
  dlprim::Queue& queue = runner.device().queue();
  const Tensor ordered = Tensor::empty(runner.device(), output.shape, output.dtype);
  copy(queue, output, ordered);
  NpyArray array{output.dtype, output.shape, {}};
  array.bytes.resize(static_cast<std::size_t>(output.numel()) * size_of(output.dtype));
  queue.read(ordered, array.bytes.data(), array.bytes.size());
  return array;
}

std::string described(const ProgramRunner& runner, const ProgramTensor& each) {
  return dlprim::concat(each.name, ": ", text_of_dynamic_geometry(each, runner.program().symbols));
}
