#pragma once

#include <array>

#include "dlprim/core/dims.h"
#include "dlprim/core/fields.h"

namespace dlprim {

/** A pooling window over the last `axes` dimensions, {height, width} or {depth, height, width}; names and
 * defaults as in torch.nn.MaxPool2d. */
template <std::size_t axes>
struct PoolGeometry {
  std::array<int, axes> kernel;
  std::array<int, axes> stride;
  std::array<int, axes> padding{};
  std::array<int, axes> dilation = all_one();
  bool ceil_mode = false;
  FIELDS(kernel, stride, padding, dilation, ceil_mode)

 private:
  static constexpr std::array<int, axes> all_one() {
    std::array<int, axes> ones{};
    for (int& n : ones) n = 1;
    return ones;
  }
};
using Pool2dGeometry = PoolGeometry<2>;
using Pool3dGeometry = PoolGeometry<3>;

/**
 * Shape of the result of pooling `x`, [N, C, H, W] or [C, H, W]. A dimension has floor((size + 2 padding -
 * dilation (kernel - 1) - 1) / stride) + 1 elements. With ceil_mode the division rounds up, but a window must
 * start inside the input or its left padding. Throws ValueError naming `op` for every geometry that PyTorch
 * refuses.
 */
Dims pool2d_output_shape(const char* op, const Dims& x, const Pool2dGeometry& geometry);
/** Like pool2d_output_shape, for `x` [N, C, D, H, W] or [C, D, H, W]. */
Dims pool3d_output_shape(const char* op, const Dims& x, const Pool3dGeometry& geometry);

/** Shape of adaptive pooling of `x`, [N, C, H, W] or [C, H, W], to `size` = {height, width}. Throws
 * ValueError. */
Dims adaptive_pool2d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 2>& size);
/** Like adaptive_pool2d_output_shape, for `x` [N, C, D, H, W] or [C, D, H, W] to {depth, height, width}. */
Dims adaptive_pool3d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 3>& size);

}  // namespace dlprim
