#include "autograd/ops/reduce.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/formula.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
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

/** The elements of the product tree over the last dimension. */
Tensor product_of_last(Tensor x) {
  if (x.size(-1) == 0) return sum(x, {-1}) + 1;  // with a history
  while (x.size(-1) > 1) {
    const std::int64_t half = x.size(-1) / 2;
    const Tensor pairs = mul(narrow(x, -1, 0, half), narrow(x, -1, half, half));
    x = x.size(-1) % 2 ? cat({pairs, narrow(x, -1, 2 * half, 1)}, -1) : pairs;
  }
  return squeeze(x, -1);
}

/** prod without a division, whose derivatives are right for any number of zeros. */
Tensor composed_prod(const Tensor& x, DimMask mask) {
  std::vector<std::int64_t> order, shape;
  for (const bool is_reduced : {false, true})
    for (int d = 0; d < x.dim(); ++d) {
      if (((mask >> d & 1u) != 0) != is_reduced) continue;
      order.push_back(d);
      if (!is_reduced) shape.push_back(x.size(d));
    }
  std::int64_t count = 1;
  for (int d = 0; d < x.dim(); ++d)
    if (mask >> d & 1u) count *= x.size(d);
  shape.push_back(count);
  return product_of_last(reshape(permute(x, order), shape));
}

Tensor apply(const dlprim::ReductionOp& op, const Tensor& a, const DimList& dims, bool keepdim);

DimList dims_of(DimMask mask, int rank) {
  DimList dims;
  for (int d = 0; d < rank; ++d)
    if (mask >> d & 1u) dims.push_back(d);
  return dims;
}

/** The gradient that the expression of a row gives, by operators; `a` in the dtype that it is computed in,
 * undefined where the row does not read it. */
Tensor evaluated_gradient(const dlprim::ReductionOp& op, const Tensor& g, const Tensor& a, const Dims& shape,
                          DimMask mask, double p) {
  const DType compute = dlprim::compute_dtype(g.dtype());
  std::map<std::string, Operand> values{{"g", to(with_kept_dims(g, shape, mask), compute)},
                                        {"n", static_cast<double>(dlprim::reduced_count(shape, mask))},
                                        {"p", p}};
  if (a.defined()) values["a"] = a;
  if (dlprim::uses_variable(op.gradient, "y")) values["y"] = norm(a, p, dims_of(mask, a.dim()), true);
  return expand(evaluate(op.gradient, values, compute, g.device()), shape.vector());
}

/** The backward function of a row with a gradient, which may read the input and the result. */
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
    const auto by_kernel = [&](const Tensor& given) {
      const Tensor g = contiguous(given), da(dlprim::Tensor::empty(*g.device(), shape, dtype));
      dlprim::reduce_backward(g.device()->queue(), op, g.data(), raw(a), raw(y), mask, da.data(), p);
      return da;
    };
    if (!grad_enabled()) return TensorList{by_kernel(gradients[0])};
    if (op.name == "prod")
      return gradients_by_composition({a.input(0)}, {flatten(gradients[0])}, [&](const TensorList& inputs) {
        const Tensor product = composed_prod(in_compute_dtype(inputs[0]), mask);
        return TensorList{to(flatten(product), inputs[0].dtype())};
      });
    if (op.gradient == "own") {  // an extreme: each element has a fixed share
      const Tensor shares = by_kernel(ones_like(gradients[0]).detach());
      return TensorList{mul(shares, with_kept_dims(gradients[0], shape, mask))};
    }
    const Tensor input = in_compute_dtype(a.input(0));
    return TensorList{to(evaluated_gradient(op, gradients[0], input, shape, mask, p), dtype)};
  };
}

/** Sums and means are those of the parts. */
Tensor apply_to_complex(const dlprim::ReductionOp& op, const Tensor& a, DimMask mask, bool keepdim) {
  const auto with_rank = [&](const Tensor& t) {
    return reshape(t, dlprim::reduced_shape(a.shape(), mask, keepdim).vector());
  };
  if (op.name == "sum" || op.name == "mean") {
    const Tensor whole = a.dim() == 0 ? unsqueeze(a, 0) : a;
    const DimList dims = dims_of(a.dim() == 0 ? 1 : mask, whole.dim());
    return with_rank(on_pairs(whole, [&](const Tensor& pairs) {
      return op.name == "sum" ? sum(pairs, dims, true) : mean(pairs, dims, true);
    }));
  }
  if (op.name == "prod") return with_rank(composed_prod(a, mask));
  const bool asks_for_zeros = op.result == dlprim::ReductionResult::Bool || op.name == "count_nonzero";
  require<TypeError>(asks_for_zeros, op.name, ": not implemented for ", name(a.dtype()));
  return apply(op, ne(a, 0), dims_of(mask, a.dim()), keepdim);
}

Tensor apply(const dlprim::ReductionOp& op, const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), apply(op, rewritten...), a, dims, keepdim);
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), op.name.c_str());
  if (is_complex(a.dtype())) return apply_to_complex(op, a, mask, keepdim);
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
    const SavedTensor places(indices);
    return linear_gradient(
        name,
        [places, shape = a.shape(), axis](const Tensor& given) {
          const Tensor g = contiguous(given);
          const dlprim::Tensor da = dlprim::Tensor::empty(*g.device(), shape, g.dtype());
          dlprim::place_at_index(g.device()->queue(), g.data(), places.unpack(), axis, da);
          return Tensor(da);
        },
        [places, mask, axis](const Tensor& whole) {
          const Tensor index(places.unpack());
          return reshape(gather(whole, axis, with_kept_dims(index, whole.shape(), mask)),
                         index.shape().vector());
        });
  });
  return {results[0], results[1]};
}

