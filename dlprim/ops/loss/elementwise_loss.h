#pragma once

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/** The row of that name of the losses of single elements (table.def), for the pointwise engine. Throws
 * ValueError. */
const PointwiseOp& elementwise_loss(std::string_view name);

}  // namespace dlprim
