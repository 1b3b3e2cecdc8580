#pragma once

#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Products of matrices and vectors: floating dtypes, and integers, which wrap. Both operands
// have one dtype. Throw ValueError for shapes that do not fit, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/linalg.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
