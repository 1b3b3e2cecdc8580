#include "autograd/ops/reduce.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/reduce/reduce_backward.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::DimMask;
using dlprim::require;

dlprim::Tensor empty_result(const Tensor& a, DimMask mask, bool keepdim, DType dtype) {
  return dlprim::Tensor::empty(*a.device(), dlprim::reduced_shape(a.shape(), mask, keepdim), dtype);
}

Tensor reduced(const dlprim::ReductionOp& op, const Tensor& a, DimMask mask, bool keepdim, double p = 0) {
  const dlprim::Tensor result = empty_result(a, mask, keepdim, op.result_dtype(a.dtype()));
  dlprim::reduce(a.device()->queue(), op, a.data(), mask, result, {nullptr, p});
  return Tensor(result);
}

void require_elements(const char* op, const Tensor& a, DimMask mask) {
  require<IndexError>(dlprim::reduced_count(a.shape(), mask) > 0, op,
                      ": expected reduction dim to have non-zero size, got shape ", a.shape());
}

/** `t` with the reduced dimensions of `shape` in place, of size 1. */
Tensor with_kept_dims(const Tensor& t, const Dims& shape, DimMask mask) {
  return reshape(t, dlprim::reduced_shape(shape, mask, true).vector());
}

/** Of a row with a gradient, which may read the input and the result. */
Backward gradient_of(const dlprim::ReductionOp& op, const Tensor& a, const Tensor& y, DimMask mask,
                     double p = 0) {
  const bool only_spreads = op.gradient == "g";
  const bool reads_input = op.gradient == "own" || dlprim::uses_variable(op.gradient, "a");
  const bool reads_result = op.gradient == "own" || dlprim::uses_variable(op.gradient, "y");
  return [&op, mask, p, only_spreads, shape = a.shape(), dtype = a.dtype(),
          a = reads_input ? SavedTensor(a) : SavedTensor(),
          y = reads_result ? SavedTensor(y.data()) : SavedTensor()](const TensorList& gradients) {
    if (only_spreads)
      return TensorList{to(expand(with_kept_dims(gradients[0], shape, mask), shape.vector()), dtype)};
    const auto raw = [](const SavedTensor& t) { return t.defined() ? t.unpack() : dlprim::Tensor(); };
    const Tensor g = contiguous(gradients[0]), da(dlprim::Tensor::empty(*g.device(), shape, dtype));
    dlprim::reduce_backward(g.device()->queue(), op, g.data(), raw(a), raw(y), mask, da.data(), p);
    return TensorList{da};
  };
}

Tensor apply(const dlprim::ReductionOp& op, const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), a, dims, keepdim);
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), op.name.c_str());
  if (op.name == "amax" || op.name == "amin") require_elements(op.name.c_str(), a, mask);
  const Tensor result = reduced(op, a, mask, keepdim);
  if (op.gradient.empty()) return result;
  return record(op.name.c_str(), {a}, result.data(), [&] { return gradient_of(op, a, result, mask); });
}

Tensor arg_extreme(const char* name, dlprim::Extreme extreme, const Tensor& a,
                   std::optional<std::int64_t> dim, bool keepdim) {
  const DimMask mask = dlprim::dim_mask(dim ? DimList{*dim} : DimList{}, a.dim(), name);
  require_elements(name, a, mask);
  const dlprim::Tensor indices = empty_result(a, mask, keepdim, DType::int64);
  dlprim::reduce_index(a.device()->queue(), extreme, a.data(), mask, {}, indices);
  return Tensor(indices);
}

/** Its gradient is that of the forms with a dim where an element is NaN, which amax's is not. */
Tensor extreme_of_all(const char* name, const dlprim::ReductionOp& row, const Tensor& a) {
  const DimMask mask = dlprim::dim_mask({}, a.dim(), name);
  require_elements(name, a, mask);
  const Tensor result = reduced(row, a, mask, false);
  return record(name, {a}, result.data(), [&] { return gradient_of(row, a, result, mask); });
}

std::pair<Tensor, Tensor> extreme_with_index(const char* name, dlprim::Extreme extreme, const Tensor& a,
                                             std::int64_t dim, bool keepdim) {
  const int axis = dlprim::wrap_dim(dim, a.dim(), name);
  const DimMask mask = dlprim::dim_mask({dim}, a.dim(), name);
  require_elements(name, a, mask);
  const dlprim::Tensor values = empty_result(a, mask, keepdim, a.dtype()),
                       indices = empty_result(a, mask, keepdim, DType::int64);
  dlprim::reduce_index(a.device()->queue(), extreme, a.data(), mask, values, indices);
  const TensorList results = record_many(name, {a}, {values, indices}, [&] {
    return [indices = SavedTensor(indices), shape = a.shape(), axis](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor da = dlprim::Tensor::empty(*g.device(), shape, g.dtype());
      dlprim::place_at_index(g.device()->queue(), g.data(), indices.unpack(), axis, da);
      return TensorList{Tensor(da)};
    };
  });
  return {results[0], results[1]};
}

