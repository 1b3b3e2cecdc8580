#include "dlprim/export/exported_program.h"

#include <algorithm>
#include <set>

#include "dlprim/core/error.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {
namespace {

using Kind = ProgramBuffer::Kind;

/** Writes a program's lines. */
class Writer {
 public:
  explicit Writer(const ExportedProgram& program) : program_(program) {
    for (const ProgramTensor& input : program.inputs) names_[program.buffer_of(input.tensor)] = input.name;
  }

  std::string text() {
    std::string lines = "program(";
    for (const ProgramTensor& input : program_.inputs)
      lines += concat(&input == &program_.inputs.front() ? "" : ", ", input.name, ": ",
                      text_of_geometry(input.tensor));
    lines += "):\n";
    for (const ProgramCall& call : program_.calls) lines += line(call);
    lines += "  return ";
    for (const ProgramTensor& output : program_.outputs)
      lines += concat(&output == &program_.outputs.front() ? "" : ", ", reference(output.tensor));
    return lines + "\n";
  }

 private:
  std::string reference(const Tensor& tensor) {
    const std::size_t index = program_.buffer_of(tensor);
    const auto found = names_.find(index);
    std::string text = found != names_.end() ? found->second : program_.buffers[index].name;
    if (text.empty()) text = concat("%", index);
    if (tensor.offset != 0) text += concat("+", tensor.offset);
    return text;
  }

  std::string value(const ArgumentValue& value) {
    return text_of_value_for_people(value, [this](const Tensor& tensor) { return reference(tensor); });
  }

  std::string line(const ProgramCall& call) {
    std::string results, arguments;
    if (const Primitive* primitive = find_primitive(call.primitive)) {
      const Primitive::Tensors tensors = primitive->tensors(call.arguments);
      for (const Tensor& tensor : tensors.written)
        results += concat(results.empty() ? "" : ", ", reference(tensor), ": ", text_of_geometry(tensor));
    }
    for (const Argument& argument : call.arguments)
      arguments += concat(arguments.empty() ? "" : ", ", argument.name, "=", value(argument.value));
    std::string source = call.module;
    if (call.operation != call.primitive) source += (source.empty() ? "" : ": ") + call.operation;
    return concat("  ", results, results.empty() ? "" : " = ", call.primitive, "(", arguments, ")",
                  source.empty() ? "" : "  # ", source, "\n");
  }

  const ExportedProgram& program_;
  std::unordered_map<std::size_t, std::string> names_;
};

}  // namespace

std::size_t ExportedProgram::buffer_of(const Tensor& tensor) const {
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].storage == tensor.storage) return i;
  throw ValueError("the tensor lies on no buffer of the program");
}

std::string ExportedProgram::text() const {
  return Writer(*this).text();
}

void check_program(const ExportedProgram& program) {
  std::unordered_map<const Storage*, const ProgramBuffer*> known;
  std::set<const Storage*> filled;
  std::set<std::string> names;
  for (const ProgramBuffer& buffer : program.buffers) {
    known.emplace(buffer.storage.get(), &buffer);
    if (buffer.kind != Kind::temporary) filled.insert(buffer.storage.get());
    if (buffer.kind != Kind::constant && buffer.kind != Kind::state) continue;
    require(names.insert(buffer.name).second, "two buffers are named ", buffer.name);
    require(buffer.contents.size() == buffer.bytes, "buffer ", buffer.name, " of ", buffer.bytes,
            " bytes has ", buffer.contents.size(), " bytes of contents");
  }
  const auto check = [&](const std::string& whose, const Tensor& tensor, bool is_read) {
    const auto found = known.find(tensor.storage.get());
    require(found != known.end(), whose, ": a tensor lies on no buffer of the program");
    require(bytes_reached(tensor) <= found->second->bytes, whose, ": a tensor ", text_of_geometry(tensor),
            " at offset ", tensor.offset, " reaches past its buffer of ", found->second->bytes, " bytes");
    require(!is_read || filled.count(tensor.storage.get()), whose, ": a tensor is read before it is written");
  };
  for (const std::vector<ProgramTensor>* list : {&program.inputs, &program.outputs}) {
    std::set<std::string> taken;
    for (const ProgramTensor& each : *list)
      require(taken.insert(each.name).second, "two inputs or two outputs are named ", each.name);
  }
  for (const ProgramTensor& input : program.inputs) {
    check(concat("input ", input.name), input.tensor, false);
    require(known.at(input.tensor.storage.get())->kind == Kind::input, "input ", input.name,
            " lies on a buffer of another kind");
  }
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    const ProgramCall& call = program.calls[i];
    const std::string whose = concat("call ", i, ", ", call.primitive);
    const Primitive* primitive = find_primitive(call.primitive);
    require(primitive, "call ", i, ": there is no primitive named ", call.primitive);
    std::vector<std::string> given;
    for (const Argument& argument : call.arguments) given.push_back(argument.name);
    require(given == primitive->parameters, whose, ": these are not its arguments");
    const Primitive::Tensors tensors = primitive->tensors(call.arguments);
    for (const Tensor& tensor : tensors.read) check(whose, tensor, true);
    for (const Tensor& tensor : tensors.updated) check(whose, tensor, true);
    for (const Tensor& tensor : tensors.written) {
      check(whose, tensor, false);
      const Kind kind = known.at(tensor.storage.get())->kind;
      require(kind != Kind::constant, whose, ": it writes to a constant");
      filled.insert(tensor.storage.get());
    }
    for (const Tensor& tensor : tensors.updated)
      require(known.at(tensor.storage.get())->kind != Kind::constant, whose, ": it writes to a constant");
  }
  for (const ProgramTensor& output : program.outputs)
    check(concat("output ", output.name), output.tensor, true);
}

}  // namespace dlprim
