#pragma once

#include "autograd/tensor/tensor.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/pointwise_result.h"

namespace ocl {

// The pointwise operators, one function per row of dlprim/ops/pointwise/table.def (documented there and in
// docs/operators.md). Inputs broadcast; types promote as in PyTorch. Throw ValueError when shapes do not
// broadcast, TypeError for a dtype the operator does not take.
#define UNARY(name, types, forward, da, doc) /** doc */ Tensor name(const Tensor& a);
#define UNARY_P(name, p, p0, types, forward, da, doc) /** doc */ \
  Tensor name(const Tensor& a, const Scalar& p = p0);
#define UNARY_PQ(name, p, p0, q, q0, types, forward, da, doc) \
  /** doc */ Tensor name(const Tensor& a, const Scalar& p = p0, const Scalar& q = q0);
#define BINARY(name, types, forward, da, db, doc) /** doc */ Tensor name(const Operand& a, const Operand& b);
#define BINARY_P(name, p, p0, types, forward, da, db, doc) \
  /** doc */ Tensor name(const Operand& a, const Operand& b, const Scalar& p = p0);
#define TERNARY(name, types, forward, da, db, dc, doc) \
  /** doc */ Tensor name(const Operand& a, const Operand& b, const Operand& c);
#define TERNARY_P(name, p, p0, types, forward, da, db, dc, doc) \
  /** doc */ Tensor name(const Operand& a, const Operand& b, const Operand& c, const Scalar& p = p0);
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"

/** clamp with bounds that are tensors and get gradients; an undefined one is no bound. Throws ValueError
 * where there is none. */
Tensor clamp(const Tensor& a, const Tensor& min, const Tensor& max = {});
Tensor clamp_min(const Tensor& a, const Tensor& min);
Tensor clamp_max(const Tensor& a, const Tensor& max);

/** Holds `a` within bounds of which one is a tensor: a row of the table, and its inputs. */
struct Clamping {
  const dlprim::PointwiseOp& op;
  std::vector<Operand> inputs;
};
/** Throws ValueError where there is no bound, and for a number that the result's dtype does not hold. */
Clamping clamping(const Tensor& a, const std::optional<Operand>& min, const std::optional<Operand>& max);

#include "autograd/ops/declare.def"

#include "autograd/ops/pointwise.def"

#include "autograd/ops/declare_end.def"

/** Every element to the nearest multiple of 10 to the power of -decimals. Throws TypeError for integers. */
Tensor round(const Tensor& a, std::int64_t decimals);

inline Tensor operator+(const Operand& a, const Operand& b) {
  return add(a, b);
}
inline Tensor operator-(const Operand& a, const Operand& b) {
  return sub(a, b);
}
inline Tensor operator*(const Operand& a, const Operand& b) {
  return mul(a, b);
}
inline Tensor operator/(const Operand& a, const Operand& b) {
  return div(a, b);
}
inline Tensor operator-(const Tensor& a) {
  return neg(a);
}
// These take whole numbers and bool.
inline Tensor operator&(const Tensor& a, const Operand& b) {
  return bitwise_and(a, b);
}
inline Tensor operator|(const Tensor& a, const Operand& b) {
  return bitwise_or(a, b);
}
inline Tensor operator^(const Tensor& a, const Operand& b) {
  return bitwise_xor(a, b);
}
inline Tensor operator~(const Tensor& a) {
  return bitwise_not(a);
}
inline Tensor operator%(const Tensor& a, const Operand& b) {
  return remainder(a, b);
}
// Comparisons are elementwise, as in PyTorch; is_same() asks whether two handles are one tensor. With a
// number in front, the tensor behind it is compared the other way round.
#define COMPARISON(op, forward, backward)                        \
  inline Tensor operator op(const Tensor& a, const Operand& b) { \
    return forward(a, b);                                        \
  }                                                              \
  inline Tensor operator op(const Scalar& a, const Tensor& b) {  \
    return backward(b, a);                                       \
  }
COMPARISON(==, eq, eq)
COMPARISON(!=, ne, ne)
COMPARISON(<, lt, gt)
COMPARISON(<=, le, ge)
COMPARISON(>, gt, lt)
COMPARISON(>=, ge, le)
#undef COMPARISON

/** Applies a row of the table to its inputs: what each function above does. */
Tensor apply_pointwise(const dlprim::PointwiseOp& op, const std::vector<Operand>& inputs,
                       const std::vector<Scalar>& parameters = {});

/** Like apply_pointwise, writing the result over the first input, which must have the result's shape. */
void apply_pointwise_in_place(const dlprim::PointwiseOp& op, Tensor& target,
                              const std::vector<Operand>& inputs, const std::vector<Scalar>& parameters = {});

/** The dtype that operands promote to (torch.result_type): tensors with dimensions outrank scalars of their
 * kind. */
DType result_type(const std::vector<Operand>& operands);

}  // namespace ocl
