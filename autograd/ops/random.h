#pragma once

#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"

namespace ocl {

// Tensors of random numbers (the torch functions of the same names), from `generator` or the default one of
// the device. A seed gives the same numbers on every device. Tensor has uniform_, normal_, … in place.

#include "autograd/ops/declare.def"

#include "autograd/ops/random.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
