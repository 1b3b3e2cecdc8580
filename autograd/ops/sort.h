#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Ordering along a dimension (torch functions of the same names). NaN counts as the largest value. All sort
// stably: equal elements keep their order. Indices are int64.

/** The elements in order, and where each of them stood: values and indices in the shape of `a`. */
std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t dim = -1, bool descending = false);
/** The same with the arguments in libtorch's order: `stable` comes first. */
inline std::pair<Tensor, Tensor> sort(const Tensor& a, std::optional<bool> /*stable*/, std::int64_t dim = -1,
                                      bool descending = false) {
  return sort(a, dim, descending);
}
/** Where the elements in order stood. */
Tensor argsort(const Tensor& a, std::int64_t dim = -1, bool descending = false);
/** The same with the arguments in libtorch's order: a bool in second place is `stable`. */
template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
Tensor argsort(const Tensor& a, Bool /*stable*/, std::int64_t dim = -1, bool descending = false) {
  return argsort(a, dim, descending);
}
/** The k largest (or smallest) elements of `dim`, in order whether or not that is asked for (`sorted`), and
 * where each of them stood. Throws ValueError unless 0 <= k <= the size of dim. */
std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                               bool sorted = true);

}  // namespace ocl