/** Records var or std together with the mean, as `results`. */
std::pair<Tensor, Tensor> moments(const char* name, bool root, const Tensor& a, const DimList& dims,
                                  double correction, bool keepdim) {
  dlprim::require_floating(a.dtype(), *a.device(), name);
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), name);
  dlprim::Queue& queue = a.device()->queue();
  // The variance may be more than 16 bits hold where its root is not.
  const DType wide = dlprim::compute_dtype(a.dtype());
  const dlprim::Tensor mean = empty_result(a, mask, keepdim, wide),
                       spread = empty_result(a, mask, keepdim, root ? wide : a.dtype());
  dlprim::variance(queue, a.data(), mask, correction, mean, spread);
  if (root)
    dlprim::pointwise(queue, dlprim::forward_expression(dlprim::pointwise_op("sqrt")), wide, {spread}, {},
                      {spread});
  const auto rounded = [&](const dlprim::Tensor& t) { return to(Tensor(t), a.dtype()).data(); };
  // The tape keeps the mean, which may be written in place where it is given out.
  const bool is_shared = needs_tape({a}) && wide == a.dtype();
  const dlprim::Tensor given_mean = is_shared ? Tensor(mean).clone().data() : rounded(mean);
  const TensorList results = record_many(name, {a}, {rounded(spread), given_mean}, [&] {
    return [a = SavedTensor(a), mean = SavedTensor(mean), y = root ? SavedTensor(spread) : SavedTensor(),
            mask, correction](const TensorList& g) {
      const dlprim::Tensor& input = a.unpack();
      const auto raw = [](const Tensor& t) { return t.defined() ? contiguous(t).data() : dlprim::Tensor(); };
      const Tensor da(dlprim::Tensor::empty(input.device(), input.shape, input.dtype));
      dlprim::variance_backward(input.device().queue(), raw(g[0]), raw(g[1]), input, mean.unpack(),
                                raw_or_null(y), mask, correction, da.data());
      return TensorList{da};
    };
  });
  return {results[0], results[1]};
}

const dlprim::ReductionOp& norm_row(double p) {
  const char* name = p == 0                   ? "count_nonzero"
                     : p == 1                 ? "norm_1"
                     : p == 2                 ? "norm_2"
                     : std::isinf(p) && p > 0 ? "norm_max"
                     : std::isinf(p) && p < 0 ? "norm_min"
                                              : "norm_p";
  return dlprim::reduction(name);
}

}  // namespace

