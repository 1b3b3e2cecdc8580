#pragma once

#include <optional>

#include "autograd/tensor.h"

namespace ocl {

/** Running sums along `dim` (torch.cumsum). Integers and bool are summed in int64; with `dtype` the input is
 * converted first. Throws IndexError for a dimension out of range. */
Tensor cumsum(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/** Running products along `dim` (torch.cumprod); as cumsum. Zeros have their right gradient. */
Tensor cumprod(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

}  // namespace ocl
