#include "autograd/ops/sort.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/scalar.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/sort/sort.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

/** Positions along `dim` in the order of the elements, of the first `count` where it is given; int64,
 * contiguous. */
Tensor order_along(const char* op, const Tensor& a, std::int64_t dim, bool descending,
                   std::optional<std::int64_t> count = {}) {
  if (a.dim() == 0) {
    wrap_dim(dim, 0, op);
    return zeros({}, DType::int64, a.device());
  }
  const int d = wrap_dim(dim, a.dim(), op);
  const Tensor along_last = contiguous(transpose(a.detach(), d, -1));
  const std::int64_t n = along_last.size(-1);
  Dims first = along_last.shape();
  first[first.size() - 1] = count.value_or(n);
  const dlprim::Tensor order = dlprim::Tensor::empty(*a.device(), first, DType::int32);
  const std::int64_t rows = n == 0 ? 0 : a.numel() / n;
  dlprim::sort_order(a.device()->queue(), along_last.data().reshaped({rows, n}), descending,
                     order.reshaped({rows, count.value_or(n)}));
  return contiguous(to(transpose(Tensor(order), d, -1), DType::int64));
}

/** The elements of `a` that `order` names along `dim`, no two of them the same. */
Tensor picked(const char* node, const Tensor& a, std::int64_t dim, const Tensor& order) {
  const Tensor values = gather(a.detach(), dim, order);
  return record(node, {a}, values.data(), [&] {
    const SavedTensor kept(order);
    return linear_gradient(
        node,
        [dim, kept, shape = a.shape()](const Tensor& g) {
          Tensor whole = zeros(shape.vector(), g.dtype(), g.device());
          scatter_distinct_(whole, dim, Tensor(kept.unpack()), g);
          return whole;
        },
        [dim, kept](const Tensor& g) { return gather(g, dim, Tensor(kept.unpack())); });
  });
}

/** The element of every row along `dim` that stands at `place` in ascending order, and where it stands.
 * `place`: int64, with size 1 along `dim`; not read for a scalar. */
std::pair<Tensor, Tensor> picked_at(const char* node, const Tensor& a, std::int64_t dim, const Tensor& order,
                                    const Tensor& place, bool keepdim) {
  if (a.dim() == 0) return {picked(node, a, dim, order), order};
  const Tensor indices = gather(order, dim, place), values = picked(node, a, dim, indices);
  if (keepdim) return {values, indices};
  return {squeeze(values, dim), squeeze(indices, dim)};
}

/** Throws where there is nothing to choose from along `dim`. */
void require_choice(const char* op, const Tensor& a, std::int64_t dim) {
  const int d = wrap_dim(dim, a.dim(), op);
  require<IndexError>(a.dim() == 0 || a.size(d) > 0, op,
                      ": expected reduction dim to have non-zero size, got shape ", a.shape());
}

void require_numbers(const char* op, const Tensor& a) {
  require<TypeError>(a.dtype() != DType::boolean, op, ": expected numbers, got bool");
}

/** Where the medians stand in ascending order: the lower of two, among those that are no NaN; without
 * `ignores_nan` the first NaN where there is one. */
Tensor place_of_median(const Tensor& a, std::int64_t dim, bool ignores_nan) {
  const Tensor known = sum(logical_not(isnan(a)), {dim}, true);
  const Tensor lower = clamp_min(floor_divide(known - 1, 2), 0);
  return ignores_nan ? lower : where(eq(known, a.size(dim)), lower, known);
}

std::pair<Tensor, Tensor> medians(const char* op, const char* node, const Tensor& a, std::int64_t dim,
                                  bool keepdim, bool ignores_nan) {
  require_numbers(op, a);
  require_choice(op, a, dim);
  const Tensor place = a.dim() ? place_of_median(a.detach(), dim, ignores_nan) : Tensor();
  return picked_at(node, a, dim, order_along(op, a, dim, false), place, keepdim);
}

/** The median of no elements. */
Tensor median_of_nothing(const Tensor& a) {
  if (is_floating(a.dtype())) return full({}, std::nan(""), a.dtype(), a.device());
  return full({}, dlprim::integer_range(a.dtype()).first, a.dtype(), a.device());
}

