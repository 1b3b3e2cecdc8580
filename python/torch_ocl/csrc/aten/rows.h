#pragma once

#include <vector>

#include "dlprim/ops/pointwise/pointwise.h"

namespace torch_ocl {

/** Pointwise operators whose arguments are PyTorch's own, which dlprim's table does not have: rows as there.
 */
const std::vector<dlprim::PointwiseOp>& more_rows();

}  // namespace torch_ocl
