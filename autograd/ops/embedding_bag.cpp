#include <limits>

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

using dlprim::require;

/** Which of the `count` bags each of the samples belongs to. */
struct Bags {
  Tensor of_sample;  // [samples], int64, ascending
  std::int64_t count;

  /** The sums over the bags of `values` [samples, ...]. */
  Tensor sums_of(const Tensor& values) const {
    std::vector<std::int64_t> shape = values.shape().vector();
    shape[0] = count;
    return index_add(zeros(shape, values.dtype(), values.device()), 0, of_sample, values);
  }
};

/** Bags of one size, the rows of `input`. */
Bags bags_of_rows(const Tensor& input) {
  const std::int64_t count = input.size(0);
  const Tensor numbers = unsqueeze(arange(0, count, 1, DType::int64, input.device()), 1);
  return {reshape(expand(numbers, {count, input.size(1)}), {-1}), count};
}

Bags bags_from(const Tensor& offsets, std::int64_t samples, bool include_last_offset) {
  const Tensor begins = to(offsets, DType::int64);
  const Tensor marks =
      scatter_add(zeros({samples + 1}, DType::int64, offsets.device()), 0, begins, ones_like(begins));
  return {narrow(cumsum(marks, 0), 0, 0, samples) - 1, offsets.size(0) - (include_last_offset ? 1 : 0)};
}

/** For each bag that has samples and each column of `values` [samples, features], where the largest one
 * stands, of equal ones the first. */
Tensor places_of_largest(const Tensor& values, const Bags& bags) {
  const std::int64_t samples = values.size(0);
  Tensor largest = values;  // of the samples of a bag up to each
  Tensor places = unsqueeze(arange(0, samples, 1, DType::int64, values.device()), 1);
  places = expand(places, values.shape().vector());
  for (std::int64_t step = 1; step < samples; step *= 2) {
    const auto earlier = [&](const Tensor& t) { return narrow(t, 0, 0, samples - step); };
    const auto later = [&](const Tensor& t) { return narrow(t, 0, step, samples - step); };
    const Tensor is_one_bag = unsqueeze(eq(earlier(bags.of_sample), later(bags.of_sample)), 1);
    const Tensor stays = logical_and(is_one_bag, ge(earlier(largest), later(largest)));
    const auto joined = [&](const Tensor& t) {
      return cat({narrow(t, 0, 0, step), where(stays, earlier(t), later(t))}, 0);
    };
    const Tensor joined_places = joined(places);
    largest = joined(largest);
    places = joined_places;
  }
  const Tensor ends = cumsum(bags.sums_of(ones_like(bags.of_sample)), 0) - 1;
  return index_select(places, 0, clamp_min(ends, 0));
}

void check_bags(const Tensor& input, const Tensor& weight, const Tensor& offsets, const std::string& mode,
                const Tensor& per_sample_weights, bool include_last_offset) {
  constexpr const char* op = "embedding_bag";
  require<TypeError>(is_floating(weight.dtype()), op, ": expected a weight of a floating dtype, got ",
                     name(weight.dtype()));
  require(weight.dim() == 2, op, ": weight has to be a 2D Tensor, but got shape ", weight.shape());
  require(input.dim() == 1 || input.dim() == 2, op, ": input has to be 1D or 2D Tensor, but got shape ",
          input.shape());
  require(mode == "sum" || mode == "mean" || mode == "max", op,
          ": mode has to be one of sum, mean or max, got ", mode);
  require((input.dim() == 1) == offsets.defined(), op,
          ": an input [N] needs offsets, the rows of an input [B, N] are bags without any");
  if (offsets.defined()) {
    require(offsets.dim() == 1, op, ": offsets has to be a 1D Tensor, got shape ", offsets.shape());
    require<TypeError>(offsets.dtype() == DType::int64 || offsets.dtype() == DType::int32, op,
                       ": expected offsets of int64 or int32, got ", name(offsets.dtype()));
    require(!include_last_offset || offsets.size(0) > 0, op,
            ": include_last_offset: number of offsets should be at least 1");
  }
  if (!per_sample_weights.defined()) return;
  require(mode == "sum", op, ": per_sample_weights are for mode='sum' alone, got mode='", mode, "'");
  require(per_sample_weights.shape() == input.shape(), op, ": per_sample_weights of shape ",
          per_sample_weights.shape(), " must have the shape of the input, ", input.shape());
  require<TypeError>(per_sample_weights.dtype() == weight.dtype(), op,
                     ": expected weight and per_sample_weights to have the same dtype, got ",
                     name(weight.dtype()), " and ", name(per_sample_weights.dtype()));
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     const std::string& mode, const Tensor& per_sample_weights, bool include_last_offset,
                     std::optional<std::int64_t> padding_idx) {
  ENTER_OPERATOR(embedding_bag, input, weight, offsets, mode, per_sample_weights, include_last_offset,
                 padding_idx);
  check_bags(input, weight, offsets, mode, per_sample_weights, include_last_offset);
  const Tensor indices = reshape(input, {-1});
  const Tensor rows = in_compute_dtype(embedding(indices, weight, padding_idx));
  const Bags bags =
      input.dim() == 2 ? bags_of_rows(input) : bags_from(offsets, indices.size(0), include_last_offset);
  const std::int64_t padding = padding_idx.value_or(-1) + (padding_idx.value_or(0) < 0 ? weight.size(0) : 0);
  const Tensor counts = unsqueeze(ne(indices, padding), 1);  // no index is -1
  const auto with_padding = [&](double value) { return padding_idx ? where(counts, rows, value) : rows; };
  if (mode == "sum") {
    const Tensor factors = in_compute_dtype(per_sample_weights);
    const Tensor terms = with_padding(0);
    return to(bags.sums_of(factors.defined() ? terms * reshape(factors, {-1, 1}) : terms), weight.dtype());
  }
  const Tensor sizes = bags.sums_of(to(counts, rows.dtype()));
  if (mode == "mean") return to(bags.sums_of(with_padding(0)) / clamp_min(sizes, 1), weight.dtype());
  if (indices.size(0) == 0) return to(bags.sums_of(rows), weight.dtype());
  const Tensor values = with_padding(-std::numeric_limits<double>::infinity()).detach();
  const Tensor largest = gather(rows, 0, places_of_largest(values, bags));
  return to(where(gt(sizes, 0), largest, 0.0), weight.dtype());
}

}  // namespace ocl