Tensor whole_median(const char* op, const char* node, const Tensor& a, bool ignores_nan) {
  require_numbers(op, a);
  const Tensor given = a.detach();
  const Tensor median = a.numel() == 0 ? median_of_nothing(a)
                                       : medians(op, node, reshape(given, {-1}), 0, false, ignores_nan).first;
  return record(node, {a}, median.data(), [&] {
    // Each of the elements that equal the median has the same share of it.
    const Tensor chosen = logical_or(eq(given, median), logical_and(isnan(given), isnan(median)));
    const SavedTensor kept(div(to(chosen, a.dtype()), sum(chosen)));
    return linear_gradient(
        node, [kept](const Tensor& g) { return mul(Tensor(kept.unpack()), g); },
        [kept](const Tensor& x) { return sum(mul(Tensor(kept.unpack()), x)); });
  });
}

}  // namespace

Tensor argsort(const Tensor& a, std::int64_t dim, bool descending) {
  ENTER_OPERATOR(argsort, a, dim, descending);
  return order_along("argsort", a, dim, descending);
}

std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t dim, bool descending) {
  ENTER_OPERATOR(sort, a, dim, descending);
  const Tensor order = order_along("sort", a, dim, descending);
  return {picked("SortBackward", a, dim, order), order};
}

std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
  ENTER_OPERATOR(topk, a, k, dim, largest, sorted);
  require<TypeError>(a.dtype() != DType::boolean, "topk: expected numbers, got bool");
  const std::int64_t size = a.dim() ? a.shape()[wrap_dim(dim, a.dim(), "topk")] : 1;
  require(k >= 0 && k <= size, "topk: selected index k out of range: ", k, " of ", size, " elements");
  const Tensor first = order_along("topk", a, dim, largest, k);
  return {picked("TopkBackward", a, dim, first), first};
}

std::pair<Tensor, Tensor> kthvalue(const Tensor& a, std::int64_t k, std::int64_t dim, bool keepdim) {
  ENTER_OPERATOR(kthvalue, a, k, dim, keepdim);
  require_numbers("kthvalue", a);
  require_choice("kthvalue", a, dim);
  const std::int64_t size = a.dim() ? a.size(dim) : 1;
  require(k >= 1 && k <= size, "kthvalue: selected number k out of range: ", k, " of ", size, " elements");
  const Tensor order = order_along("kthvalue", a, dim, false, k);
  Tensor place;
  if (a.dim() > 0) {
    Dims shape = a.shape();
    shape[wrap_dim(dim, a.dim(), "kthvalue")] = 1;
    place = full(shape.vector(), k - 1, DType::int64, a.device());
  }
  return picked_at("KthvalueBackward", a, dim, order, place, keepdim);
}

Tensor median(const Tensor& a) {
  ENTER_OPERATOR(median, a);
  return whole_median("median", "MedianBackward", a, false);
}

std::pair<Tensor, Tensor> median(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OVERLOAD(median, dim, a, dim, keepdim);
  return medians("median", "MedianBackward", a, dim, keepdim, false);
}

Tensor nanmedian(const Tensor& a) {
  ENTER_OPERATOR(nanmedian, a);
  return whole_median("nanmedian", "NanmedianBackward", a, true);
}

std::pair<Tensor, Tensor> nanmedian(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OVERLOAD(nanmedian, dim, a, dim, keepdim);
  return medians("nanmedian", "NanmedianBackward", a, dim, keepdim, true);
}

std::pair<Tensor, Tensor> mode(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OPERATOR(mode, a, dim, keepdim);
  require_choice("mode", a, dim);
  const Tensor order = order_along("mode", a, dim, false);
  if (a.dim() == 0) return picked_at("ModeBackward", a, dim, order, Tensor(), keepdim);
  // Equal elements stand in runs. The place where its run begins tells how many of them came before an
  // element.
  const int d = wrap_dim(dim, a.dim(), "mode");
  const std::int64_t n = a.size(d);
  const Tensor sorted = gather(a.detach(), d, order);
  std::vector<std::int64_t> along(static_cast<std::size_t>(a.dim()), 1);
  along[static_cast<std::size_t>(d)] = n;
  const Tensor places = reshape(arange(0, n, 1, DType::int64, a.device()), along);
  const Tensor begins = ne(narrow(sorted, d, 1, n - 1), narrow(sorted, d, 0, n - 1));
  const Tensor later = where(begins, narrow(places, d, 1, n - 1), 0);
  Dims first = a.shape();
  first[d] = 1;
  const Tensor start = cummax(cat({zeros(first.vector(), DType::int64, a.device()), later}, d), d).first;
  return picked_at("ModeBackward", a, d, order, argmax(places - start, d, true), keepdim);
}

