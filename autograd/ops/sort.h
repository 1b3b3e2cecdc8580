#pragma once

#include <utility>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Ordering along a dimension (torch functions of the same names). NaN counts as the largest value. All sort
// stably: equal elements keep their order. Indices are int64.

/** The elements in order, and where each of them stood: values and indices in the shape of `a`. */
std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t dim = -1, bool descending = false,
                               bool stable = false);
/** Where the elements in order stood. */
Tensor argsort(const Tensor& a, std::int64_t dim = -1, bool descending = false, bool stable = false);
/** The k largest (or smallest) elements of `dim`, in order whether or not that is asked for (`sorted`), and
 * where each of them stood. Throws ValueError unless 0 <= k <= the size of dim. */
std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                               bool sorted = true);

}  // namespace ocl
