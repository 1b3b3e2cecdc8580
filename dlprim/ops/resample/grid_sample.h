#pragma once

#include <array>

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How a value between elements follows from those around it; the names are PyTorch's. */
enum class GridInterpolation { linear, nearest, cubic };

/** The elements beyond the border: zeros, the border's element, or the mirror image. */
enum class GridPadding { zeros, border, reflection };

/** How the points of a grid lie on an input: torch.nn.functional.grid_sample's arguments. */
struct GridGeometry {
  GridInterpolation interpolation = GridInterpolation::linear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  // -1 and 1 are the centers of the outermost elements, else their outer edges
  /** Instead of the value its derivative of this order with respect to a point's coordinate of each axis
   * {depth, height, width}. */
  std::array<int, 3> order{0, 0, 0};
  FIELDS(interpolation, padding, align_corners, order)
};

/** Shape [N, C, out…] of the values of x [N, C, size…] at grid [N, out…, axes], two or three axes of each.
 * Throws ValueError, naming `op`, for what PyTorch refuses. */
Dims grid_sample_output_shape(const char* op, const Dims& x, const Dims& grid, const GridGeometry& geometry);

// All tensors are contiguous, of one floating dtype, and shaped as above (checked); outputs overlap no input.
// Positions are computed in float32 at least. A place beyond all elements, and a point that is not finite
// where padding is zeros, gives 0. Throw ValueError, TypeError.

/** y = torch.nn.functional.grid_sample(x, grid): a point holds its coordinates from the last axis of x to the
 * first, in -1 … 1. */
void grid_sample_forward(Queue& queue, const Tensor& x, const Tensor& grid, const GridGeometry& geometry,
                         const Tensor& y);

/** dx = gradient with respect to x: every element is written, with what it gave to each dy, in a fixed
 * order. */
void grid_sample_backward_input(Queue& queue, const Tensor& dy, const Tensor& grid,
                                const GridGeometry& geometry, const Tensor& dx);

/** dgrid = gradient with respect to the grid; zeros where the nearest element is taken. */
void grid_sample_backward_grid(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& grid,
                               const GridGeometry& geometry, const Tensor& dgrid);

}  // namespace dlprim
