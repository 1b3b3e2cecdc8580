#pragma once

#include <array>
#include <optional>

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Which input elements an output of an interpolation reads: torch.nn.functional.interpolate's modes. */
enum class Interpolation {
  nearest,        // the element below the position of the output's corner
  nearest_exact,  // the element whose center is nearest to the output's center
  linear          // those around the position, weighted; along every axis
};

/** How outputs are laid over inputs. */
struct InterpolationGeometry {
  Interpolation mode = Interpolation::nearest;
  int axes = 2;                // the last one, two or three dimensions are interpolated
  bool align_corners = false;  // linear: the first and last positions of input and output coincide
  /** Outputs to one input along each axis; where absent it follows from the sizes. */
  std::array<std::optional<double>, 3> scale_factors{};
  FIELDS(mode, axes, align_corners, scale_factors)
};

/**
 * torch.nn.functional.interpolate of `x`, [..., sizes of the axes], to the sizes of `y`, whose other
 * dimensions are x's; a scale factor f makes size * f, rounded down. Any floating dtype. Contiguous;
 * precondition: no overlap. Throws ValueError, TypeError.
 */
void interpolate_forward(Queue& queue, const Tensor& x, const InterpolationGeometry& geometry,
                         const Tensor& y);

/** Gradient of interpolate: every element of `dx` is written, with what it gave to each `dy`, in a fixed
 * order. */
void interpolate_backward(Queue& queue, const Tensor& dy, const InterpolationGeometry& geometry,
                          const Tensor& dx);

}  // namespace dlprim
