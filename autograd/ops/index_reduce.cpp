#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/sort.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"

/** \file Reductions into the places that an index names. */

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

/** Elements of `source` go to `index` along `dim`; both have one shape, and at least one dimension. */
struct PlacedSources {
  std::int64_t dim;
  Tensor index, source;
  bool include_self;

  /** `a` with a number at the places that are written. */
  Tensor with_number(const Tensor& a, const Scalar& value) const { return scatter(a, dim, index, value); }
  /** The tensor that the sources are reduced into. Without `include_self` it holds `neutral` at their places.
   */
  Tensor start(const Tensor& a, const Scalar& neutral) const {
    return include_self ? a : with_number(a, neutral);
  }
  Tensor is_written(const Tensor& a) const {
    return with_number(zeros(a.shape().vector(), DType::boolean, a.device()), true);
  }
};

Tensor mean_into(const Tensor& a, const PlacedSources& r) {
  const Tensor total = scatter_add(r.start(a, 0), r.dim, r.index, r.source);
  const Tensor one = full(a.shape().vector(), 1, a.dtype(), a.device());
  const Tensor ones_of_source = full(r.source.shape().vector(), 1, a.dtype(), a.device());
  const Tensor count = clamp_min(scatter_add(r.start(one, 0), r.dim, r.index, ones_of_source), 1);
  return is_floating(a.dtype()) ? div(total, count) : floor_divide(total, count);
}

/** The places' products by operators, for gradients that divide by no element. Runs of equal places grow; the
 * last element of a run has the whole product. */
Tensor composed_product(const Tensor& a, const PlacedSources& r) {
  const std::int64_t n = r.index.size(r.dim);
  const Tensor order = argsort(r.index, r.dim);
  const Tensor places = gather(r.index, r.dim, order);
  Tensor products = gather(r.source, r.dim, order);
  for (std::int64_t run = 1; run < n; run *= 2) {
    const auto earlier = [&](const Tensor& t) { return narrow(t, r.dim, 0, n - run); };
    const auto later = [&](const Tensor& t) { return narrow(t, r.dim, run, n - run); };
    const Tensor joined =
        where(eq(earlier(places), later(places)), earlier(products) * later(products), later(products));
    products = cat({narrow(products, r.dim, 0, run), joined}, r.dim);
  }
  // scatter keeps the last of several writes to one place. It alone gets the gradient.
  const Tensor ends = ne(narrow(places, r.dim, 0, n - 1), narrow(places, r.dim, 1, n - 1));
  Dims one = places.shape();
  one[static_cast<int>(r.dim)] = 1;
  const Tensor is_last = cat({ends, ones(one.vector(), DType::boolean, a.device())}, r.dim);
  const Tensor whole = scatter(r.start(a, 1), r.dim, places, where(is_last, products, products.detach()));
  return r.include_self ? where(r.is_written(a), whole * a, a) : whole;
}

Tensor product_into(const Tensor& a, const PlacedSources& r) {
  // Products are rounded to 16 bits once.
  Tensor result = r.include_self ? in_compute_dtype(a.detach()).clone(MemoryFormat::contiguous)
                                 : in_compute_dtype(r.with_number(a.detach(), 1));
  reduce_into_(result, r.dim, r.index, in_compute_dtype(r.source.detach()), dlprim::PlaceReduction::product);
  return record("ScatterReduceBackward", {a, r.source}, to(result, a.dtype()).data(), [&] {
    return [a = SavedTensor(a), source = SavedTensor(r.source), index = SavedTensor(r.index), dim = r.dim,
            include_self = r.include_self](const TensorList& gradients) {
      const bool is_recorded = grad_enabled();
      const Tensor places(index.unpack());
      const GradMode recording(true);
      TensorList found =
          gradients_by_composition({a.input(0), source.input(1)}, gradients, [&](const TensorList& inputs) {
            return TensorList{composed_product(inputs[0], {dim, places, inputs[1], include_self})};
          });
      if (!is_recorded)
        for (Tensor& g : found)
          if (g.defined()) g = g.detach();
      return found;
    };
  });
}

Tensor extreme_of(const Tensor& a, const PlacedSources& r, bool largest) {
  // Without the input a source of each place comes first, whichever it is.
  Tensor result = r.include_self ? a.clone(MemoryFormat::contiguous) : scatter(a, r.dim, r.index, r.source);
  reduce_into_(result, r.dim, r.index, r.source,
               largest ? dlprim::PlaceReduction::largest : dlprim::PlaceReduction::least);
  return result;
}

