#pragma once

#include "autograd/tensor/tensor.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {

/** A row of the pointwise table applied to `x`, over `x` itself with `inplace`: what the activations of
 * torch.nn.functional with that argument do. */
Tensor activate(const dlprim::PointwiseOp& op, const Tensor& x, const std::vector<Scalar>& parameters = {},
                bool inplace = false);

/**
 * x where positive, weight * x elsewhere (torch.nn.functional.prelu; He et al. 2015). `weight` has one
 * element, or one for each entry of dimension 1 of `x`. Throws ValueError otherwise.
 */
Tensor prelu(const Tensor& x, const Tensor& weight);

/** The first half of `dim` times the sigmoid of the second (torch.nn.functional.glu; Dauphin et al. 2017).
 * Throws ValueError unless the size of `dim` is even. */
Tensor glu(const Tensor& x, std::int64_t dim = -1);

}  // namespace ocl
