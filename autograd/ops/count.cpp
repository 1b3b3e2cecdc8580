#include "autograd/ops/count.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/join.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/sort.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/index/count.h"
#include "dlprim/ops/sort/search.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

void require_comparable(const char* op, const Tensor& a) {
  require<TypeError>(a.dtype() != DType::boolean, op, ": expected numbers, got bool");
}

/** The places of `values` [rows, m] in `sequences` [rows, n]: dlprim::places_in_order. */
Tensor places_in_order(const Tensor& sequences, const Tensor& values, bool right) {
  const Tensor in_order = contiguous(sequences), looked_up = contiguous(values);
  const dlprim::Tensor places = dlprim::Tensor::empty(*values.device(), looked_up.shape(), DType::int64);
  dlprim::places_in_order(values.device()->queue(), in_order.data(), looked_up.data(), right, places);
  return Tensor(places);
}

/** How often each of [0, bins) occurs in `places`, int64 [n]: int64 [bins]. */
Tensor counts_of(const Tensor& places, std::int64_t bins) {
  const Tensor given = contiguous(places);
  const dlprim::Tensor counts = dlprim::Tensor::empty(*given.device(), {bins}, DType::int64);
  dlprim::count_places(given.device()->queue(), given.data(), counts);
  return Tensor(counts);
}

Tensor places_of(const char* op, const Tensor& sequence, const Tensor& values, bool right, bool out_int32) {
  require_comparable(op, sequence);
  require_one_device(op, {sequence, values});
  require(sequence.dim() > 0, op, ": boundaries tensor should have positive dimension, but got 0 dimension");
  const std::int64_t n = sequence.size(-1);
  bool same_rows = sequence.dim() == values.dim();
  for (int d = 0; same_rows && d + 1 < sequence.dim(); ++d) same_rows = sequence.size(d) == values.size(d);
  require(
      sequence.dim() == 1 || same_rows, op,
      ": boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
      "value tensor must match, got ",
      sequence.shape(), " and ", values.shape());
  const std::int64_t rows = sequence.dim() == 1 ? 1 : n == 0 ? 0 : sequence.numel() / n;
  if (n == 0) return zeros(values.shape().vector(), out_int32 ? DType::int32 : DType::int64, values.device());
  const std::int64_t columns = rows == 0 ? 0 : values.numel() / rows;
  const DType dtype = result_type({sequence, values});
  const Tensor places = places_in_order(to(reshape(sequence.detach(), {rows, n}), dtype),
                                        to(reshape(values.detach(), {rows, columns}), dtype), right);
  return to(reshape(places, values.shape().vector()), out_int32 ? DType::int32 : DType::int64);
}

/** A tensor, or a number as a scalar beside `other`. */
Tensor tensor_of(const Operand& operand, const Tensor& other) {
  return operand.is_tensor() ? operand.tensor()
                             : full({}, operand.number(), result_type({other, operand}), other.device());
}

/** The runs of equal neighbours among entries [n, …]. */
struct Runs {
  Tensor first;    // [runs]: where each begins
  Tensor run_of;   // [n]: the number of each entry's run
  Tensor lengths;  // [runs]
};

Runs runs_of(const Tensor& entries) {
  const Device device = entries.device();
  const std::int64_t n = entries.size(0);
  if (n == 0) {
    const Tensor nothing = zeros({0}, DType::int64, device);
    return {nothing, nothing, nothing};
  }
  Tensor begins = ones({1}, DType::boolean, device);
  if (n > 1) {
    const Tensor differs = ne(narrow(entries, 0, 1, n - 1), narrow(entries, 0, 0, n - 1));
    const std::int64_t width = entries.numel() / n;
    const Tensor any_differs =
        width == 0 ? zeros({n - 1}, DType::boolean, device) : any(reshape(differs, {n - 1, width}), {1});
    begins = cat({begins, any_differs}, 0);
  }
  const Tensor first = reshape(nonzero(begins), {-1});
  const Tensor ends = cat({narrow(first, 0, 1, first.size(0) - 1), full({1}, n, DType::int64, device)}, 0);
  return {first, cumsum(begins, 0) - 1, ends - first};
}

