#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

#include "autograd/ops/declare.def"

#include "autograd/ops/dropout.def"

#include "autograd/ops/declare_end.def"

/** Like dropout, in x itself. */
Tensor& dropout_(Tensor& x, double p = 0.5, bool training = true);

}  // namespace ocl
