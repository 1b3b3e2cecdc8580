#include <algorithm>
#include <map>
#include <set>

#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

bool draws_numbers(const std::vector<Argument>& arguments) {
  if (is_random_state(arguments)) return true;
  return std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    const auto* list = std::get_if<std::vector<Argument>>(&argument.value);
    return list && draws_numbers(*list);
  });
}

/** Finds what is constant in a program, and makes it so. */
class ConstantFolding {
 public:
  explicit ConstantFolding(ExportedProgram& program) : program_(program) {
    for (ProgramBuffer& buffer : program.buffers) buffers_.emplace(buffer.storage.get(), &buffer);
    for (const ProgramTensor& output : program.outputs) ++writers_[output.tensor.storage.get()];
    for (const ProgramCall& call : program.calls) {
      const Primitive::Tensors tensors = find_primitive(call.primitive)->tensors(call.arguments);
      for (const std::vector<Tensor>* list : {&tensors.written, &tensors.updated})
        for (const Tensor& tensor : *list) ++writers_[tensor.storage.get()];
    }
  }

  void run() {
    std::vector<ProgramCall> others;
    for (ProgramCall& call : program_.calls) {
      const Primitive::Tensors tensors = find_primitive(call.primitive)->tensors(call.arguments);
      (is_constant(call, tensors) ? take(tensors) : others).push_back(std::move(call));
    }
    program_.calls = std::move(others);
    if (!results_.empty()) compute();
  }

 private:
  const ProgramBuffer& buffer_of(const Tensor& tensor) const { return *buffers_.at(tensor.storage.get()); }

  bool is_constant(const ProgramCall& call, const Primitive::Tensors& tensors) const {
    if (!call.varying.empty()) return false;  // it depends on the sizes of a dynamic program
    if (tensors.read.empty() || !tensors.updated.empty() || draws_numbers(call.arguments)) return false;
    std::size_t read = 0, written = 0;
    for (const Tensor& tensor : tensors.read) {
      if (buffer_of(tensor).kind != ProgramBuffer::Kind::constant && !results_.count(tensor.storage.get()))
        return false;
      read += buffer_of(tensor).bytes;
    }
    for (const Tensor& tensor : tensors.written) {
      // A result, or memory that another call writes too, is none.
      if (buffer_of(tensor).kind != ProgramBuffer::Kind::temporary || writers_.at(tensor.storage.get()) > 1)
        return false;
      written += buffer_of(tensor).bytes;
    }
    // A result that is larger by more than a wider dtype is better made anew in each run.
    return written <= 4 * read;
  }

  std::vector<ProgramCall>& take(const Primitive::Tensors& tensors) {
    for (const Tensor& tensor : tensors.written) results_.emplace(tensor.storage.get(), tensor);
    return calls_;
  }

  /** Runs the constant calls, and turns their results into constants. */
  void compute() {
    ExportedProgram constant;
    std::set<const Storage*> used;
    for (ProgramCall& call : calls_)
      for_each_tensor(call.arguments, [&](const Tensor& tensor) { used.insert(tensor.storage.get()); });
    for (const ProgramBuffer& buffer : program_.buffers)
      if (used.count(buffer.storage.get())) constant.buffers.push_back(buffer);
    constant.calls = std::move(calls_);
    std::vector<ProgramBuffer*> folded;
    for (ProgramBuffer& buffer : program_.buffers) {
      if (!results_.count(buffer.storage.get())) continue;
      const auto bytes = static_cast<std::int64_t>(buffer.bytes);
      constant.outputs.push_back(
          {concat("result_", folded.size()), {buffer.storage, DType::uint8, {bytes}, {1}, 0}});
      folded.push_back(&buffer);
    }

    Device& device = folded.front()->storage->device();
    ProgramRunner runner(std::move(constant), device);
    runner.run();
    for (std::size_t i = 0; i < folded.size(); ++i) {
      ProgramBuffer& buffer = *folded[i];
      std::vector<char> contents(buffer.bytes);
      if (buffer.bytes > 0) device.queue().read(runner.output(i), contents.data(), buffer.bytes);
      buffer.contents = std::make_shared<const std::vector<char>>(std::move(contents));
      const Tensor& result = results_.at(buffer.storage.get());
      const bool is_whole =
          result.is_contiguous() && result.offset == 0 && bytes_reached(result) == buffer.bytes;
      buffer.kind = ProgramBuffer::Kind::constant;
      buffer.dtype = is_whole ? result.dtype : DType::uint8;
      buffer.shape = is_whole ? result.shape : Dims{static_cast<std::int64_t>(buffer.bytes)};
      buffer.name = free_name();
    }
  }

  std::string free_name() {
    for (;;) {
      const std::string name = concat("folded_", count_++);
      if (std::none_of(program_.buffers.begin(), program_.buffers.end(),
                       [&](const ProgramBuffer& buffer) { return buffer.name == name; }))
        return name;
    }
  }

  ExportedProgram& program_;
  std::map<const Storage*, ProgramBuffer*> buffers_;
  std::map<const Storage*, int> writers_;  // calls, and one for whoever reads a result
  std::map<const Storage*, Tensor> results_;
  std::vector<ProgramCall> calls_;
  int count_ = 0;
};

}  // namespace

void fold_constants(ExportedProgram& program) {
  ConstantFolding(program).run();
  remove_dead_calls(program);
}

}  // namespace dlprim
