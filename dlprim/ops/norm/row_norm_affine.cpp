#include "dlprim/core/call.h"
#include "dlprim/ops/norm/row_norm.h"
#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {

void row_norm_backward_affine(Queue& queue, const NormRows& rows, const Tensor& terms,
                              const Tensor& gradient) {
  ENTER(row_norm_backward_affine, queue, rows, terms, gradient);
  constexpr const char* op = "row_norm_backward_affine";
  const std::int64_t weights = rows.period * rows.weights;
  require(terms.numel() == rows.rows * rows.n && terms.is_contiguous(), op, ": expected ", rows.rows * rows.n,
          " contiguous terms, got shape ", terms.shape);
  require(gradient.numel() == weights, op, ": expected a gradient of ", weights, " elements, got ",
          gradient.shape);
  if (weights == 0) return;
  static const ReductionOp& sum = reduction("sum");
  reduce(queue, sum, terms.reshaped({rows.rows / rows.period, weights, rows.n / rows.weights}),
         dim_mask({0, 2}, 3, op), gradient);
}

}  // namespace dlprim