/** The order of the rows of [n, m] by their first element, then the second and so on: m stable sorts. */
Tensor lexicographic_order(const Tensor& rows) {
  Tensor order = arange(0, rows.size(0), 1, DType::int64, rows.device());
  for (std::int64_t column = rows.size(1) - 1; column >= 0; --column) {
    const Tensor keys = index_select(select(rows, 1, column), 0, order);
    order = index_select(order, 0, argsort(keys, 0));
  }
  return order;
}

UniqueValues wanted(const Tensor& values, const Tensor& inverse, const Tensor& counts, bool wants_inverse,
                    bool wants_counts) {
  return {values, wants_inverse ? inverse : Tensor(), wants_counts ? counts : Tensor()};
}

/** The entries of `dim` one after another, or all elements without one. */
Tensor entries_of(const char* op, const Tensor& a, std::optional<std::int64_t> dim) {
  if (!dim) return reshape(a.detach(), {-1});
  require(a.dim() > 0, op, ": a scalar has no dimension ", *dim);
  return contiguous(movedim(a.detach(), {wrap_dim(*dim, a.dim(), op)}, {0}));
}

/** Entries as `entries_of` gives them, put back where they were. */
Tensor put_back(const Tensor& a, const Tensor& entries, std::optional<std::int64_t> dim) {
  return dim ? movedim(entries, {0}, {wrap_dim(*dim, a.dim(), "unique")}) : entries;
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Operand& input, bool out_int32, bool right,
                    const std::optional<std::string>& side, const Tensor& sorter) {
  ENTER_OPERATOR(searchsorted, sorted_sequence, input, out_int32, right, side, sorter);
  require(!side || *side == "left" || *side == "right",
          "searchsorted: side can only be 'left' or 'right' but got ", side.value_or(""));
  require(!side || !right || *side == "right",
          "searchsorted: side and right can't be set to opposites, got side of left while right was True");
  require(input.is_tensor() || sorted_sequence.dim() == 1,
          "searchsorted: input value can be a scalar only when boundaries tensor dimension is 1, got ",
          sorted_sequence.shape());
  Tensor sequence = sorted_sequence;
  if (sorter.defined()) {
    require<TypeError>(sorter.dtype() == DType::int64, "searchsorted: sorter must be of dtype int64, got ",
                       name(sorter.dtype()));
    require(sorter.shape() == sequence.shape(),
            "searchsorted: boundary and sorter must have the same size, got ", sequence.shape(), " and ",
            sorter.shape());
    sequence = gather(sequence.detach(), -1, sorter);
  }
  return places_of("searchsorted", sequence, tensor_of(input, sequence), right || side == "right", out_int32);
}

Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right) {
  ENTER_OPERATOR(bucketize, input, boundaries, out_int32, right);
  require(boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(",
          boundaries.dim(), ")");
  return places_of("bucketize", boundaries, input, right, out_int32);
}

Tensor isin(const Tensor& elements, const Operand& test_elements, bool assume_unique, bool invert) {
  ENTER_OPERATOR(isin, elements, test_elements, assume_unique, invert);
  if (!test_elements.is_tensor())
    return invert ? ne(elements.detach(), test_elements) : eq(elements.detach(), test_elements);
  const Tensor& tests = test_elements.tensor();
  require_one_device("isin", {elements, tests});
  if (tests.numel() == 0) return full(elements.shape().vector(), invert, DType::boolean, elements.device());
  const DType dtype = result_type({elements, tests});
  const DType compared = dtype == DType::boolean ? DType::uint8 : dtype;
  const Tensor sorted = sort(to(reshape(tests.detach(), {1, -1}), compared), 1, false).first;
  const Tensor values = to(reshape(elements.detach(), {1, -1}), compared);
  const Tensor place = clamp_max(places_in_order(sorted, values, false), sorted.size(1) - 1);
  const Tensor found = gather(sorted, 1, place);
  return reshape(invert ? ne(found, values) : eq(found, values), elements.shape().vector());
}

UniqueValues unique(const Tensor& a, bool sorted, bool return_inverse, bool return_counts,
                    std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(unique, a, sorted, return_inverse, return_counts, dim);
  const Tensor entries = entries_of("unique", a, dim);
  const std::int64_t n = entries.size(0), width = n == 0 ? 0 : entries.numel() / n;
  require(n == 0 || width > 0, "unique: there are ", n, " entries of no elements, of shape ", a.shape());
  const Tensor order =
      dim && n > 0 ? lexicographic_order(reshape(entries, {n, width})) : argsort(reshape(entries, {n}), 0);
  const Tensor in_order = index_select(entries, 0, order);
  const Runs runs = runs_of(in_order);
  Tensor inverse = index_copy(zeros({n}, DType::int64, a.device()), 0, order, runs.run_of);
  if (!dim) inverse = reshape(inverse, a.shape().vector());
  return wanted(put_back(a, index_select(in_order, 0, runs.first), dim), inverse, runs.lengths,
                return_inverse, return_counts);
}

UniqueValues unique_consecutive(const Tensor& a, bool return_inverse, bool return_counts,
                                std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(unique_consecutive, a, return_inverse, return_counts, dim);
  const Tensor entries = entries_of("unique_consecutive", a, dim);
  const Runs runs = runs_of(entries);
  return wanted(put_back(a, index_select(entries, 0, runs.first), dim),
                dim ? runs.run_of : reshape(runs.run_of, a.shape().vector()), runs.lengths, return_inverse,
                return_counts);
}

Tensor bincount(const Tensor& a, const Tensor& weights, std::int64_t minlength) {
  ENTER_OPERATOR(bincount, a, weights, minlength);
  require(minlength >= 0, "bincount: minlength should be >= 0, got ", minlength);
  require<TypeError>(!is_floating(a.dtype()) && a.dtype() != DType::boolean,
                     "bincount: expected whole numbers, got ", name(a.dtype()));
  require(a.dim() == 1, "bincount: only supports 1-d non-negative integral inputs, got shape ", a.shape());
  require(!weights.defined() || weights.shape() == a.shape(),
          "bincount: weights should be 1-d and have the same length as input, got ", a.shape());
  const DType dtype = !weights.defined()                  ? DType::int64
                      : weights.dtype() == DType::float32 ? DType::float32
                                                          : DType::float64;
  if (a.numel() == 0) return zeros({minlength}, DType::int64, a.device());
  const Tensor places = to(a, DType::int64);
  const std::vector<std::int64_t> range = stack({min(places), max(places)}, 0).to_vector<std::int64_t>();
  require(range[0] >= 0, "bincount: only supports 1-d non-negative integral inputs, got ", range[0]);
  const std::int64_t bins = std::max(range[1] + 1, minlength);
  if (!weights.defined()) return counts_of(places, bins);
  return index_add(zeros({bins}, dtype, a.device()), 0, places, to(weights.detach(), dtype));
}

Tensor histc(const Tensor& a, std::int64_t bins, const Scalar& min, const Scalar& max) {
  ENTER_OPERATOR(histc, a, bins, min, max);
  require_comparable("histc", a);
  require(bins > 0, "histc: bins must be > 0, but got ", bins);
  const Tensor flat = reshape(a.detach(), {-1});
  double low = min.real(), high = max.real();
  if (low == high && a.numel() > 0) {
    const std::vector<double> range =
        to(stack({ocl::min(flat), ocl::max(flat)}, 0), DType::float64).to_vector<double>();
    low = range[0];
    high = range[1];
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  require(std::isfinite(low) && std::isfinite(high), "histc: range of [", low, ", ", high, "] is not finite");
  require(low < high, "histc: max must be larger than min, got ", low, " and ", high);
  if (a.numel() == 0) return zeros({bins}, a.dtype(), a.device());
  const Tensor numbers = is_floating(a.dtype()) ? in_compute_dtype(flat) : to(flat, DType::float64);
  // In the arithmetic of the elements, so that those on an edge fall where PyTorch has them.
  const dlprim::Tensor counts = dlprim::Tensor::empty(*a.device(), {bins}, DType::int64);
  dlprim::count_in_bins(a.device()->queue(), contiguous(numbers).data(), low, high, counts);
  return to(Tensor(counts), a.dtype());
}

}  // namespace ocl