Tensor extreme_into(const Tensor& a, const PlacedSources& r, bool largest) {
  const PlacedSources given{r.dim, r.index, r.source.detach(), r.include_self};
  const Tensor input = a.detach(), result = extreme_of(input, given, largest);
  return record("ScatterReduceBackward", {a, r.source}, result.data(), [&] {
    // Equal extremes share the gradient; an input that does not count has none.
    const Tensor input_is_it = to(eq(input, result), a.dtype());
    const Tensor source_is_it = to(eq(given.source, gather(result, r.dim, r.index)), a.dtype());
    const Tensor sharers = scatter_add(input_is_it, r.dim, r.index, source_is_it);
    Tensor of_input = div(input_is_it, sharers);
    if (!r.include_self) of_input = r.with_number(of_input, 0);
    const Tensor of_source = div(source_is_it, gather(sharers, r.dim, r.index));
    return [of_input, of_source, dim = r.dim, index = SavedTensor(r.index)](const TensorList& g) {
      return TensorList{g[0] * of_input, gather(g[0], dim, Tensor(index.unpack())) * of_source};
    };
  });
}

Tensor reduced_into(const Tensor& a, const PlacedSources& r, const std::string& reduce) {
  if (r.index.numel() == 0) return a.clone();
  if (reduce == "sum") return scatter_add(r.start(a, 0), r.dim, r.index, r.source);
  if (reduce == "mean") return mean_into(a, r);
  if (reduce == "prod") return product_into(a, r);
  return extreme_into(a, r, reduce == "amax");
}

void require_like(const char* op, const Tensor& a, const Tensor& index, const Tensor& source) {
  require_one_device(op, {a, index, source});
  require<TypeError>(a.dtype() == source.dtype(), op, ": expected input (", name(a.dtype()), ") and source (",
                     name(source.dtype()), ") of the same dtype");
  require<TypeError>(index.dtype() == DType::int64 || index.dtype() == DType::int32, op,
                     ": expected an index of dtype int64 or int32, got ", name(index.dtype()));
}

}  // namespace

Tensor scatter_reduce(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src,
                      const std::string& reduce, bool include_self) {
  ENTER_OPERATOR(scatter_reduce, a, dim, index, src, reduce, include_self);
  constexpr const char* op = "scatter_reduce";
  const std::string how = reduce == "max" || reduce == "min" ? "a" + reduce : reduce;
  require(how == "sum" || how == "prod" || how == "mean" || how == "amax" || how == "amin", op,
          ": reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  require_like(op, a, index, src);
  const int d = wrap_dim(dim, a.dim(), op);
  if (a.dim() == 0)
    return reshape(
        scatter_reduce(reshape(a, {1}), 0, reshape(index, {-1}), reshape(src, {-1}), reduce, include_self),
        {});
  if (index.numel() == 0) return a.clone();
  require(index.dim() == src.dim(), op, ": index of shape ", index.shape(), " and src of shape ", src.shape(),
          " must have the same number of dimensions");
  Tensor fitting = src;
  for (int i = 0; i < src.dim(); ++i) {
    require(index.size(i) <= src.size(i), op, ": expected index ", index.shape(),
            " to be no larger than src ", src.shape());
    fitting = narrow(fitting, i, 0, index.size(i));
  }
  return reduced_into(a, {d, index, fitting, include_self}, how);
}

Tensor index_reduce(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                    const std::string& reduce, bool include_self) {
  ENTER_OPERATOR(index_reduce, a, dim, index, source, reduce, include_self);
  constexpr const char* op = "index_reduce";
  require(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", op,
          ": reduce argument must be either prod, mean, amax or amin, got ", reduce);
  require_like(op, a, index, source);
  require<IndexError>(index.dim() <= 1, op, ": index is supposed to be a vector, got shape ", index.shape());
  const int d = wrap_dim(dim, a.dim(), op);
  if (a.dim() == 0)
    return reshape(index_reduce(reshape(a, {1}), 0, index, reshape(source, {-1}), reduce, include_self), {});
  Dims expected = a.shape();
  expected[d] = index.numel();
  require<IndexError>(source.shape() == expected, op, ": expected a source of shape ", expected,
                      " for input of shape ", a.shape(), ", dim ", d, " and ", index.numel(),
                      " indices, got ", source.shape());
  std::vector<std::int64_t> along(static_cast<std::size_t>(a.dim()), 1);
  along[static_cast<std::size_t>(d)] = index.numel();
  const Tensor places = expand(reshape(index, along), expected.vector());
  return reduced_into(a, {d, places, source, include_self}, reduce);
}

}  // namespace ocl