std::pair<Tensor, Tensor> moments(const char* name, bool root, const Tensor& a, const DimList& dims,
                                  double correction, bool keepdim);

/** The variance of complex numbers is the sum of their parts'. */
std::pair<Tensor, Tensor> moments_of_complex(const char* name, bool root, const Tensor& a,
                                             const DimList& dims, double correction, bool keepdim) {
  const auto [of_real, real_mean] = moments(name, false, real(a), dims, correction, keepdim);
  const auto [of_imaginary, imaginary_mean] = moments(name, false, imag(a), dims, correction, keepdim);
  const Tensor variance = add(of_real, of_imaginary);
  return {root ? sqrt(variance) : variance, complex(real_mean, imaginary_mean)};
}

/** Records var or std together with the mean, as `results`. */
std::pair<Tensor, Tensor> moments(const char* name, bool root, const Tensor& a, const DimList& dims,
                                  double correction, bool keepdim) {
  if (is_complex(a.dtype())) return moments_of_complex(name, root, a, dims, correction, keepdim);
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
            mask, correction, root](const TensorList& g) {
      if (grad_enabled())
        return gradients_by_composition(
            {a.input(0)}, {g[0].defined() ? flatten(g[0]) : g[0], g[1].defined() ? flatten(g[1]) : g[1]},
            [&](const TensorList& inputs) {
              const Tensor x = in_compute_dtype(inputs[0]);
              const DimList all = dims_of(mask, x.dim());
              const Tensor center = ocl::mean(x, all, true);
              const auto count = static_cast<double>(dlprim::reduced_count(x.shape(), mask));
              const Tensor variance = sum(square(x - center), all) / std::max(0.0, count - correction);
              return TensorList{flatten(to(root ? sqrt(variance) : variance, inputs[0].dtype())),
                                flatten(to(center, inputs[0].dtype()))};
            });
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
  ENTER_OVERLOAD(max, dim, a, dim, keepdim);
  return extreme_with_index("max", dlprim::Extreme::max, a, dim, keepdim);
}
std::pair<Tensor, Tensor> min(const Tensor& a, std::int64_t dim, bool keepdim) {
  ENTER_OVERLOAD(min, dim, a, dim, keepdim);
  return extreme_with_index("min", dlprim::Extreme::min, a, dim, keepdim);
}
Tensor max(const Tensor& a, const Tensor& b) {
  ENTER_OVERLOAD(max, other, a, b);
  return maximum(a, b);
}
Tensor min(const Tensor& a, const Tensor& b) {
  ENTER_OVERLOAD(min, other, a, b);
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
      if (grad_enabled()) {
        const Tensor given = a.input(0), x = in_compute_dtype(given);
        const Tensor y = logsumexp(x, dims_of(mask, x.dim()), true);
        return TensorList{
            to(to(with_kept_dims(g[0], x.shape(), mask), x.dtype()) * exp(x - y), given.dtype())};
      }
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
  if (is_complex(a.dtype())) return norm(abs(a), p, dims, keepdim);
  dlprim::require_floating(a.dtype(), *a.device(), "norm");
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), "norm");
  if (std::isinf(p) || p < 0) require_elements("norm", a, mask);
  const dlprim::ReductionOp& row = dlprim::norm_reduction(p);
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
  DimList summed;
  for (int i = 1; i <= g.dim(); ++i)
    if (i > shape.size() || (shape[shape.size() - i] == 1 && g.shape()[g.dim() - i] != 1))
      summed.push_back(g.dim() - i);
  return reshape(summed.empty() ? g : sum(g, summed, true), shape.vector());
}

#define REDUCTION(name, ...)                                     \
  Tensor Tensor::name(const DimList& dims, bool keepdim) const { \
    return ocl::name(*this, dims, keepdim);                      \
  }
#include "dlprim/ops/reduce/table.def"

Tensor Tensor::sum(const DimList& dims, bool keepdim, DType dtype) const {
  return ocl::sum(*this, dims, keepdim, dtype);
}
Tensor Tensor::mean(const DimList& dims, bool keepdim, DType dtype) const {
  return ocl::mean(*this, dims, keepdim, dtype);
}

std::pair<Tensor, Tensor> aminmax(const Tensor& a, std::optional<std::int64_t> dim, bool keepdim) {
  ENTER_OPERATOR(aminmax, a, dim, keepdim);
  const DimList dims = dim && a.dim() > 0 ? DimList{*dim} : DimList{};
  if (dim) dlprim::wrap_dim(*dim, a.dim(), "aminmax");
  return {amin(a, dims, keepdim), amax(a, dims, keepdim)};
}

Tensor nansum(const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR(nansum, a, dims, keepdim);
  return sum(is_floating(a.dtype()) ? where(isnan(a.detach()), 0, a) : a, dims, keepdim);
}

Tensor nanmean(const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR(nanmean, a, dims, keepdim);
  dlprim::require<TypeError>(is_floating(a.dtype()), "nanmean: expected a floating dtype, got ",
                             name(a.dtype()));
  const Tensor x = in_compute_dtype(a);
  return to(div(nansum(x, dims, keepdim), sum(logical_not(isnan(x.detach())), dims, keepdim)), a.dtype());
}

}  // namespace ocl
