#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

#include "autograd/ops/declare.def"

#include "autograd/ops/fft.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
