#pragma once

#include <array>
#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/ops/resample/interpolate.h"

namespace ocl {

#include "autograd/ops/declare.def"

#include "autograd/ops/resample.def"

#include "autograd/ops/declare_end.def"

/** interpolate to `size`, a number for each of the geometry's axes, by what its words stand for. Throws
 * ValueError. */
Tensor interpolated(const Tensor& x, const std::vector<std::int64_t>& size,
                    const dlprim::InterpolationGeometry& geometry);

/** interpolate of pictures [N, C, H, W] in the mode bicubic, or bilinear where not `cubic`; a scale factor,
 * where there is one, says how positions follow from each other. Throws ValueError, TypeError. */
Tensor filtered(const Tensor& x, const std::vector<std::int64_t>& size,
                const std::array<std::optional<double>, 2>& scale_factors, bool align_corners, bool cubic,
                bool antialias);

}  // namespace ocl
