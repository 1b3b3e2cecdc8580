#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Ordering along a dimension (torch functions of the same names). NaN counts as the largest value. All sort
// stably: equal elements keep their order. Indices are int64.

#include "autograd/ops/declare.def"

#include "autograd/ops/sort.def"

#include "autograd/ops/declare_end.def"

/** With the arguments in libtorch's order: `stable` comes first. */
inline std::pair<Tensor, Tensor> sort(const Tensor& a, std::optional<bool> /*stable*/, std::int64_t dim = -1,
                                      bool descending = false) {
  return sort(a, dim, descending);
}

/** With the arguments in libtorch's order: a bool in second place is `stable`. */
template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
Tensor argsort(const Tensor& a, Bool /*stable*/, std::int64_t dim = -1, bool descending = false) {
  return argsort(a, dim, descending);
}

}  // namespace ocl
