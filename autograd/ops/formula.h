#pragma once

#include <map>
#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * The value of an expression of a table (dlprim/ops/pointwise/table.def), computed by the operators of this
 * library, which the tape records. So derivatives of the table's derivatives follow from the table. `values`:
 * of its variables and parameters, broadcast; floating, of dtype `compute`, in which numbers count as well.
 * Throws ValueError where the expression calls what no operator does.
 */
Tensor evaluate(const std::string& expression, const std::map<std::string, Operand>& values, DType compute,
                const Device& device);

}  // namespace ocl
