#include "autograd/ops/compare.h"

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tape/tape.h"
#include "dlprim/core/real.h"

namespace ocl {
namespace {

using dlprim::require;

void require_alike(const char* op, const Tensor& a, const Tensor& b) {
  require<TypeError>(a.dtype() == b.dtype(), op, ": expected tensors of one dtype, got ", name(a.dtype()),
                     " and ", name(b.dtype()));
  require(a.device() == b.device(), op, ": expected tensors on one device");
}

const dlprim::PointwiseExpression& closeness() {
  static const dlprim::PointwiseExpression& expression = dlprim::lone_expression(
      "isclose", {"a", "b"}, {"rtol", "atol", "equal_nan"},
      {"a == b || (ISFINITE(a - b) && ABS(a - b) <= atol + ABS(rtol * b)) || (equal_nan != 0 && ISNAN(a) && "
       "ISNAN(b))"},
      DType::boolean);
  return expression;
}

}  // namespace

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  ENTER_OPERATOR(isclose, a, b, rtol, atol, equal_nan);
  require_alike("isclose", a, b);
  require(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  require(atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  const NoGradGuard no_grad;
  if (rtol == 0 && atol == 0 && !equal_nan) return eq(a, b);
  const Dims shape = dlprim::broadcast_shapes(a.shape(), b.shape(), "isclose");
  const dlprim::Tensor close = dlprim::Tensor::empty(*a.device(), shape, DType::boolean);
  const DType compute =
      is_floating(a.dtype()) ? dlprim::compute_dtype(a.dtype()) : DType::float32;  // PyTorch's
  dlprim::pointwise(a.device()->queue(), closeness(), compute, {a.data(), b.data()},
                    {rtol, atol, equal_nan ? 1.0 : 0.0}, {close});
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
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : dtype == DType::boolean ? 0 : 1; };
  return kind(from) <= kind(to);
}

}  // namespace ocl
