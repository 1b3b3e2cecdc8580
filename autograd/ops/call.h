#pragma once

#include "autograd/ops/pointwise.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/core/call.h"

/** \file Operators on the seam (dlprim/core/call.h): how their arguments become values, and the line that
 * they begin with. */

namespace ocl {

inline dlprim::ArgumentValue argument_value(const Tensor& tensor) {
  return tensor.defined() ? dlprim::ArgumentValue(tensor.data()) : dlprim::ArgumentValue();
}
inline dlprim::ArgumentValue argument_value(const Operand& operand) {
  return operand.is_tensor() ? argument_value(operand.tensor()) : dlprim::value_of(operand.number());
}
inline dlprim::ArgumentValue argument_value(const Device& device) {
  return device->name();
}

}  // namespace ocl

/** First line of a function that serves several operators: the name of the one it is called for, and its
 * other parameters. */
#define ENTER_OPERATOR_NAMED(name, ...) \
  const ::dlprim::CallScope entered(name, ::dlprim::Call::Kind::operation, #__VA_ARGS__, __VA_ARGS__)

/** First line of an operator: the name of its row (operators.def) and its parameters, in order. */
#define ENTER_OPERATOR(name, ...) ENTER_OPERATOR_NAMED(#name, __VA_ARGS__)
