#pragma once

#include <optional>
#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * torch.nn.functional.grid_sample: the values of x [N, C, H, W] at the points of grid [N, OH, OW, 2] -> [N,
 * C, OH, OW], or of x [N, C, D, H, W] at grid [N, OD, OH, OW, 3]. A point holds its coordinates from the last
 * axis of x to the first; -1 and 1 are the outer edges of x, with align_corners the centers of its outermost
 * elements. `mode`: bilinear (of volumes trilinear), nearest, bicubic (of planes). `padding_mode`: zeros,
 * border, reflection. Throws ValueError, TypeError.
 */
Tensor grid_sample(const Tensor& x, const Tensor& grid, const std::string& mode = "bilinear",
                   const std::string& padding_mode = "zeros",
                   std::optional<bool> align_corners = std::nullopt);

/**
 * torch.nn.functional.affine_grid: the grid of a result of `size` [N, C, H, W] or [N, C, D, H, W], moved by
 * theta [N, 2, 3] or [N, 3, 4]: theta times (x, y, 1) or (x, y, z, 1) for each point. Throws ValueError,
 * TypeError.
 */
Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& size,
                   std::optional<bool> align_corners = std::nullopt);

}  // namespace ocl
