#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

// Linear layers whose weights are kept in 8 or 4 bits (dlprim/ops/quantized/quantized_linear.h): weights are
// constants, activations and bias are floating and have gradients of any order.

#include "autograd/ops/declare.def"

#include "autograd/ops/quantized.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
