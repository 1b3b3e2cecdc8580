#pragma once

#include <string>

#include "dlprim/core/precision.h"

namespace ocl {

/**
 * How precisely matrix products and convolutions of float32 tensors are computed from here on, in this
 * process (torch.set_float32_matmul_precision): "highest" (at first), "high" or "medium"; see
 * dlprim::MatmulPrecision. A device without faster arithmetic of lower precision computes as for "highest".
 * Throws ValueError for another name.
 */
void set_float32_matmul_precision(const std::string& precision);
std::string get_float32_matmul_precision();

/** That precision, in the form that operators pass on. */
dlprim::MatmulPrecision float32_matmul_precision();
void set_matmul_precision(dlprim::MatmulPrecision precision);

}  // namespace ocl
