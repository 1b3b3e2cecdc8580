#pragma once

#include <string>

#include "dlprim/ops/loss/class_loss.h"

namespace ocl {

/** The reduction of the losses of a batch: "none", "mean" or "sum". */
using dlprim::Reduction;

/** The reduction of that name. Throws ValueError. */
Reduction reduction_from_name(const std::string& name);

/** A reduction by libtorch's constant, for functions that take a Reduction and options that take its name. */
class ReductionName {
 public:
  constexpr explicit ReductionName(Reduction reduction) : reduction_(reduction) {}
  constexpr operator Reduction() const { return reduction_; }
  operator std::string() const {
    return reduction_ == Reduction::none ? "none" : reduction_ == Reduction::mean ? "mean" : "sum";
  }

 private:
  Reduction reduction_;
};
inline constexpr ReductionName kNone(Reduction::none), kMean(Reduction::mean), kSum(Reduction::sum);

}  // namespace ocl
