#include <algorithm>
#include <iterator>
#include <set>

#include "dlprim/core/error.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"

namespace dlprim {

void remove_dead_calls(ExportedProgram& program) {
  std::set<const Storage*> needed;
  for (const ProgramTensor& output : program.outputs) needed.insert(output.tensor.storage.get());
  for (const ProgramBuffer& buffer : program.buffers)
    if (buffer.kind == ProgramBuffer::Kind::state) needed.insert(buffer.storage.get());

  std::vector<ProgramCall> live;
  for (auto call = program.calls.rbegin(); call != program.calls.rend(); ++call) {
    const Primitive* primitive = find_primitive(call->primitive);
    require(primitive, "there is no primitive named ", call->primitive);
    const Primitive::Tensors tensors = primitive->tensors(call->arguments);
    const auto is_needed = [&](const Tensor& tensor) { return needed.count(tensor.storage.get()) != 0; };
    if (std::none_of(tensors.written.begin(), tensors.written.end(), is_needed) &&
        std::none_of(tensors.updated.begin(), tensors.updated.end(), is_needed))
      continue;
    for (const std::vector<Tensor>* inputs : {&tensors.read, &tensors.updated})
      for (const Tensor& tensor : *inputs) needed.insert(tensor.storage.get());
    live.push_back(std::move(*call));
  }
  program.calls.assign(std::make_move_iterator(live.rbegin()), std::make_move_iterator(live.rend()));

  std::set<const Storage*> used;
  for (ProgramCall& call : program.calls)
    for_each_tensor(call.arguments, [&](const Tensor& tensor) { used.insert(tensor.storage.get()); });
  for (const std::vector<ProgramTensor>* list : {&program.inputs, &program.outputs})
    for (const ProgramTensor& each : *list) used.insert(each.tensor.storage.get());
  const auto is_unused = [&](const ProgramBuffer& buffer) { return used.count(buffer.storage.get()) == 0; };
  program.buffers.erase(std::remove_if(program.buffers.begin(), program.buffers.end(), is_unused),
                        program.buffers.end());
}

}  // namespace dlprim
