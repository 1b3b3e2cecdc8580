#pragma once

#include <optional>

#include "autograd/ops/pool.h"

namespace ocl {

// Gradients for a tape that is not ours. Max pooling takes the places of the maxima, int64, as the functions
// `…_with_indices` give them; adaptive averages take the shapes alone. They are not recorded.

Tensor max_pool2d_gradient(const Tensor& g, const Tensor& x, Pair kernel_size, std::optional<Pair> stride,
                           Pair padding, Pair dilation, bool ceil_mode, const Tensor& indices);
Tensor max_pool3d_gradient(const Tensor& g, const Tensor& x, Triple kernel_size, std::optional<Triple> stride,
                           Triple padding, Triple dilation, bool ceil_mode, const Tensor& indices);
Tensor adaptive_max_pool2d_gradient(const Tensor& g, const Tensor& x, const Tensor& indices);
Tensor adaptive_max_pool3d_gradient(const Tensor& g, const Tensor& x, const Tensor& indices);
Tensor adaptive_avg_pool2d_gradient(const Tensor& g, const Tensor& x);
Tensor adaptive_avg_pool3d_gradient(const Tensor& g, const Tensor& x);

}  // namespace ocl
