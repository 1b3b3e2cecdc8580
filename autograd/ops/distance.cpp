#include "autograd/ops/distance.h"

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

using dlprim::require;

void require_order(const char* op, double p) {
  require(p >= 0, op, ": only supports non-negative p values, got ", p);
}

/** The norms of the last dimension, which may be empty. */
Tensor row_norms(const Tensor& rows, double p) {
  return rows.size(-1) > 0 ? norm(rows, p, {-1}) : sum(rows, {-1});
}

/** The Euclidean distances by |a|^2 + |b|^2 - 2 ab. Rounding may leave squares below 0. */
Tensor distances_by_product(const Tensor& a, const Tensor& b) {
  const Tensor lengths = sum(square(a), {-1}, true), others = transpose(sum(square(b), {-1}, true), -1, -2);
  const Tensor squares = clamp_min(lengths + others - matmul(a, transpose(b, -1, -2)) * 2, 0);
  const Tensor is_zero = eq(squares, 0);  // where the root has no slope
  return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, squares)));
}

Tensor distances_by_difference(const Tensor& a, const Tensor& b, double p) {
  return row_norms(unsqueeze(a, -2) - unsqueeze(b, -3), p);
}

/** Whether the distances come from a matrix product, as PyTorch decides it. */
bool uses_product(const Tensor& a, const Tensor& b, double p, const std::string& compute_mode) {
  const bool if_large = compute_mode == "use_mm_for_euclid_dist_if_necessary";
  const bool always = compute_mode == "use_mm_for_euclid_dist";
  require(if_large || always || compute_mode == "donot_use_mm_for_euclid_dist", "cdist: ", compute_mode,
          " is not a valid value for compute_mode");
  return p == 2 && (always || (if_large && (a.size(-2) > 25 || b.size(-2) > 25)));
}

/** `a` held at `low` or above, with the gradient of `a` itself. */
Tensor raised(const Tensor& a, double low) {
  const Tensor values = a.detach();
  return where(lt(values, low), a + (low - values), a);
}

Tensor vector_lengths(const Tensor& a, std::int64_t dim, double eps) {
  return raised(norm(a, 2, {dim}, true), eps);
}

/** The rows i < j of every pair of `count` rows: (0, 1), (0, 2), ..., (1, 2), ... */
TensorPair places_of_pairs(std::int64_t count, const Device& device) {
  const std::int64_t pairs = dlprim::product({count, count - 1}) / 2;
  // Row i begins at pair i (2 count - 1 - i) / 2.
  const auto begin_of = [&](const Tensor& row) { return floor_divide(row * (2 * count - 1 - row), 2); };
  const Tensor later_rows = arange(1, count - 1, 1, DType::int64, device);
  const Tensor nothing = zeros({pairs}, DType::int64, device);
  const Tensor marks = scatter_add(nothing, 0, begin_of(later_rows), ones_like(later_rows));
  const Tensor first = cumsum(marks, 0);
  return {first, arange(0, pairs, 1, DType::int64, device) - begin_of(first) + first + 1};
}

}  // namespace

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  ENTER_OPERATOR(pairwise_distance, x1, x2, p, eps, keepdim);
  const DType dtype = result_type({x1, x2, eps});
  return to(norm(in_compute_dtype(x1) - in_compute_dtype(x2) + eps, p, {-1}, keepdim), dtype);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) {
  ENTER_OPERATOR(cosine_similarity, x1, x2, dim, eps);
  require(eps >= 0, "cosine_similarity: eps must be non-negative, got ", eps);
  const DType dtype = result_type({x1, x2});
  require<TypeError>(is_floating(dtype), "cosine_similarity: expected a floating dtype, got ",
                     name(x1.dtype()), " and ", name(x2.dtype()));
  const std::vector<std::int64_t> shape =
      dlprim::broadcast_shapes(x1.shape(), x2.shape(), "cosine_similarity").vector();
  const DType wide = dlprim::compute_dtype(dtype);
  const Tensor a = expand(to(x1, wide), shape), b = expand(to(x2, wide), shape);
  const Tensor products = (a / vector_lengths(a, dim, eps)) * (b / vector_lengths(b, dim, eps));
  return to(sum(products, {dim}), dtype);
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, const std::string& compute_mode) {
  ENTER_OPERATOR(cdist, x1, x2, p, compute_mode);
  require<TypeError>(is_floating(x1.dtype()) && x1.dtype() == x2.dtype(),
                     "cdist: expected x1 and x2 of one floating dtype, got ", name(x1.dtype()), " and ",
                     name(x2.dtype()));
  require(x1.dim() >= 2 && x2.dim() >= 2, "cdist: expected at least two dimensions, got shapes ", x1.shape(),
          " and ", x2.shape());
  require(x1.size(-1) == x2.size(-1), "cdist: x1 and x2 must have the same number of columns, got shapes ",
          x1.shape(), " and ", x2.shape());
  require_order("cdist", p);
  const Tensor a = in_compute_dtype(x1), b = in_compute_dtype(x2);
  const Tensor distances =
      uses_product(x1, x2, p, compute_mode) ? distances_by_product(a, b) : distances_by_difference(a, b, p);
  return to(distances, x1.dtype());
}

Tensor pdist(const Tensor& input, double p) {
  ENTER_OPERATOR(pdist, input, p);
  require<TypeError>(is_floating(input.dtype()), "pdist: expected a floating dtype, got ",
                     name(input.dtype()));
  require(input.dim() == 2, "pdist: expected a matrix, got shape ", input.shape());
  require_order("pdist", p);
  const std::int64_t count = input.size(0);
  const Tensor rows = in_compute_dtype(input);
  if (count < 2) return to(row_norms(narrow(rows, 0, 0, 0), p), input.dtype());
  const auto [first, second] = places_of_pairs(count, input.device());
  return to(row_norms(index_select(rows, 0, first) - index_select(rows, 0, second), p), input.dtype());
}

}  // namespace ocl
