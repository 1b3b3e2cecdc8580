#pragma once

#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"

namespace ocl {

// Complex numbers. Rows of the pointwise table compute them where their expressions mean something for them
// (dlprim/ops/pointwise/complex.cl). Other operators are made of operators on the parts, whose gradients are
// theirs. A gradient of a real result with respect to z is that of the real part plus i times that of the
// imaginary one, as in PyTorch. Throw TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/complex.def"

#include "autograd/ops/declare_end.def"

/** `operation` of the parts, a last dimension of 2: what is linear with real factors and leaves that
 * dimension alone. */
template <class Operation>
Tensor on_pairs(const Tensor& a, const Operation& operation) {
  return view_as_complex(operation(view_as_real(a)));
}

/** `operation(a, b)`, which is linear in each, of tensors of one complex dtype. */
template <class Operation>
Tensor of_parts(const Tensor& a, const Tensor& b, const Operation& operation) {
  const Tensor a_real = real(a), a_imag = imag(a), b_real = real(b), b_imag = imag(b);
  return complex(operation(a_real, b_real) - operation(a_imag, b_imag),
                 operation(a_real, b_imag) + operation(a_imag, b_real));
}

using ComplexOperator = Tensor (*)(const Tensor&);

/** How a row of one input is computed for complex numbers, where not by its expression: abs, angle, sgn. Null
 * for others, and for other inputs. */
ComplexOperator complex_operator(const dlprim::PointwiseOp& op, const std::vector<Operand>& inputs);

}  // namespace ocl
