#include "dlprim/ops/gemm/linear.h"

#include "dlprim/core/call.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {
namespace {

void require_matrix(const char* op, const char* what, const Tensor& t) {
  require(t.rank() == 2, op, ": expected ", what, " to be a matrix, got shape ", t.shape);
}

}  // namespace

void linear_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias, const Tensor& y,
                    MatmulPrecision precision) {
  ENTER(linear_forward, queue, x, weight, bias, y, precision);
  require_matrix("linear_forward", "weight", weight);
  gemm(queue, x, weight.transposed(), y, 1, 0, bias, precision);
}

void linear_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                          MatmulPrecision precision) {
  ENTER(linear_backward_data, queue, dy, weight, dx, precision);
  gemm(queue, dy, weight, dx, 1, 0, nullptr, precision);
}

void linear_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            MatmulPrecision precision) {
  ENTER(linear_backward_weight, queue, dy, x, dw, precision);
  require_matrix("linear_backward_weight", "dy", dy);
  gemm(queue, dy.transposed(), x, dw, 1, 0, nullptr, precision);
}

void linear_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db) {
  ENTER(linear_backward_bias, queue, dy, db);
  require_matrix("linear_backward_bias", "dy", dy);
  require(db.shape == Dims{dy.shape[1]}, "linear_backward_bias: expected db of shape [", dy.shape[1],
          "], got ", db.shape);
  static const ReductionOp& sum = reduction("sum");
  reduce(queue, sum, dy, dim_mask({0}, 2, "linear_backward_bias"), db);
}

}  // namespace dlprim
