#pragma once

#include <string_view>
#include <vector>

#include "dlprim/ops/pointwise/pointwise.h"

namespace torch_ocl {

/** Pointwise operators of PyTorch's that dlprim's table does not have, or not with PyTorch's arguments: rows
 * as there. */
const std::vector<dlprim::PointwiseOp>& more_rows();
/** The row of that name. */
const dlprim::PointwiseOp& more_row(std::string_view name);

}  // namespace torch_ocl
