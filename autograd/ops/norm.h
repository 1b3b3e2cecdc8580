#pragma once

#include <optional>
#include <string>

#include "autograd/tensor/tensor.h"
#include "dlprim/core/arguments.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {

/** An activation behind a norm: a row of the pointwise table, of one input and no parameters, or none. */
struct NormActivation {
  const dlprim::PointwiseOp* row = nullptr;
  NormActivation(const dlprim::PointwiseOp* of_table = nullptr) : row(of_table) {}
  /** By its name; "" for none. Throws ValueError where there is no such row. */
  NormActivation(const char* name) : NormActivation(std::string(name)) {}
  NormActivation(const std::string& name) : row(name.empty() ? nullptr : &dlprim::pointwise_op(name)) {}
};

inline dlprim::ArgumentValue argument_value(const NormActivation& activation) {
  return activation.row ? activation.row->name : std::string();
}

#include "autograd/ops/declare.def"

#include "autograd/ops/norm.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
