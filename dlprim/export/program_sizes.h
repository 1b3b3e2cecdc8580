#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "dlprim/export/exported_program.h"

/** \file The numbers of a program that change with its symbols. */

namespace dlprim {

/** Calls visit(number) for each number of a tensor's geometry, an int64_t: sizes, strides, the offset. */
template <class Visit>
void for_each_number(Tensor& tensor, const Visit& visit) {
  for (std::int64_t& size : tensor.shape) visit(size);
  for (std::int64_t& stride : tensor.strides) visit(stride);
  visit(tensor.offset);
}

/** For each number among the values, those within lists and tensors too: an int64_t or a double. */
template <class Visit>
void for_each_number(std::vector<Argument>& arguments, const Visit& visit) {
  for (Argument& argument : arguments) {
    if (auto* whole = std::get_if<std::int64_t>(&argument.value))
      visit(*whole);
    else if (auto* real = std::get_if<double>(&argument.value))
      visit(*real);
    else if (auto* tensor = std::get_if<Tensor>(&argument.value))
      for_each_number(*tensor, visit);
    else if (auto* list = std::get_if<std::vector<Argument>>(&argument.value))
      for_each_number(*list, visit);
  }
}

/** Puts the values for these sizes into the numbers that have formulas. `target`: a tensor or arguments. */
template <class Target>
void apply_sizes(Target& target, const std::vector<VaryingNumber>& varying,
                 const std::vector<std::int64_t>& sizes) {
  if (varying.empty()) return;
  std::size_t place = 0, next = 0;
  for_each_number(target, [&](auto& number) {
    if (next == varying.size() || varying[next].place != place++) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(number)>, double>)
      number = varying[next].formula.real(sizes);
    else
      number = varying[next].formula.numerator.value(sizes);
    ++next;
  });
}

/** The greatest sizes, which the program's own numbers are of. */
std::vector<std::int64_t> greatest_sizes(const ExportedProgram& program);
std::vector<std::int64_t> least_sizes(const ExportedProgram& program);

/**
 * The program for these sizes, one for each symbol, which has no symbols itself. Its calls keep their
 * formulas, so that passes can tell which depend on the sizes; its buffers are as large as for the greatest.
 */
ExportedProgram program_of_sizes(const ExportedProgram& program, const std::vector<std::int64_t>& sizes);

/** The values of the symbols for inputs of these shapes. Throws ValueError, which names the input, the
 * dimension, its size and what it may be, for shapes that do not fit. */
std::vector<std::int64_t> sizes_of_inputs(const ExportedProgram& program, const std::vector<Dims>& shapes);
/** Puts the values of one input's symbols into `sizes`; they may contradict other inputs'. */
void put_sizes_of_input(const ExportedProgram& program, std::size_t input, const Dims& shape,
                        std::vector<std::int64_t>& sizes);

/** The symbol that a dimension of an input is, or null where its size is given. */
const ProgramSymbol* symbol_of_dimension(const ExportedProgram& program, std::size_t input, int dimension);

/** "float32[batch, 3]": the geometry with its formulas. */
std::string text_of_dynamic_geometry(const ProgramTensor& each, const std::vector<ProgramSymbol>& symbols);

/** A bound on the bytes that the tensor reaches, for all sizes. */
std::size_t most_bytes_reached(const Tensor& tensor, const std::vector<VaryingNumber>& varying,
                               std::size_t first_place, const std::vector<ProgramSymbol>& symbols);

}  // namespace dlprim
