#pragma once

#include <string>

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/** The work of one launch: an expression, in a dtype, with numbers in the place of some inputs. */
struct PointwiseVariant {
  const PointwiseExpression& expression;
  DType dtype;
  unsigned numbers;  // bit i: variable i is a number

  bool is_number(std::size_t i) const { return numbers >> i & 1u; }
  DType input_dtype(std::size_t i) const { return expression.conditions >> i & 1u ? DType::boolean : dtype; }
  DType output_dtype() const { return expression.result.value_or(dtype); }
  /** By which its program's kernels know it. */
  int id() const;
};

/** Whether an expression divides, so that whole numbers have no result where a divisor is 0. */
bool divides(const std::string& expression);

/** Whether kernels of `dtype` take a check (DeviceCheck) of their divisors: those that divide whole numbers.
 */
bool checks_divisors(const PointwiseProgram& program, DType dtype);

/** Elements that a work item takes in shape simt. */
constexpr int elements_per_item = 4;

/** How the elements of a row lie in a tensor, where kernels are made for that. */
enum class RowStep : unsigned { any, none, backwards };

/** The steps of a program's tensors: two bits a slot. */
constexpr unsigned row_step(RowStep step, std::size_t slot) {
  return static_cast<unsigned>(step) << 2 * slot;
}

/** How kernels walk their tensors. */
struct PointwiseForm {
  bool wide_index = false;
  bool vectors = false;    // `<name>_flat` moves elements_per_item neighbours at once (shape simt)
  unsigned row_steps = 0;  // of `<name>_strided` (shape cpu)
};

/** Whether tensors of a dtype can be moved in vectors. */
bool has_vectors(DType dtype);

/** The OpenCL C of the program that serves `dtype`, with the kernels `<name>_flat` and `<name>_strided`. */
std::string pointwise_source(const PointwiseProgram& program, DType dtype, const PointwiseForm& form,
                             bool has_float64);

}  // namespace dlprim
