#include "dlprim/export/exported_program.h"

#include <algorithm>
#include <functional>
#include <set>

#include "dlprim/core/error.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_sizes.h"
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
                      text_of_dynamic_geometry(input, program_.symbols));
    lines += "):\n";
    for (const ProgramSymbol& symbol : program_.symbols)
      lines += concat("  ", symbol.name, ": from ", symbol.min, " to ", symbol.max, "\n");
    for (const ProgramCall& call : program_.calls) lines += line(call);
    lines += "  return ";
    for (const ProgramTensor& output : program_.outputs)
      lines +=
          concat(&output == &program_.outputs.front() ? "" : ", ", reference(output.tensor),
                 output.varying.empty() ? "" : ": " + text_of_dynamic_geometry(output, program_.symbols));
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

  /** The arguments with formulas in the place of the numbers that have one, but for those of tensors. */
  std::vector<Argument> with_formulas(const ProgramCall& call) {
    std::vector<Argument> arguments = call.arguments;
    std::size_t place = 0, next = 0;
    const auto formula = [&]() -> const NumberFormula* {
      const bool is_here = next < call.varying.size() && call.varying[next].place == place;
      ++place;
      return is_here ? &call.varying[next++].formula : nullptr;
    };
    const std::function<void(std::vector<Argument>&)> walk = [&](std::vector<Argument>& list) {
      for (Argument& argument : list) {
        if (auto* tensor = std::get_if<Tensor>(&argument.value)) {
          ProgramTensor shown{"", *tensor};
          for_each_number(*tensor, [&](std::int64_t) {
            const std::size_t own = place;
            if (const NumberFormula* found = formula()) shown.varying.push_back({own, *found});
          });
          const std::size_t first = place - 2 * static_cast<std::size_t>(tensor->rank()) - 1;
          for (VaryingNumber& one : shown.varying) one.place -= first;
          shapes_.emplace_back(*tensor, text_of_dynamic_geometry(shown, program_.symbols));
        } else if (auto* inner = std::get_if<std::vector<Argument>>(&argument.value)) {
          walk(*inner);
        } else if (std::holds_alternative<std::int64_t>(argument.value) ||
                   std::holds_alternative<double>(argument.value)) {
          if (const NumberFormula* found = formula()) argument.value = found->text(program_.symbols);
        }
      }
    };
    shapes_.clear();
    walk(arguments);
    return arguments;
  }

  /** The geometry of a tensor of the call at hand. */
  std::string geometry(const Tensor& tensor) const {
    for (const auto& [known, text] : shapes_)
      if (known.storage == tensor.storage && known.offset == tensor.offset && known.shape == tensor.shape &&
          known.strides == tensor.strides && known.dtype == tensor.dtype)
        return text;
    return text_of_geometry(tensor);
  }

  std::string line(const ProgramCall& call) {
    std::string results, arguments;
    const std::vector<Argument> shown = with_formulas(call);
    if (const Primitive* primitive = find_primitive(call.primitive)) {
      const Primitive::Tensors tensors = primitive->tensors(call.arguments);
      for (const Tensor& tensor : tensors.written)
        results += concat(results.empty() ? "" : ", ", reference(tensor), ": ", geometry(tensor));
    }
    for (const Argument& argument : shown)
      arguments += concat(arguments.empty() ? "" : ", ", argument.name, "=", value(argument.value));
    std::string source = call.module;
    if (call.operation != call.primitive) source += (source.empty() ? "" : ": ") + call.operation;
    return concat("  ", results, results.empty() ? "" : " = ", call.primitive, "(", arguments, ")",
                  source.empty() ? "" : "  # ", source, "\n");
  }

  const ExportedProgram& program_;
  std::unordered_map<std::size_t, std::string> names_;
  std::vector<std::pair<Tensor, std::string>> shapes_;  // of the call at hand
};

/** Throws ValueError unless every symbol has its own name and is a size of an input, and no formula leaves
 * what 64 bits hold within the bounds. */
void check_symbols(const ExportedProgram& program) {
  std::set<std::string> names;
  for (const ProgramSymbol& symbol : program.symbols)
    require(names.insert(symbol.name).second, "two symbols are named ", symbol.name);
  std::set<std::size_t> given;
  for (const ProgramTensor& input : program.inputs)
    for (const VaryingNumber& one : input.varying)
      if (one.place < static_cast<std::size_t>(input.tensor.rank())) {
        const auto symbol = one.formula.numerator.symbol_index();
        require(symbol.has_value(), "input ", input.name, ": dimension ", one.place,
                " must be a number or a symbol, is ", one.formula.text(program.symbols));
        given.insert(*symbol);
      }
  for (std::size_t i = 0; i < program.symbols.size(); ++i)
    require(given.count(i), "the symbol ", program.symbols[i].name, " is a size of no input");
  at_place([] { return "\"random_advance\""; },
           [&] { return program.random_formula.bounds(program.symbols); });
  for (std::size_t i = 0; i < program.calls.size(); ++i)
    at_place([&] { return program.place_of_call(i); },
             [&] {
               for (const VaryingNumber& one : program.calls[i].varying) {
                 one.formula.numerator.bounds(program.symbols);
                 if (one.formula.denominator) one.formula.denominator->bounds(program.symbols);
               }
             });
}

}  // namespace

std::string ExportedProgram::place_of_call(std::size_t i) const {
  return concat("call ", i, ", ", calls[i].primitive);
}

std::size_t ExportedProgram::buffer_of(const Tensor& tensor) const {
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].storage == tensor.storage) return i;
  throw ValueError("the tensor lies on no buffer of the program");
}

std::string ExportedProgram::text() const {
  return Writer(*this).text();
}

void check_program(const ExportedProgram& program) {
  if (program.is_dynamic()) {
    for (const ProgramSymbol& symbol : program.symbols)
      require(is_symbol_name(symbol.name) && 0 <= symbol.min && symbol.min <= symbol.max, "symbol ",
              symbol.name, ": the bounds ", symbol.min, " and ", symbol.max, ", or the name, are none");
    check_symbols(program);
    check_program(program_of_sizes(program, least_sizes(program)));
    return check_program(program_of_sizes(program, greatest_sizes(program)));
  }
  std::unordered_map<const Storage*, const ProgramBuffer*> known;
  std::set<const Storage*> filled;
  std::set<std::string> names;
  for (const ProgramBuffer& buffer : program.buffers) {
    known.emplace(buffer.storage.get(), &buffer);
    if (buffer.kind != Kind::temporary) filled.insert(buffer.storage.get());
    if (buffer.kind != Kind::constant && buffer.kind != Kind::state) continue;
    require(names.insert(buffer.name).second, "two buffers are named ", buffer.name);
    const std::size_t held = buffer.contents ? buffer.contents->size() : 0;
    require(held == buffer.bytes, "buffer ", buffer.name, " of ", buffer.bytes, " bytes has ", held,
            " bytes of contents");
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
    const std::string whose = program.place_of_call(i);
    const Primitive* primitive = find_primitive(call.primitive);
    require(primitive, "call ", i, ": there is no primitive named ", call.primitive);
    require<MissingPrimitiveError>(primitive->make, "call ", i, ": the primitive ", call.primitive,
                                   " is not in this build, which was made for other programs; add this one "
                                   "to cmake -DTAPECL_OPERATORS=\"a.ocl;b.ocl\" and build it again");
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
