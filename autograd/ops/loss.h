#pragma once

#include "autograd/ops/loss_reduction.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

// The order of the arguments is libtorch's (at::nll_loss, at::cross_entropy_loss, …).

#include "autograd/ops/declare.def"

#include "autograd/ops/loss.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
