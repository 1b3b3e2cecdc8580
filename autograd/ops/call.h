#pragma once

#include <algorithm>
#include <type_traits>

#include "autograd/ops/interceptor.h"
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

/** Whether one of an operator's arguments is a tensor of complex numbers. */
template <class T>
bool has_complex(const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>)
    return argument.defined() && is_complex(argument.dtype());
  else if constexpr (std::is_same_v<T, Operand>)
    return argument.is_tensor() && has_complex(argument.tensor());
  else if constexpr (std::is_same_v<T, TensorList>)
    return std::any_of(argument.begin(), argument.end(), has_complex<Tensor>);
  else
    return false;
}
[[noreturn]] void refuse_complex(const char* op);

/** Throws TypeError unless an operator's row has complex numbers among its dtypes or none is given. */
template <bool takes_complex, class... Arguments>
void require_dtypes(const char* op, const Arguments&... arguments) {
  if constexpr (!takes_complex)
    if ((has_complex(arguments) || ...)) refuse_complex(op);
}

}  // namespace ocl

/** Tells whoever listens of a call: the name of the operator, and the function's parameters in order. By
 * itself the first line of a function that writes over its first argument. */
#define ANNOUNCE_OPERATOR(name, ...) \
  const ::dlprim::CallScope entered(name, ::dlprim::Call::Kind::operation, #__VA_ARGS__, __VA_ARGS__)

/** Lets an Interceptor make the call with other tensors, or answer it: the operator's name, the names of its
 * parameters, the call with `rewritten...` in the place of these, and these. */
#define INTERCEPT_OPERATOR(name, names, call_again, ...)                 \
  if (const ::ocl::Interception interception(name, names); interception) \
  return interception.call([&](const auto&... rewritten) { return call_again; }, __VA_ARGS__)

/** First line of a function that serves several operators: both. Listeners hear of the call that is made. */
#define ENTER_OPERATOR_NAMED(name, call_again, ...)                \
  INTERCEPT_OPERATOR(name, #__VA_ARGS__, call_again, __VA_ARGS__); \
  ANNOUNCE_OPERATOR(name, __VA_ARGS__)

/** Tells of a call of an operator that is a row (operators.def), whose parameters have the names that it
 * says. */
#define ANNOUNCE_ROW(name, row, ...) \
  const ::dlprim::CallScope entered(name, ::dlprim::Call::Kind::operation, ::ocl::rows::row, __VA_ARGS__)

/** First line of a function that is another form of a row: its name, the call that is made again, and these.
 */
#define ENTER_ROW(name, call_again, ...)                                 \
  INTERCEPT_OPERATOR(#name, ::ocl::rows::name, call_again, __VA_ARGS__); \
  ANNOUNCE_ROW(#name, name, __VA_ARGS__);                                \
  ::ocl::require_dtypes<::ocl::takes_complex::name>(#name, __VA_ARGS__)

/** First line of an operator that is a row: its name and its parameters, in order. */
#define ENTER_OPERATOR(name, ...) ENTER_ROW(name, ::ocl::name(rewritten...), __VA_ARGS__)

/** First line of an overload of a row (OVERLOAD in operators.def): the name, the key, the parameters. */
#define ENTER_OVERLOAD(name, key, ...)                                                          \
  INTERCEPT_OPERATOR(#name, ::ocl::rows::name##_##key, ::ocl::name(rewritten...), __VA_ARGS__); \
  ANNOUNCE_ROW(#name, name##_##key, __VA_ARGS__);                                               \
  ::ocl::require_dtypes<::ocl::takes_complex::name>(#name, __VA_ARGS__)
