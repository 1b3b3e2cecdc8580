#pragma once

#include "autograd/tensor/tensor.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {

/** A row of the pointwise table applied to `x`, over `x` itself with `inplace`: what the activations of
 * torch.nn.functional with that argument do. */
Tensor activate(const dlprim::PointwiseOp& op, const Tensor& x, const std::vector<Scalar>& parameters = {},
                bool inplace = false);

#include "autograd/ops/declare.def"

#include "autograd/ops/activation.def"

#include "autograd/ops/declare_end.def"

/** rrelu over `x` itself. */
Tensor& rrelu_(Tensor& x, double lower = 0.125, double upper = 0.3333333333333333, bool training = false);

}  // namespace ocl
