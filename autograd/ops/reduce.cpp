#include "autograd/ops/reduce.h"

#include <map>
#include <mutex>

#include "autograd/creation.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/reduce/reduce.h"

namespace ocl {
namespace {

using dlprim::DimMask;
using dlprim::require;

Tensor reduced(const dlprim::ReductionOp& op, const Tensor& a, DimMask mask, bool keepdim) {
  const dlprim::Tensor result = dlprim::Tensor::empty(
      *a.device(), dlprim::reduced_shape(a.shape(), mask, keepdim), op.result_dtype(a.dtype()));
  dlprim::reduce(a.device()->queue(), op, a.data(), mask, result);
  return Tensor(result);
}

std::int64_t reduced_count(const Dims& shape, DimMask mask) {
  std::int64_t n = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (mask >> d & 1u) n *= shape[d];
  return n;
}

/** The gradient expression of a row, over the variables that it names. */
const dlprim::PointwiseExpression& gradient_expression_of(const dlprim::ReductionOp& op) {
  static std::mutex mutex;
  static auto* made = new std::map<std::string, dlprim::PointwiseExpression>;
  std::lock_guard<std::mutex> lock(mutex);
  dlprim::PointwiseExpression& expression = (*made)[op.name];
  if (expression.outputs.empty()) {
    expression = {op.name + " gradient", {}, {"n"}, {op.gradient}};
    for (const char* variable : {"g", "a", "y"})
      if (dlprim::uses_variable(op.gradient, variable)) expression.variables.push_back(variable);
  }
  return expression;
}

Backward gradient_of(const dlprim::ReductionOp& op, const Tensor& a, const Tensor& result, DimMask mask) {
  const dlprim::PointwiseExpression& expression = gradient_expression_of(op);
  const auto uses = [&](const char* variable) { return dlprim::uses_variable(op.gradient, variable); };
  return [&expression, passes = op.gradient == "g", a = uses("a") ? SavedTensor(a) : SavedTensor(),
          y = uses("y") ? SavedTensor(result) : SavedTensor(), shape = a.shape(), dtype = a.dtype(),
          kept = dlprim::reduced_shape(a.shape(), mask, true),
          count = reduced_count(a.shape(), mask)](const TensorList& gradients) {
    const Tensor g = reshape(gradients[0], kept.vector());
    if (passes && g.dtype() == dtype) return TensorList{expand(g, shape.vector())};
    std::vector<dlprim::PointwiseOperand> operands;
    for (const std::string& variable : expression.variables) {
      if (variable == "g") operands.emplace_back(g.data());
      if (variable == "a") operands.emplace_back(a.unpack());
      if (variable == "y") operands.emplace_back(y.unpack().reshaped(kept));
    }
    const dlprim::Tensor da = dlprim::Tensor::empty(*g.device(), shape, dtype);
    dlprim::pointwise(g.device()->queue(), expression, dtype, operands, {count}, {da});
    return TensorList{Tensor(da)};
  };
}

/** The gradient of amax and amin: equal extremes share it evenly. */
Backward extreme_gradient(const Tensor& a, const Tensor& result, DimMask mask) {
  return [a = SavedTensor(a), y = SavedTensor(result), mask](const TensorList& gradients) {
    const Tensor input(a.unpack());
    const std::vector<std::int64_t> kept = dlprim::reduced_shape(input.shape(), mask, true).vector();
    const Tensor is_extreme = to(eq(input, reshape(Tensor(y.unpack()), kept)), input.dtype());
    const Tensor count = reduced(dlprim::reduction("sum"), is_extreme, mask, true);
    return TensorList{is_extreme * (reshape(gradients[0], kept) / count)};
  };
}

Tensor apply(const dlprim::ReductionOp& op, const Tensor& a, const DimList& dims, bool keepdim) {
  const DimMask mask = dlprim::dim_mask(dims, a.dim(), op.name.c_str());
  const bool extreme = op.name == "amax" || op.name == "amin";
  require<IndexError>(!extreme || reduced_count(a.shape(), mask) > 0, op.name,
                      ": expected reduction dim to have non-zero size, got shape ", a.shape());
  const Tensor result = reduced(op, a, mask, keepdim);
  if (extreme)
    return record(op.name.c_str(), {a}, result.data(), [&] { return extreme_gradient(a, result, mask); });
  if (op.gradient.empty()) return result;
  return record(op.name.c_str(), {a}, result.data(), [&] { return gradient_of(op, a, result, mask); });
}

Tensor arg_extreme(const char* name, dlprim::Extreme extreme, const Tensor& a,
                   std::optional<std::int64_t> dim, bool keepdim) {
  const DimMask mask = dlprim::dim_mask(dim ? DimList{*dim} : DimList{}, a.dim(), name);
  require<IndexError>(reduced_count(a.shape(), mask) > 0, name,
                      ": expected reduction dim to have non-zero size, got shape ", a.shape());
  const dlprim::Tensor indices =
      dlprim::Tensor::empty(*a.device(), dlprim::reduced_shape(a.shape(), mask, keepdim), DType::int64);
  dlprim::reduce_index(a.device()->queue(), extreme, a.data(), mask, {}, indices);
  return Tensor(indices);
}

}  // namespace

#define REDUCTION(name, ...)                                          \
  Tensor name(const Tensor& a, const DimList& dims, bool keepdim) {   \
    static const dlprim::ReductionOp& row = dlprim::reduction(#name); \
    return apply(row, a, dims, keepdim);                              \
  }
#include "dlprim/ops/reduce/table.def"

Tensor argmax(const Tensor& a, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", dlprim::Extreme::max, a, dim, keepdim);
}
Tensor argmin(const Tensor& a, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", dlprim::Extreme::min, a, dim, keepdim);
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
