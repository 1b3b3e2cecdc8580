#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

/** Running sums along `dim` (torch.cumsum). Integers and bool are summed in int64; with `dtype` the input is
 * converted first. Throws IndexError for a dimension out of range. */
Tensor cumsum(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/** Running products along `dim` (torch.cumprod); as cumsum. Zeros have their right gradient. */
Tensor cumprod(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/** Differences of neighbours along `dim`, taken `n` times, of `prepend`, `a` and `append` (undefined:
 * nothing) joined (torch.diff); of bool whether they differ. Throws ValueError for a scalar or a negative n,
 * IndexError. */
Tensor diff(const Tensor& a, std::int64_t n = 1, std::int64_t dim = -1, const Tensor& prepend = {},
            const Tensor& append = {});

}  // namespace ocl
