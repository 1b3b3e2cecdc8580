#include "autograd/ops/reduce.h"

#include <cmath>
#include <map>
#include <mutex>

#include "autograd/call.h"
#include "autograd/creation.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::DimMask;
using dlprim::PointwiseExpression;
using dlprim::require;

dlprim::Tensor empty_result(const Tensor& a, DimMask mask, bool keepdim, DType dtype) {
  return dlprim::Tensor::empty(*a.device(), dlprim::reduced_shape(a.shape(), mask, keepdim), dtype);
}

Tensor reduced(const dlprim::ReductionOp& op, const Tensor& a, DimMask mask, bool keepdim, double p = 0) {
  const dlprim::Tensor result = empty_result(a, mask, keepdim, op.result_dtype(a.dtype()));
  dlprim::reduce(a.device()->queue(), op, a.data(), mask, result, {nullptr, p});
  return Tensor(result);
}

std::int64_t reduced_count(const Dims& shape, DimMask mask) {
  std::int64_t n = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (mask >> d & 1u) n *= shape[d];
  return n;
}

void require_elements(const char* op, const Tensor& a, DimMask mask) {
  require<IndexError>(reduced_count(a.shape(), mask) > 0, op,
                      ": expected reduction dim to have non-zero size, got shape ", a.shape());
}

/** `t` with the reduced dimensions of `shape` in place, of size 1. */
Tensor with_kept_dims(const Tensor& t, const Dims& shape, DimMask mask) {
  return reshape(t, dlprim::reduced_shape(shape, mask, true).vector());
}

/** An elementwise expression in the shape and dtype of `input`: what gradients of reductions are. */
Tensor evaluated(const PointwiseExpression& expression, const dlprim::Tensor& input,
                 const std::vector<dlprim::PointwiseOperand>& operands,
                 const std::vector<Scalar>& parameters) {
  const dlprim::Tensor result = dlprim::Tensor::empty(input.device(), input.shape, input.dtype);
  // In what sums are kept in: a mean of float16 elements is a float32.
  dlprim::pointwise(input.device().queue(), expression, dlprim::compute_dtype(input.dtype), operands,
                    parameters, {result});
  return Tensor(result);
}

/** The gradient expression of a row, of g and n. */
const PointwiseExpression& gradient_expression_of(const dlprim::ReductionOp& op) {
  static std::mutex mutex;
  static auto* made = new std::map<std::string, const PointwiseExpression*>;
  std::lock_guard<std::mutex> lock(mutex);
  const PointwiseExpression*& expression = (*made)[op.name];
  if (!expression) expression = &dlprim::lone_expression(op.name + "_gradient", {"g"}, {"n"}, {op.gradient});
  return *expression;
}

Backward gradient_of(const dlprim::ReductionOp& op, const Tensor& a, DimMask mask) {
  dlprim::Tensor input = a.data();
  input.storage = nullptr;  // shape and dtype are all that is needed
  return [&op, input, mask](const TensorList& gradients) {
    const Tensor g = with_kept_dims(gradients[0], input.shape, mask);
    if (op.gradient == "g") return TensorList{to(expand(g, input.shape.vector()), input.dtype)};
    const dlprim::Tensor da = dlprim::Tensor::empty(*g.device(), input.shape, input.dtype);
    dlprim::pointwise(g.device()->queue(), gradient_expression_of(op), input.dtype, {g.data()},
                      {reduced_count(input.shape, mask)}, {da});
    return TensorList{Tensor(da)};
  };
}

/** The gradient of an extreme: those elements that are it share `g` evenly. */
Tensor extreme_gradient(const Tensor& g, const Tensor& is_extreme, DimMask mask) {
  const Tensor count = reduced(dlprim::reduction("sum"), is_extreme, mask, true);
  return is_extreme * (with_kept_dims(g, is_extreme.shape(), mask) / count);
}

/** g times the product of the other elements, whatever zeros there are. */
Tensor product_gradient(const Tensor& g, const Tensor& a, DimMask mask) {
  static const PointwiseExpression& expression =
      dlprim::lone_expression("prod_gradient", {"g", "a", "product", "zeros"}, {},
                              {"zeros == 0 ? g * product / a : zeros == 1 && a == 0 ? g * product : (T)0"});
  const Tensor product = reduced(dlprim::reduction("product_of_nonzero"), a, mask, true);
  const Tensor zeros =
      reduced_count(a.shape(), mask) - Operand(reduced(dlprim::reduction("count_nonzero"), a, mask, true));
  return evaluated(expression, a.data(),
                   {with_kept_dims(g, a.shape(), mask).data(), a.data(), product.data(), zeros.data()}, {});
}

Tensor apply(const dlprim::ReductionOp& op, const Tensor& a, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), a, dims, keepdim);
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), op.name.c_str());
  const bool extreme = op.name == "amax" || op.name == "amin";
  if (extreme) require_elements(op.name.c_str(), a, mask);
  const Tensor result = reduced(op, a, mask, keepdim);
  if (extreme)
    return record(op.name.c_str(), {a}, result.data(), [&] {
      return [a = SavedTensor(a), y = SavedTensor(result), mask](const TensorList& g) {
        const Tensor input(a.unpack());
        const Tensor is_extreme = eq(input, with_kept_dims(Tensor(y.unpack()), input.shape(), mask));
        return TensorList{extreme_gradient(g[0], is_extreme, mask)};
      };
    });
  if (op.name == "prod")
    return record(op.name.c_str(), {a}, result.data(), [&] {
      return [a = SavedTensor(a), mask](const TensorList& g) {
        return TensorList{product_gradient(g[0], Tensor(a.unpack()), mask)};
      };
    });
  if (op.gradient.empty()) return result;
  return record(op.name.c_str(), {a}, result.data(), [&] { return gradient_of(op, a, mask); });
}

