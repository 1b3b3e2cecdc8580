#pragma once

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/**
 * The row of that name of the losses of single elements (table.def: "mse_loss", "l1_loss", "smooth_l1_loss",
 * "huber_loss", "binary_cross_entropy", "kl_div", "gaussian_nll_loss", …), for the pointwise engine:
 * pointwise and pointwise_backward. It gives a loss an element, which `reduce` with "mean" or "sum" makes
 * one. Throws ValueError.
 */
const PointwiseOp& elementwise_loss(std::string_view name);

/** The row of that name of either table: an operator's (pointwise_op), or a loss's. Throws ValueError. */
const PointwiseOp& pointwise_row_named(std::string_view name);

}  // namespace dlprim
