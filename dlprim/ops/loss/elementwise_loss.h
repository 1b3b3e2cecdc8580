#pragma once

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/**
 * The row of that name of the losses of single elements (table.def: "mse_loss", "l1_loss", "smooth_l1_loss",
 * "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "kl_div_log_target"),
 * for the pointwise engine: pointwise and pointwise_backward. It gives a loss an element, which `reduce` with
 * "mean" or "sum" makes one. Throws ValueError.
 */
const PointwiseOp& elementwise_loss(std::string_view name);

}  // namespace dlprim
