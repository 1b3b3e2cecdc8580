#include "autograd/ops/compare.h"

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tape/tape.h"
#include "dlprim/core/promotion.h"
#include "dlprim/ops/pointwise/isclose.h"

namespace ocl {

using dlprim::require;

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  ENTER_OPERATOR(isclose, a, b, rtol, atol, equal_nan);
  require(a.device() == b.device(), "isclose: expected tensors on one device");
  const Dims shape = dlprim::broadcast_shapes(a.shape(), b.shape(), "isclose");
  if (is_complex(a.dtype()) && a.dtype() == b.dtype()) {
    const NoGradGuard no_grad;
    const Tensor apart = abs(a - b), allowed = atol + rtol * abs(b);
    const Tensor close = logical_or(eq(a, b), logical_and(isfinite(apart), le(apart, allowed)));
    return equal_nan ? logical_or(close, logical_and(isnan(a), isnan(b))) : close;
  }
  const dlprim::Tensor close = dlprim::Tensor::empty(*a.device(), shape, DType::boolean);
  dlprim::isclose(a.device()->queue(), a.data(), b.data(), {rtol, atol, equal_nan}, close);
  return Tensor(close);
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  ENTER_OPERATOR(allclose, a, b, rtol, atol, equal_nan);
  return all(isclose(a, b, rtol, atol, equal_nan)).item<bool>();
}

bool equal(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(equal, a, b);
  require(a.device() == b.device(), "equal: expected tensors on one device");
  if (a.shape() != b.shape()) return false;
  const NoGradGuard no_grad;
  return all(eq(a, b)).item<bool>();
}

bool can_cast(DType from, DType to) {
  return dlprim::can_cast(from, to);
}

}  // namespace ocl
