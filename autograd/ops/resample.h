#pragma once

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

}  // namespace ocl
