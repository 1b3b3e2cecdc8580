#pragma once

#include <optional>

#include "autograd/tensor.h"

namespace ocl {

using DimList = std::vector<std::int64_t>;

// Reductions over `dims` (all where empty), as the torch functions of the same names; the rows of
// dlprim/ops/reduce/table.def. Throw IndexError for a dimension out of range, TypeError for a dtype not
// taken.
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  /** doc */ Tensor name(const Tensor& a, const DimList& dims = {}, bool keepdim = false);
#include "dlprim/ops/reduce/table.def"

/** Where the largest (smallest) element stands: over `dim`, or in the flattened tensor. int64; of equals the
 * first. */
Tensor argmax(const Tensor& a, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);
Tensor argmin(const Tensor& a, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);

/** The gradient of broadcasting to g's shape: sums over what was broadcast. `g` itself where nothing was. */
Tensor sum_to_shape(const Tensor& g, const Dims& shape);

}  // namespace ocl
