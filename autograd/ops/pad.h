#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * torch.nn.functional.pad: `pad` holds what to add before and after the last dimension, then the one before
 * it, …; negative numbers cut. `mode`: constant (any dtype, any dimensions, `value` or 0), reflect, replicate
 * (floating dtypes) or circular (the last one to three dimensions, after one or two others). Throws
 * ValueError, TypeError.
 */
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& pad, const std::string& mode = "constant",
           const std::optional<Scalar>& value = std::nullopt);

}  // namespace ocl
