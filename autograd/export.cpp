#include "autograd/export.h"

#include "autograd/tensor/generator.h"
#include "dlprim/core/error.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/program_capture.h"

namespace ocl {
namespace {

std::vector<dlprim::ProgramTensor> raw(const NamedTensors& tensors) {
  std::vector<dlprim::ProgramTensor> result;
  for (const auto& [name, tensor] : tensors)
    if (tensor.defined()) result.push_back({name, tensor.data()});
  return result;
}

ExportedProgram capture(const std::function<NamedTensors()>& work, const NamedTensors& inputs,
                        const NamedTensors& named) {
  dlprim::ProgramCapture capture(raw(inputs));
  try {
    ExportedProgram program = capture.finish(raw(work()), raw(named));
    capture.restore_states();
    return program;
  } catch (...) {
    capture.restore_states();
    throw;
  }
}

}  // namespace

ExportedProgram export_program(const std::function<NamedTensors()>& work, const NamedTensors& inputs,
                               const NamedTensors& named) {
  Generator& generator = default_generator(inputs.empty() ? Device() : inputs.front().second.device());
  const dlprim::PhiloxState state = generator.state();
  ExportedProgram program, again;
  try {
    program = capture(work, inputs, named);
    again = capture(work, inputs, named);
  } catch (...) {
    generator.set_state(state);
    throw;
  }
  generator.set_state(state);
  const std::string changed = changed_numbers(program, again, program.random_advance);
  dlprim::require<Error>(changed.empty(), "export: the work differs from one call to the next: ", changed);
  simplify_program(program);
  return program;
}

}  // namespace ocl
