#pragma once

#include <array>

#include "dlprim/core/dims.h"
#include "dlprim/core/fields.h"

namespace dlprim {

/** A pooling window over the last two dimensions, {height, width}; names and defaults as in
 * torch.nn.MaxPool2d. */
struct Pool2dGeometry {
  std::array<int, 2> kernel;
  std::array<int, 2> stride;
  std::array<int, 2> padding{0, 0};
  std::array<int, 2> dilation{1, 1};
  bool ceil_mode = false;
  FIELDS(kernel, stride, padding, dilation, ceil_mode)
};

/**
 * Shape of the result of pooling `x`, [N, C, H, W] or [C, H, W]: per dimension
 * floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; with ceil_mode the division rounds up,
 * but a window must start inside the input or its left padding. Throws ValueError naming `op` for every
 * geometry that PyTorch refuses.
 */
Dims pool2d_output_shape(const char* op, const Dims& x, const Pool2dGeometry& geometry);

/** Shape of adaptive pooling of `x`, [N, C, H, W] or [C, H, W], to `size` = {height, width}. Throws
 * ValueError. */
Dims adaptive_pool2d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 2>& size);

}  // namespace dlprim
