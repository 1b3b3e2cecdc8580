#include "dlprim/ops/norm/row_norm.h"

#include <array>
#include <optional>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/norm/norm_shared.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/row_implementations.h"

namespace dlprim {
namespace {

RowNormExtents extents_of(Queue& queue, const char* op, const NormRows& rows, const Tensor& x) {
  require_floating(x.dtype, queue.device(), op);
  require_elements(op, "the input", x, rows.rows * rows.n, x.dtype);
  kernel_int(product({rows.period, rows.weights}), op, "a number of weights");
  return {rows.rows, kernel_int(rows.n, op, "a row"), kernel_int(rows.period, op, "a number of groups"),
          rows.weights};
}

/** The elements that a work item reads at once: vectors where all tensors hold such, and none of a row's
 * weights ends within one. */
template <class Problem>
int width_of(const Problem& p) {
  constexpr int vector = 4;
  const std::int64_t of_weight = p.e.n / p.e.weights;
  if (p.e.n % vector != 0 || (of_weight > 1 && of_weight % vector != 0)) return 1;
  for (const Tensor* t : p.tensors())
    if (t && !is_aligned_to(vector, *t)) return 1;
  return vector;
}

template <class Problem>
Kernel& row_kernel(Queue& queue, const Problem& p) {
  Defines defines = dtype_defines(p.x.dtype).set("CENTERED", p.mean ? 1 : 0);
  if (!queue.device().info().runs_cpu_kernels())
    defines.set("WIDTH", width_of(p)).set("BY_ELEMENT", p.e.weights == p.e.n ? 1 : 0);
  return queue.kernel("ops/norm/row_norm.cl", Problem::kernel, defines);
}

/** y and the statistics from x. */
struct ForwardProblem {
  RowNormExtents e;
  const Tensor& x;
  const Tensor *weight, *bias;
  double eps;
  const Tensor& y;
  const Tensor* mean;
  const Tensor& invstd;

  std::optional<ProblemKey> key() const {
    if (y.overlaps(x)) return std::nullopt;
    return ProblemKey(e.rows, e.n, e.period, e.weights, x.dtype, weight != nullptr, bias != nullptr,
                      mean != nullptr);
  }
  static constexpr const char* kernel = "row_norm_forward";
  std::array<const Tensor*, 4> tensors() const { return {&x, weight, bias, &y}; }
  std::int64_t rows() const { return e.rows; }
  std::int64_t row_length() const { return e.n; }
  std::int64_t row_pieces() const { return e.n / width_of(*this); }
  void launch(Queue& queue, const Range& range) const {
    with_real(x.dtype, [&](auto zero) {
      queue.launch(row_kernel(queue, *this), range, x, e, Optional{weight}, Optional{bias},
                   static_cast<decltype(zero)>(eps), y, Optional{mean}, invstd);
    });
  }
};

/** dx and the terms of the weight's gradient from dy and x. */
struct BackwardProblem {
  RowNormExtents e;
  const Tensor &dy, &x;
  const Tensor *weight, *mean;
  const Tensor &invstd, &dx;
  const Tensor* weight_terms;

  std::optional<ProblemKey> key() const {
    if (dx.overlaps(dy) || dx.overlaps(x)) return std::nullopt;
    return ProblemKey(e.rows, e.n, e.period, e.weights, x.dtype, weight != nullptr, mean != nullptr,
                      weight_terms != nullptr);
  }
  static constexpr const char* kernel = "row_norm_backward";
  std::array<const Tensor*, 5> tensors() const { return {&dy, &x, weight, &dx, weight_terms}; }
  std::int64_t rows() const { return e.rows; }
  std::int64_t row_length() const { return e.n; }
  std::int64_t row_pieces() const { return e.n / width_of(*this); }
  void launch(Queue& queue, const Range& range) const {
    queue.launch(row_kernel(queue, *this), range, dy, x, e, Optional{weight}, Optional{mean}, invstd, dx,
                 Optional{weight_terms});
  }
};

const ImplementationList<ForwardProblem> forward_implementations("row_norm_forward",
                                                                 row_implementations<ForwardProblem>());
const ImplementationList<BackwardProblem> backward_implementations("row_norm_backward",
                                                                   row_implementations<BackwardProblem>());

}  // namespace

NormRows layer_norm_rows(const char* op, const Dims& x, const Dims& normalized_shape) {
  require(normalized_shape.size() > 0, op, ": expected normalized_shape to have at least one dimension");
  const int leading = x.size() - normalized_shape.size();
  require(leading >= 0 && Dims(x.begin() + leading, x.end()) == normalized_shape, op,
          ": given normalized_shape ", normalized_shape,
          ", expected an input of shape [*, ...] that ends with it, got ", x);
  const std::int64_t n = product(normalized_shape);
  return {product(Dims(x.begin(), x.begin() + leading)), n, 1, n};
}

NormRows group_norm_rows(const char* op, const Dims& x, std::int64_t groups) {
  require(x.size() >= 2, op, ": expected at least 2 dimensions [N, C, ...], got shape ", x);
  require(groups > 0 && x[1] % groups == 0, op,
          ": expected number of channels in input to be divisible by num_groups, got input of shape ", x,
          " and num_groups=", groups);
  const std::int64_t channels = x[1] / groups, n = channels * product(Dims(x.begin() + 2, x.end()));
  require(x[0] * n != 1, op, ": expected more than 1 value per channel when training, got input size ", x);
  return {product({x[0], groups}), n, groups, channels};
}

void row_norm_forward(Queue& queue, const NormRows& rows, const Tensor& x, const Tensor* weight,
                      const Tensor* bias, double eps, const Tensor& y, const Tensor* mean,
                      const Tensor& invstd) {
  ENTER(row_norm_forward, queue, rows, x, weight, bias, eps, y, mean, invstd);
  constexpr const char* op = "row_norm";
  const RowNormExtents e = extents_of(queue, op, rows, x);
  require_elements(op, "weight", weight, rows.period * rows.weights, x.dtype);
  require_elements(op, "bias", bias, rows.period * rows.weights, x.dtype);
  require_elements(op, "the result", y, x.numel(), x.dtype);
  require_elements(op, "mean", mean, rows.rows, compute_dtype(x.dtype));
  require_elements(op, "invstd", invstd, rows.rows, compute_dtype(x.dtype));
  if (x.numel() > 0) forward_implementations.run(queue, {e, x, weight, bias, eps, y, mean, invstd});
}

void row_norm_backward(Queue& queue, const NormRows& rows, const Tensor& dy, const Tensor& x,
                       const Tensor* weight, const Tensor* mean, const Tensor& invstd, const Tensor& dx,
                       const Tensor* weight_terms) {
  ENTER(row_norm_backward, queue, rows, dy, x, weight, mean, invstd, dx, weight_terms);
  constexpr const char* op = "row_norm backward";
  const RowNormExtents e = extents_of(queue, op, rows, x);
  require_elements(op, "the gradient", dy, x.numel(), x.dtype);
  require_elements(op, "weight", weight, rows.period * rows.weights, x.dtype);
  require_elements(op, "mean", mean, rows.rows, compute_dtype(x.dtype));
  require_elements(op, "invstd", invstd, rows.rows, compute_dtype(x.dtype));
  require_elements(op, "dx", dx, x.numel(), x.dtype);
  require_elements(op, "the terms", weight_terms, x.numel(), compute_dtype(x.dtype));
  if (x.numel() > 0) backward_implementations.run(queue, {e, dy, x, weight, mean, invstd, dx, weight_terms});
}

}  // namespace dlprim
