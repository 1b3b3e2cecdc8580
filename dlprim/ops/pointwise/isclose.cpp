#include "dlprim/ops/pointwise/isclose.h"

#include "dlprim/core/call.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {
namespace {

const PointwiseExpression& closeness_expression() {
  static const PointwiseExpression& expression = lone_expression(
      "isclose", {"a", "b"}, {"rtol", "atol", "equal_nan"},
      {"a == b || (ISFINITE(a - b) && ABS(a - b) <= atol + ABS(rtol * b)) || (equal_nan != 0 && ISNAN(a) && "
       "ISNAN(b))"},
      DType::boolean);
  return expression;
}

}  // namespace

void isclose(Queue& queue, const Tensor& a, const Tensor& b, const Closeness& closeness,
             const Tensor& close) {
  ENTER(isclose, queue, a, b, closeness, close);
  const auto [rtol, atol, equal_nan] = closeness;
  require<TypeError>(a.dtype == b.dtype, "isclose: expected tensors of one dtype, got ", name(a.dtype),
                     " and ", name(b.dtype));
  require(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  require(atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  require<TypeError>(close.dtype == DType::boolean, "isclose: expected a result of dtype bool, got ",
                     name(close.dtype));
  const Dims shape = broadcast_shapes(a.shape, b.shape, "isclose");
  require(close.shape == shape, "isclose: expected a result of shape ", shape, ", got ", close.shape);
  if (rtol == 0 && atol == 0 && !equal_nan)
    return pointwise(queue, forward_expression(pointwise_op("eq")), a.dtype, {a, b}, {}, {close});
  const DType compute = is_floating(a.dtype) ? compute_dtype(a.dtype) : DType::float32;
  pointwise(queue, closeness_expression(), compute, {a, b}, {rtol, atol, equal_nan ? 1.0 : 0.0}, {close});
}

}  // namespace dlprim
