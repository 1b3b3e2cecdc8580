#pragma once

#include <string>
#include <vector>

#include "dlprim/ops/pointwise/pointwise.h"

namespace torch_ocl {

/** Whether a row computes with complex numbers as PyTorch's operator of its name does. */
bool takes_complex(const dlprim::PointwiseOp& row);

/** Throws what PyTorch's CPU throws where an operator, by the name of its row or its own, does not take
 * inputs that promote to whole numbers or bool: dlprim's rows would take them, as floating numbers or as they
 * are. */
void require_accepted(const std::string& row, const std::vector<dlprim::PointwiseOperand>& inputs,
                      dlprim::DType promoted);

}  // namespace torch_ocl