Tensor arg_extreme(const char* name, dlprim::Extreme extreme, const Tensor& a,
                   std::optional<std::int64_t> dim, bool keepdim) {
  const DimMask mask = dlprim::dim_mask(dim ? DimList{*dim} : DimList{}, a.dim(), name);
  require_elements(name, a, mask);
  const dlprim::Tensor indices = empty_result(a, mask, keepdim, DType::int64);
  dlprim::reduce_index(a.device()->queue(), extreme, a.data(), mask, {}, indices);
  return Tensor(indices);
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
  const dlprim::Tensor mean = empty_result(a, mask, keepdim, dlprim::compute_dtype(a.dtype())),
                       result = empty_result(a, mask, keepdim, a.dtype());
  dlprim::variance(queue, a.data(), mask, correction, mean, result);
  if (root)
    dlprim::pointwise(queue, dlprim::forward_expression(dlprim::pointwise_op("sqrt")), a.dtype(), {result},
                      {}, {result});
  const TensorList results = record_many(name, {a}, {result, to(Tensor(mean), a.dtype()).data()}, [&] {
    return [a = SavedTensor(a), mean = SavedTensor(mean), y = root ? SavedTensor(result) : SavedTensor(),
            mask, correction](const TensorList& g) {
      static const PointwiseExpression& of_var =
          dlprim::lone_expression("var_gradient", {"g", "a", "mean"}, {"scale"}, {"g * scale * (a - mean)"});
      static const PointwiseExpression& of_std =
          dlprim::lone_expression("std_gradient", {"g", "a", "mean", "y"}, {"scale"},
                                  {"y == 0 ? (T)0 : g / (2 * y) * scale * (a - mean)"});
      const dlprim::Tensor& input = a.unpack();
      const auto kept = [&](const Tensor& t) { return with_kept_dims(t, input.shape, mask).data(); };
      const auto n = static_cast<double>(reduced_count(input.shape, mask));
      Tensor da;
      if (g[0].defined()) {
        std::vector<dlprim::PointwiseOperand> operands{kept(g[0]), input, kept(Tensor(mean.unpack()))};
        if (y.defined()) operands.emplace_back(kept(Tensor(y.unpack())));
        da = evaluated(y.defined() ? of_std : of_var, input, operands, {2 / (n - correction)});
      }
      if (g[1].defined()) {
        const Tensor share = expand(Tensor(kept(g[1])) / n, input.shape.vector());
        da = da.defined() ? da + share : share;
      }
      return TensorList{da};
    };
  });
  return {results[0], results[1]};
}

/** The gradient of a p-norm `y`; of magnitudes that are equal extremes each gets its share. Undefined for
 * p = 0, which counts. */
Tensor norm_gradient(const Tensor& g, const Tensor& a, const Tensor& y, double p, DimMask mask) {
  static const PointwiseExpression& of_two =
      dlprim::lone_expression("norm_2_gradient", {"g", "a", "y"}, {}, {"y == 0 ? (T)0 : g * (a / y)"});
  static const PointwiseExpression& of_p = dlprim::lone_expression(
      "norm_p_gradient", {"g", "a", "y"}, {"p"},
      {"a == 0 || y == 0 ? (T)0 : g * SIGN(a) * (p == 1 ? (T)1 : POW(ABS(a) / y, p - 1))"});
  if (p == 0) return {};
  if (std::isinf(p)) {  // of NaN, every NaN counts as the extreme
    const Tensor is_extreme = logical_or(eq(abs(a), with_kept_dims(y, a.shape(), mask)), isnan(a));
    return sgn(a) * extreme_gradient(g, is_extreme, mask);
  }
  const auto kept = [&](const Tensor& t) { return with_kept_dims(t, a.shape(), mask).data(); };
  if (p == 2) return evaluated(of_two, a.data(), {kept(g), a.data(), kept(y)}, {});
  return evaluated(of_p, a.data(), {kept(g), a.data(), kept(y)}, {p});
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
  return amax(a);
}
Tensor min(const Tensor& a) {
  ENTER_OPERATOR(min, a);
  return amin(a);
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
      static const PointwiseExpression& expression = dlprim::lone_expression(
          "logsumexp_gradient", {"g", "a", "largest", "rest"}, {}, {"g * exp(a - largest - rest)"});
      const dlprim::Tensor& input = a.unpack();
      const auto kept = [&](const Tensor& t) { return with_kept_dims(t, input.shape, mask).data(); };
      return TensorList{
          evaluated(expression, input,
                    {kept(g[0]), input, kept(Tensor(largest.unpack())), kept(Tensor(rest.unpack()))}, {})};
    };
  });
}

Tensor norm(const Tensor& a, double p, const DimList& dims, bool keepdim) {
  ENTER_OPERATOR(norm, a, p, dims, keepdim);
  dlprim::require_floating(a.dtype(), *a.device(), "norm");
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), "norm");
  if (std::isinf(p) || p < 0) require_elements("norm", a, mask);
  const dlprim::Tensor result = empty_result(a, mask, keepdim, a.dtype());
  dlprim::reduce(a.device()->queue(), norm_row(p), a.data(), mask, result, {nullptr, p});
  return record("norm", {a}, result, [&] {
    return [a = SavedTensor(a), y = SavedTensor(result), p, mask](const TensorList& g) {
      return TensorList{norm_gradient(g[0], Tensor(a.unpack()), Tensor(y.unpack()), p, mask)};
    };
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