#define REDUCTION(name, ...)                                          \
  Tensor name(const Tensor& a, const DimList& dims, bool keepdim) {   \
    static const dlprim::ReductionOp& row = dlprim::reduction(#name); \
    return apply(row, a, dims, keepdim);                              \
  }
#include "dlprim/ops/reduce/table.def"

Tensor sum(const Tensor& a, const DimList& dims, bool keepdim, DType dtype) {
  return to(sum(to(a, dtype), dims, keepdim), dtype);
}
Tensor mean(const Tensor& a, const DimList& dims, bool keepdim, DType dtype) {
  return mean(to(a, dtype), dims, keepdim);
}
Tensor prod(const Tensor& a, const DimList& dims, bool keepdim, DType dtype) {
  return to(prod(to(a, dtype), dims, keepdim), dtype);
}

Tensor argmax(const Tensor& a, std::optional<std::int64_t> dim, bool keepdim) {
  ENTER_OPERATOR(argmax, a, dim, keepdim);
  return arg_extreme("argmax", dlprim::Extreme::max, a, dim, keepdim);
}
Tensor argmin(const Tensor& a, std::optional<std::int64_t> dim, bool keepdim) {
  ENTER_OPERATOR(argmin, a, dim, keepdim);
  return arg_extreme("argmin", dlprim::Extreme::min, a, dim, keepdim);
}

Tensor max(const Tensor& a) {
  ENTER_OPERATOR(max, a);
  static const dlprim::ReductionOp& row = dlprim::reduction("max_of_all");
  return extreme_of_all("max", row, a);
}
Tensor min(const Tensor& a) {
  ENTER_OPERATOR(min, a);
  static const dlprim::ReductionOp& row = dlprim::reduction("min_of_all");
  return extreme_of_all("min", row, a);
}
std::pair<Tensor, Tensor> max(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OPERATOR(max, a, dim, keepdim);
  return extreme_with_index("max", dlprim::Extreme::max, a, dim, keepdim);
}
std::pair<Tensor, Tensor> min(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OPERATOR(min, a, dim, keepdim);
  return extreme_with_index("min", dlprim::Extreme::min, a, dim, keepdim);
}
Tensor max(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(max, a, b);
  return maximum(a, b);
}
Tensor min(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(min, a, b);
  return minimum(a, b);
}

Tensor var(const Tensor& a, const DimList& dims, double correction, bool keepdim) {
  ENTER_OPERATOR(var, a, dims, correction, keepdim);
  return moments("var", false, a, dims, correction, keepdim).first;
}
Tensor std(const Tensor& a, const DimList& dims, double correction, bool keepdim) {
  ENTER_OPERATOR(std, a, dims, correction, keepdim);
  return moments("std", true, a, dims, correction, keepdim).first;
}
std::pair<Tensor, Tensor> var_mean(const Tensor& a, const DimList& dims, double correction, bool keepdim) {
  ENTER_OPERATOR(var_mean, a, dims, correction, keepdim);
  return moments("var_mean", false, a, dims, correction, keepdim);
}
std::pair<Tensor, Tensor> std_mean(const Tensor& a, const DimList& dims, double correction, bool keepdim) {
  ENTER_OPERATOR(std_mean, a, dims, correction, keepdim);
  return moments("std_mean", true, a, dims, correction, keepdim);
}

Tensor logsumexp(const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR(logsumexp, a, dims, keepdim);
  if (!is_floating(a.dtype())) return logsumexp(to(a, DType::float32), dims, keepdim);
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), "logsumexp");
  const DType sums = dlprim::compute_dtype(a.dtype());
  const dlprim::Tensor largest = empty_result(a, mask, keepdim, sums),
                       rest = empty_result(a, mask, keepdim, sums);
  dlprim::logsumexp(a.device()->queue(), a.data(), mask, largest, rest);
  const Tensor result = to(add(Tensor(largest), Tensor(rest)), a.dtype());
  return record("logsumexp", {a}, result.data(), [&] {
    return [a = SavedTensor(a), largest = SavedTensor(largest), rest = SavedTensor(rest),
            mask](const TensorList& g) {
      const dlprim::Tensor& input = a.unpack();
      const Tensor dy = contiguous(g[0]), da(dlprim::Tensor::empty(input.device(), input.shape, input.dtype));
      dlprim::logsumexp_backward(input.device().queue(), dy.data(), input, largest.unpack(), rest.unpack(),
                                 mask, da.data());
      return TensorList{da};
    };
  });
}

Tensor norm(const Tensor& a, double p, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR(norm, a, p, dims, keepdim);
  dlprim::require_floating(a.dtype(), *a.device(), "norm");
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), "norm");
  if (std::isinf(p) || p < 0) require_elements("norm", a, mask);
  const dlprim::ReductionOp& row = norm_row(p);
  // The gradient divides by it, also where it is more than 16 bits hold.
  const Tensor result(empty_result(a, mask, keepdim, dlprim::compute_dtype(a.dtype())));
  dlprim::reduce(a.device()->queue(), row, a.data(), mask, result.data(), {nullptr, p});
  return record("norm", {a}, to(result, a.dtype()).data(), [&]() -> Backward {
    if (row.gradient.empty()) return [](const TensorList&) { return TensorList{Tensor()}; };  // it counts
    return gradient_of(row, a, result, mask, p);
  });
}

Tensor sum_to_shape(const Tensor& g, const Dims& shape) {
  if (g.shape() == shape) return g;
  DimMask mask = 0;
  for (int i = 1; i <= g.dim(); ++i)
    if (i > shape.size() || (shape[shape.size() - i] == 1 && g.shape()[g.dim() - i] != 1))
      mask |= 1u << (g.dim() - i);
  const Tensor summed = mask ? reduced(dlprim::reduction("sum"), g, mask, true) : g;
  return Tensor(summed.is_contiguous() ? summed.data().reshaped(shape)
                                       : contiguous(summed).data().reshaped(shape));
}

Tensor Tensor::sum(const DimList& dims, bool keepdim) const {
  return ocl::sum(*this, dims, keepdim);
}
Tensor Tensor::mean(const DimList& dims, bool keepdim) const {
  return ocl::mean(*this, dims, keepdim);
}
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return ocl::argmax(*this, dim, keepdim);
}

}  // namespace ocl
