#pragma once

#include <optional>
#include <utility>

#include "autograd/tensor/tensor.h"

namespace ocl {

using DimList = std::vector<std::int64_t>;

// Reductions over `dims` (all where empty), as the torch functions of the same names; the rows of
// dlprim/ops/reduce/table.def. Throw IndexError for a dimension out of range, TypeError for a dtype not
// taken.
#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  /** doc */ Tensor name(const Tensor& a, const DimList& dims = {}, bool keepdim = false);
#include "dlprim/ops/reduce/table.def"

// As above, of `a` converted to `dtype`.
Tensor sum(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);
Tensor mean(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);
Tensor prod(const Tensor& a, const DimList& dims, bool keepdim, DType dtype);

/** Where the largest (smallest) element stands: over `dim`, or in the flattened tensor. int64; of equals the
 * first. */
Tensor argmax(const Tensor& a, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);
Tensor argmin(const Tensor& a, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);

/** The largest (smallest) element of all; NaN if there is one. Equal ones share the gradient. */
Tensor max(const Tensor& a);
Tensor min(const Tensor& a);
/** The largest (smallest) elements along `dim` and where they stand (int64; of equals the first, which gets
 * the gradient). */
std::pair<Tensor, Tensor> max(const Tensor& a, std::int64_t dim, bool keepdim = false);
std::pair<Tensor, Tensor> min(const Tensor& a, std::int64_t dim, bool keepdim = false);
/** maximum (minimum) under another name. */
Tensor max(const Tensor& a, const Tensor& b);
Tensor min(const Tensor& a, const Tensor& b);

/** The variance over `dims` (all where empty), of floating tensors: squared differences to the mean, added up
 * and divided by n - correction (by 0 where that is negative). */
Tensor var(const Tensor& a, const DimList& dims = {}, double correction = 1, bool keepdim = false);
/** The square root of var. */
Tensor std(const Tensor& a, const DimList& dims = {}, double correction = 1, bool keepdim = false);
/** var (std) and mean, in one go. */
std::pair<Tensor, Tensor> var_mean(const Tensor& a, const DimList& dims = {}, double correction = 1,
                                   bool keepdim = false);
std::pair<Tensor, Tensor> std_mean(const Tensor& a, const DimList& dims = {}, double correction = 1,
                                   bool keepdim = false);

/** log(sum(exp(a))) over `dims` (all where empty), without overflow. Integers are computed in float32. */
Tensor logsumexp(const Tensor& a, const DimList& dims = {}, bool keepdim = false);

/** (sum |a|^p)^(1/p) over `dims` (all where empty); p = 0 counts what is not zero, p = inf (-inf) gives the
 * largest (smallest) magnitude. Floating dtypes. */
Tensor norm(const Tensor& a, double p = 2, const DimList& dims = {}, bool keepdim = false);

/** The gradient of broadcasting to g's shape: sums over what was broadcast. `g` itself where nothing was. */
Tensor sum_to_shape(const Tensor& g, const Dims& shape);

}  // namespace ocl