namespace {

/** Places between the elements of a row, which `interpolation` may move onto one. */
Tensor moved_place(const char* op, const Tensor& place, const std::string& interpolation) {
  if (interpolation == "linear" || interpolation == "midpoint") return place;
  if (interpolation == "lower") return floor(place);
  if (interpolation == "higher") return ceil(place);
  require(interpolation == "nearest", op,
          ": interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
          interpolation);
  return round(place);
}

/** The parts `q` as [k], of the dtype that `x` is computed in. */
Tensor checked_parts(const char* op, const Tensor& a, const Operand& q, DType computed_in) {
  const auto check = [op](double part) {
    require(part >= 0 && part <= 1, op, ": q values must be in the range [0, 1], got ", part);
  };
  if (!q.is_tensor()) {
    check(q.number().real());
    return full({1}, q.number(), computed_in, a.device());
  }
  const Tensor& parts = q.tensor();
  require<TypeError>(parts.dtype() == a.dtype(), op,
                     ": q tensor must be same dtype as the input tensor, got ", name(parts.dtype()), " and ",
                     name(a.dtype()));
  require(parts.dim() <= 1, op, ": q must be a scalar or 1D tensor, got shape ", parts.shape());
  for (const double part : to(parts.detach(), DType::float64).to_vector<double>()) check(part);
  return reshape(to(parts, computed_in), {-1});
}

Tensor quantiles(const char* op, const Tensor& a, const Operand& q, std::optional<std::int64_t> dim,
                 bool keepdim, const std::string& interpolation, bool ignores_nan) {
  require<TypeError>(is_floating(a.dtype()), op, ": expected a floating dtype, got ", name(a.dtype()));
  require(a.numel() > 0, op, ": input tensor must be non-empty, got shape ", a.shape());
  const int d = dim ? wrap_dim(*dim, a.dim(), op) : 0;
  const Tensor x = in_compute_dtype(dim && a.dim() > 0 ? movedim(a, {d}, {-1}) : reshape(a, {-1}));
  const Tensor parts = checked_parts(op, a, q, x.dtype());
  const std::int64_t n = x.size(-1);
  const Tensor sorted = sort(x, -1, false).first;
  // NaN stands behind the numbers: where one counts, it is the result.
  const Tensor numbers = sum(logical_not(isnan(x.detach())), {-1}, true);
  const Tensor last =
      to(ignores_nan ? clamp_min(numbers - 1, 0) : full({}, n - 1, DType::int64, a.device()), x.dtype());
  Tensor place = mul(last, parts);
  if (!ignores_nan) place = where(lt(numbers, n), n - 1, place);
  place = moved_place(op, place, interpolation);
  Tensor result = gather(sorted, -1, to(place.detach(), DType::int64));
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor next = gather(sorted, -1, to(ceil(place.detach()), DType::int64));
    result = lerp(
        result, next,
        interpolation == "linear" ? sub(place, floor(place.detach())) : full({}, 0.5, x.dtype(), a.device()));
  }
  result = to(result, a.dtype());
  result = movedim(result, {-1}, {0});  // [k, …]
  if (keepdim && dim && a.dim() > 0) result = unsqueeze(result, d + 1);
  if (keepdim && !dim) {
    std::vector<std::int64_t> whole(static_cast<std::size_t>(a.dim()) + 1, 1);
    whole[0] = parts.size(0);
    result = reshape(result, whole);
  }
  return q.is_tensor() && q.tensor().dim() == 1 ? result : squeeze(result, 0);
}

}  // namespace

Tensor quantile(const Tensor& a, const Operand& q, std::optional<std::int64_t> dim, bool keepdim,
                const std::string& interpolation) {
  ENTER_OPERATOR(quantile, a, q, dim, keepdim, interpolation);
  return quantiles("quantile", a, q, dim, keepdim, interpolation, false);
}

Tensor nanquantile(const Tensor& a, const Operand& q, std::optional<std::int64_t> dim, bool keepdim,
                   const std::string& interpolation) {
  ENTER_OPERATOR(nanquantile, a, q, dim, keepdim, interpolation);
  return quantiles("nanquantile", a, q, dim, keepdim, interpolation, true);
}

}  // namespace ocl
