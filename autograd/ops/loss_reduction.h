#pragma once

#include <string>

#include "dlprim/ops/loss/class_loss.h"

namespace ocl {

/** The reduction of the losses of a batch: "none", "mean" or "sum". */
using dlprim::Reduction;

/** The reduction of that name. Throws ValueError. */
Reduction reduction_from_name(const std::string& name);

}  // namespace ocl
