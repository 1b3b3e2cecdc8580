#pragma once

#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Distances and angles between vectors. Throw ValueError for shapes that do not fit, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/distance.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
