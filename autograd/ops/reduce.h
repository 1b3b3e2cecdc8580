#pragma once

#include <optional>
#include <utility>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Reductions over `dims` (all where empty), as the torch functions of the same names; the rows of
// dlprim/ops/reduce/table.def. Throw IndexError for a dimension out of range, TypeError for a dtype not
// taken.
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  /** doc */ Tensor name(const Tensor& a, const DimList& dims = {}, bool keepdim = false);
#include "dlprim/ops/reduce/table.def"
// Over one dimension.
#define REDUCTION(name, ...)                                          \
  template <class Int, class = IfWhole<Int>>                          \
  Tensor name(const Tensor& a, Int dim, bool keepdim = false) {       \
    return name(a, DimList{static_cast<std::int64_t>(dim)}, keepdim); \
  }
#include "dlprim/ops/reduce/table.def"

// Like the function above, for `a` converted to `dtype`.
Tensor sum(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);
Tensor mean(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);
Tensor prod(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);

#include "autograd/ops/declare.def"

#include "autograd/ops/reduce.def"

#include "autograd/ops/declare_end.def"

/** The gradient of broadcasting to g's shape: sums over what was broadcast. `g` itself where nothing was. */
Tensor sum_to_shape(const Tensor& g, const Dims& shape);

}  // namespace ocl
