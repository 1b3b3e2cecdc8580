#include "autograd/ops/loss_reduction.h"

#include "dlprim/core/error.h"

namespace ocl {

Reduction reduction_from_name(const std::string& name) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  throw dlprim::ValueError(name + " is not a valid value for reduction");
}

}  // namespace ocl
