#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Operators that take tensors apart along a dimension, put them together, and copy them in another order
// (torch functions of the same names). Throw ValueError for shapes that do not fit, IndexError for
// dimensions.

// Several views along one dimension; one node of the tape serves them all.

#include "autograd/ops/declare.def"

#include "autograd/ops/join.def"

#include "autograd/ops/declare_end.def"

// Copies.

}  // namespace ocl
