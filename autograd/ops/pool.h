#pragma once

#include <optional>

#include "autograd/ops/conv.h"

namespace ocl {

/** torch.nn.functional.max_pool2d over [N, C, H, W] or [C, H, W]; stride defaults to the kernel's size. */
Tensor max_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride = std::nullopt,
                  Pair padding = 0, Pair dilation = 1, bool ceil_mode = false);
/** As max_pool2d, with the places of the maxima (h * W + w in their plane), int64. */
TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size,
                                   std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                                   Pair dilation = 1, bool ceil_mode = false);
/** torch.nn.functional.avg_pool2d. */
Tensor avg_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride = std::nullopt,
                  Pair padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int> divisor_override = std::nullopt);
/** torch.nn.functional.adaptive_avg_pool2d: averages to the given size. */
Tensor adaptive_avg_pool2d(const Tensor& x, Pair output_size);

}  // namespace ocl
