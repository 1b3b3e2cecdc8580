#include "dlprim/export/program_sizes.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"
#include "dlprim/export/program_tensors.h"

namespace dlprim {
namespace {

/** The formula of a place, or null. */
const NumberFormula* formula_at(const std::vector<VaryingNumber>& varying, std::size_t place) {
  const auto found =
      std::lower_bound(varying.begin(), varying.end(), place,
                       [](const VaryingNumber& one, std::size_t at) { return one.place < at; });
  return found != varying.end() && found->place == place ? &found->formula : nullptr;
}

std::string text_of_size(std::int64_t size, const NumberFormula* formula,
                         const std::vector<ProgramSymbol>& symbols) {
  return formula ? formula->text(symbols) : concat(size);
}

}  // namespace

std::vector<std::int64_t> greatest_sizes(const ExportedProgram& program) {
  std::vector<std::int64_t> sizes;
  for (const ProgramSymbol& symbol : program.symbols) sizes.push_back(symbol.max);
  return sizes;
}

std::vector<std::int64_t> least_sizes(const ExportedProgram& program) {
  std::vector<std::int64_t> sizes;
  for (const ProgramSymbol& symbol : program.symbols) sizes.push_back(symbol.min);
  return sizes;
}

ExportedProgram program_of_sizes(const ExportedProgram& program, const std::vector<std::int64_t>& sizes) {
  ExportedProgram result = program;
  result.symbols.clear();
  for (std::vector<ProgramTensor>* list : {&result.inputs, &result.outputs})
    for (ProgramTensor& each : *list)
      at_place([&] { return concat(list == &result.inputs ? "input " : "output ", each.name); },
               [&] { apply_sizes(each.tensor, each.varying, sizes); });
  for (std::size_t i = 0; i < result.calls.size(); ++i)
    at_place([&] { return result.place_of_call(i); },
             [&] { apply_sizes(result.calls[i].arguments, result.calls[i].varying, sizes); });
  result.random_advance = static_cast<std::uint64_t>(program.random_formula.value(sizes));
  return result;
}

void put_sizes_of_input(const ExportedProgram& program, std::size_t input, const Dims& shape,
                        std::vector<std::int64_t>& sizes) {
  const ProgramTensor& expected = program.inputs.at(input);
  const auto fail = [&](const std::string& what) {
    throw ValueError(concat("input ", expected.name, ": the program was exported for ",
                            text_of_dynamic_geometry(expected, program.symbols), ", got ", shape, what));
  };
  const Dims& known = expected.tensor.shape;
  if (shape.size() != known.size()) fail("");
  for (int d = 0; d < shape.size(); ++d) {
    const NumberFormula* formula = formula_at(expected.varying, static_cast<std::size_t>(d));
    if (!formula) {
      if (shape[d] != known[d]) fail(concat(": dimension ", d, " is ", shape[d], ", and must be ", known[d]));
      continue;
    }
    const auto symbol = formula->numerator.symbol_index();
    require(symbol.has_value(), "input ", expected.name, ": dimension ", d, " is no symbol, but ",
            formula->text(program.symbols));
    const ProgramSymbol& about = program.symbols.at(*symbol);
    if (shape[d] < about.min || shape[d] > about.max)
      fail(concat(": dimension ", d, ", ", about.name, ", is ", shape[d], ", and must be from ", about.min,
                  " to ", about.max));
    sizes.at(*symbol) = shape[d];
  }
  // One symbol may stand for several dimensions.
  for (int d = 0; d < shape.size(); ++d)
    if (const NumberFormula* formula = formula_at(expected.varying, static_cast<std::size_t>(d)))
      if (const std::int64_t value = formula->numerator.value(sizes); value != shape[d])
        fail(concat(": dimension ", d, ", ", formula->text(program.symbols), ", is ", shape[d], ", and was ",
                    value, " in another"));
}

const ProgramSymbol* symbol_of_dimension(const ExportedProgram& program, std::size_t input, int dimension) {
  const NumberFormula* formula =
      formula_at(program.inputs.at(input).varying, static_cast<std::size_t>(dimension));
  const auto symbol = formula ? formula->numerator.symbol_index() : std::nullopt;
  return symbol ? &program.symbols.at(*symbol) : nullptr;
}

std::vector<std::int64_t> sizes_of_inputs(const ExportedProgram& program, const std::vector<Dims>& shapes) {
  require(shapes.size() == program.inputs.size(), "the program takes ", program.inputs.size(),
          " inputs, got ", shapes.size());
  std::vector<std::int64_t> sizes = greatest_sizes(program);
  for (std::size_t i = 0; i < shapes.size(); ++i) put_sizes_of_input(program, i, shapes[i], sizes);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (const VaryingNumber& one : program.inputs[i].varying) {
      const auto d = static_cast<int>(one.place);
      if (d >= shapes[i].size()) break;
      const std::int64_t value = one.formula.numerator.value(sizes);
      require(value == shapes[i][d], "input ", program.inputs[i].name, ": dimension ", d, ", ",
              one.formula.text(program.symbols), ", is ", shapes[i][d], ", and ", value, " in another input");
    }
  return sizes;
}

std::string text_of_dynamic_geometry(const ProgramTensor& each, const std::vector<ProgramSymbol>& symbols) {
  std::string sizes;
  for (int d = 0; d < each.tensor.rank(); ++d)
    sizes += (d ? ", " : "") + text_of_size(each.tensor.shape[d],
                                            formula_at(each.varying, static_cast<std::size_t>(d)), symbols);
  return concat(name(each.tensor.dtype), "[", sizes, "]");
}

std::size_t most_bytes_reached(const Tensor& tensor, const std::vector<VaryingNumber>& varying,
                               std::size_t first_place, const std::vector<ProgramSymbol>& symbols) {
  const auto most = [&](std::size_t place, std::int64_t number) {
    const NumberFormula* formula = formula_at(varying, first_place + place);
    return formula ? formula->numerator.bounds(symbols).second : number;
  };
  const auto rank = static_cast<std::size_t>(tensor.rank());
  std::int64_t last = most(2 * rank, tensor.offset);
  for (std::size_t d = 0; d < rank; ++d) {
    const auto dim = static_cast<int>(d);
    const std::int64_t size = most(d, tensor.shape[dim]);
    std::int64_t way = 0;
    if (size <= 0) return 0;
    require(try_multiply(std::max<std::int64_t>(most(rank + d, tensor.strides[dim]), 0), size - 1, way) &&
                try_add(last, way, last),
            "a tensor is too large at the greatest sizes: ", text_of_geometry(tensor));
  }
  std::int64_t bytes = 0;
  require(
      try_add(last, 1, last) && try_multiply(last, static_cast<std::int64_t>(size_of(tensor.dtype)), bytes),
      "a tensor is too large at the greatest sizes: ", text_of_geometry(tensor));
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
}

}  // namespace dlprim
