#include "autograd/ops/pointwise.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/formula.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "dlprim/core/promotion.h"
#include "dlprim/ops/pointwise/nan_to_num.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/ops/pointwise/pointwise_result.h"

namespace ocl {
namespace {

using dlprim::PointwiseOp;
using dlprim::PointwiseOperand;
using dlprim::PointwiseResult;
using dlprim::require;

/** How the gradient of one input comes about. */
enum class Route { none, pass, compute };  // pass: the incoming gradient as it is

struct Input {
  Dims shape;
  DType dtype;
  Route route;
};

std::vector<PointwiseOperand> raw(const std::vector<Operand>& inputs) {
  std::vector<PointwiseOperand> operands;
  operands.reserve(inputs.size());
  for (const Operand& input : inputs) {
    if (input.is_tensor())
      operands.emplace_back(input.tensor().data());
    else
      operands.emplace_back(input.number());
  }
  return operands;
}

/** Precondition: a tensor among them. */
dlprim::Device& device_of(const std::vector<PointwiseOperand>& operands) {
  std::size_t i = 0;
  while (!std::holds_alternative<dlprim::Tensor>(operands[i])) ++i;
  return std::get<dlprim::Tensor>(operands[i]).device();
}

TensorList tensors_of(const std::vector<Operand>& inputs) {
  TensorList tensors;
  for (const Operand& input : inputs) tensors.push_back(input.tensor());
  return tensors;
}

/** The names of the inputs in the expressions of the table. */
constexpr const char* operand_names[] = {"a", "b", "c"};

/** An input that a gradient of the row names, or a number in the place of one that none does. */
struct Saved {
  SavedTensor tensor;
  Scalar number = 0;

  PointwiseOperand operand() const {
    return tensor.defined() ? PointwiseOperand(tensor.unpack()) : PointwiseOperand(number);
  }
  /** That operand, with the history of the node's input `i`, in the dtype that gradients are computed in. */
  Operand recorded(std::size_t i, DType compute) const {
    if (!tensor.defined()) return number;
    const Tensor input = tensor.input(i);
    return is_differentiable(input.dtype()) ? to(input, compute) : input;
  }
};

Input describe(const PointwiseOp& op, const std::vector<Operand>& inputs, std::size_t i) {
  const Tensor& tensor = inputs[i].tensor();
  if (!tensor.defined() || !tensor.requires_grad() || op.gradients[i].empty())
    return {{}, DType::float32, Route::none};
  return {tensor.shape(), tensor.dtype(), passes_gradient(op, i) ? Route::pass : Route::compute};
}

/** The part of a call that backward needs. */
struct PointwiseGradient {
  const PointwiseOp* op;
  std::vector<Saved> saved;  // the inputs
  SavedTensor y;
  std::vector<Input> described;
  std::vector<Scalar> parameters;
  DType compute;
  Dims shape, strides;  // of the result

  bool is_computed(std::size_t i) const {
    return described[i].route == Route::compute && gradient_is_wanted(i);
  }
  /** From the gradients of the inputs, each of the result's shape, sums over broadcast dimensions. */
  TensorList summed(const Tensor& g, const TensorList& computed) const;
  /** By one launch for all gradients that are wanted. */
  TensorList by_kernel(const Tensor& g) const;
  /** By the operators that the row's expressions are made of. */
  TensorList by_operators(const Tensor& g) const;

  TensorList operator()(const TensorList& gradients) const {
    return grad_enabled() || is_complex(compute) ? by_operators(gradients[0]) : by_kernel(gradients[0]);
  }
};

TensorList PointwiseGradient::summed(const Tensor& g, const TensorList& computed) const {
  TensorList results;
  for (std::size_t i = 0; i < described.size(); ++i) {
    const Input& input = described[i];
    if (input.route == Route::none || !gradient_is_wanted(i))
      results.emplace_back();
    else
      results.push_back(
          to(sum_to_shape(input.route == Route::pass ? g : computed[i], input.shape), input.dtype));
  }
  return results;
}

TensorList PointwiseGradient::by_kernel(const Tensor& g) const {
  std::vector<dlprim::Tensor> outputs(described.size());
  TensorList computed(described.size());
  std::vector<PointwiseOperand> operands;
  bool computes = false;
  for (std::size_t i = 0; i < described.size(); ++i) {
    operands.push_back(saved[i].operand());
    if (!is_computed(i)) continue;
    outputs[i] = dlprim::Tensor::empty_strided(*g.device(), shape, strides, compute);
    computed[i] = Tensor(outputs[i]);
    computes = true;
  }
  if (computes)
    dlprim::pointwise_backward(g.device()->queue(), *op, g.data(), operands, parameters,
                               y.defined() ? y.unpack() : dlprim::Tensor(), outputs);
  return summed(g, computed);
}

/** The row's gradient where it means the same for complex numbers. */
const std::string& complex_gradient(const PointwiseOp& op, std::size_t i) {
  static const auto& others = *new std::map<std::pair<std::string, std::size_t>, std::string>{
      {{"pow", 1}, "a == 0 ? (T)0 : g * y * LOG(a)"},
      {{"acosh", 0}, "g / (sqrt(a - 1) * sqrt(a + 1))"},  // whose square has lost the side of the cut
  };
  const auto other = others.find({op.name, i});
  return other != others.end() ? other->second : op.gradients[i];
}

TensorList PointwiseGradient::by_operators(const Tensor& g) const {
  // A complex gradient is the incoming one times the derivative's conjugate.
  const bool is_conjugated = is_complex(compute);
  const Tensor given = to(g, compute);
  std::map<std::string, Operand> values{{"g", is_conjugated ? conj(given) : given}};
  if (y.defined()) values["y"] = to(y.output(), compute);
  for (std::size_t i = 0; i < saved.size(); ++i) values[operand_names[i]] = saved[i].recorded(i, compute);
  for (std::size_t i = 0; i < parameters.size(); ++i) values[op->parameters[i].name] = parameters[i];
  TensorList computed(described.size());
  for (std::size_t i = 0; i < described.size(); ++i)
    if (is_computed(i)) {
      const std::string& formula = is_conjugated ? complex_gradient(*op, i) : op->gradients[i];
      const Tensor of_input = evaluate(formula, values, compute, g.device());
      computed[i] = expand(is_conjugated ? conj(of_input) : of_input, shape.vector());
    }
  return summed(g, computed);
}

PointwiseGradient gradient_of(const PointwiseOp& op, const std::vector<Operand>& inputs,
                              const std::vector<Scalar>& parameters, const dlprim::Tensor& output,
                              DType compute) {
  unsigned computed = 0;
  std::vector<Input> described;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    described.push_back(describe(op, inputs, i));
    if (described[i].route == Route::compute) computed |= 1u << i;
  }
  static const dlprim::PointwiseExpression nothing;
  const auto& variables = (computed ? gradient_expression(op, computed) : nothing).variables;
  const auto named = [&](const char* variable) {
    return std::find(variables.begin(), variables.end(), variable) != variables.end();
  };
  std::vector<Saved> saved(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (named(operand_names[i])) saved[i] = {SavedTensor(inputs[i].tensor()), inputs[i].number()};
  return {&op,
          std::move(saved),
          named("y") ? SavedTensor(output) : SavedTensor(),
          std::move(described),
          parameters,
          compute,
          output.shape,
          dlprim::strides_like(output)};
}

/** The operands for gradients: of what the write to `target` changes and a gradient names, a copy. */
std::vector<Operand> before_write(const PointwiseOp& op, const Tensor& target,
                                  const std::vector<Operand>& inputs) {
  const NoGradGuard no_grad;
  std::vector<Operand> before = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = inputs[i].tensor();
    if (!tensor.defined() || tensor.data().storage != target.data().storage) continue;
    if (std::none_of(op.gradients.begin(), op.gradients.end(), [&](const std::string& gradient) {
          return dlprim::uses_variable(gradient, operand_names[i]);
        }))
      continue;
    Tensor copy = tensor.clone();
    before[i] = copy.requires_grad_(tensor.requires_grad());
  }
  return before;
}

}  // namespace

DType result_type(const std::vector<Operand>& operands) {
  return dlprim::result_type(raw(operands));
}

Tensor apply_pointwise(const PointwiseOp& op, const std::vector<Operand>& inputs,
                       const std::vector<Scalar>& parameters) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), apply_pointwise(op, rewritten...), inputs, parameters);
  if (const ComplexOperator of_complex = complex_operator(op, inputs)) return of_complex(inputs[0].tensor());
  const std::vector<PointwiseOperand> operands = raw(inputs);
  const PointwiseResult result = dlprim::pointwise_result(op, operands, parameters);
  dlprim::Device& device = device_of(operands);
  const dlprim::Tensor output =
      dlprim::Tensor::empty_strided(device, result.shape, result.strides, result.dtype);
  dlprim::pointwise(device.queue(), forward_expression(op), result.compute, operands, parameters, {output});
  if (!op.differentiable()) return Tensor(output);
  return record(op.name.c_str(), tensors_of(inputs), output,
                [&] { return gradient_of(op, inputs, parameters, output, result.compute); });
}

void apply_pointwise_in_place(const PointwiseOp& op, Tensor& target, const std::vector<Operand>& inputs,
                              const std::vector<Scalar>& parameters) {
  ANNOUNCE_OPERATOR(op.name.c_str(), target, inputs, parameters);
  const std::vector<PointwiseOperand> operands = raw(inputs);
  const PointwiseResult result = dlprim::pointwise_result(op, operands, parameters);
  require(result.shape == target.shape(), op.name, "_: output with shape ", target.shape(),
          " doesn't match the broadcast shape ", result.shape);
  require<TypeError>(dlprim::can_cast(result.dtype, target.dtype()), op.name, "_: result type ",
                     name(result.dtype), " can't be cast to the desired output type ", name(target.dtype()));
  const TensorList tensors = tensors_of(inputs);
  check_in_place(op.name.c_str(), target, tensors);
  const std::vector<Operand> before = needs_tape(tensors) ? before_write(op, target, inputs) : inputs;
  dlprim::pointwise(device_of(operands).queue(), forward_expression(op), result.compute, operands, parameters,
                    {target.data()});
  record_in_place(op.name.c_str(), target, TensorList(tensors.begin() + 1, tensors.end()),
                  [&] { return gradient_of(op, before, parameters, target.data(), result.compute); });
}

#define ROW(name) static const PointwiseOp& row = dlprim::pointwise_op(#name)
#define UNARY(name, ...)              \
  Tensor name(const Tensor& a) {      \
    ROW(name);                        \
    return apply_pointwise(row, {a}); \
  }                                   \
  Tensor Tensor::name() const {       \
    return ocl::name(*this);          \
  }
#define UNARY_P(name, p, p0, ...)                 \
  Tensor name(const Tensor& a, const Scalar& p) { \
    ROW(name);                                    \
    return apply_pointwise(row, {a}, {p});        \
  }                                               \
  Tensor Tensor::name(const Scalar& p) const {    \
    return ocl::name(*this, p);                   \
  }
#define UNARY_PQ(name, p, p0, q, q0, ...)                          \
  Tensor name(const Tensor& a, const Scalar& p, const Scalar& q) { \
    ROW(name);                                                     \
    return apply_pointwise(row, {a}, {p, q});                      \
  }                                                                \
  Tensor Tensor::name(const Scalar& p, const Scalar& q) const {    \
    return ocl::name(*this, p, q);                                 \
  }
#define BINARY(name, ...)                           \
  Tensor name(const Operand& a, const Operand& b) { \
    ROW(name);                                      \
    return apply_pointwise(row, {a, b});            \
  }                                                 \
  Tensor Tensor::name(const Operand& b) const {     \
    return ocl::name(*this, b);                     \
  }
#define BINARY_P(name, p, p0, ...)                                   \
  Tensor name(const Operand& a, const Operand& b, const Scalar& p) { \
    ROW(name);                                                       \
    return apply_pointwise(row, {a, b}, {p});                        \
  }                                                                  \
  Tensor Tensor::name(const Operand& b, const Scalar& p) const {     \
    return ocl::name(*this, b, p);                                   \
  }
#define TERNARY(name, ...)                                            \
  Tensor name(const Operand& a, const Operand& b, const Operand& c) { \
    ROW(name);                                                        \
    return apply_pointwise(row, {a, b, c});                           \
  }
#define TERNARY_P(name, p, p0, ...)                                                    \
  Tensor name(const Operand& a, const Operand& b, const Operand& c, const Scalar& p) { \
    ROW(name);                                                                         \
    return apply_pointwise(row, {a, b, c}, {p});                                       \
  }                                                                                    \
  Tensor Tensor::name(const Operand& b, const Operand& c, const Scalar& p) const {     \
    return ocl::name(*this, b, c, p);                                                  \
  }
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
#undef ROW

namespace {

std::optional<Operand> bound(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Operand>(tensor) : std::nullopt;
}

/** The parameters of the row round_decimals. Throws TypeError for integers, which are not rounded. */
std::pair<Scalar, Scalar> powers_of_ten(const Tensor& a, std::int64_t decimals) {
  require<TypeError>(is_floating(a.dtype()), "round: expected a floating dtype beside decimals, got ",
                     name(a.dtype()));
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  return decimals < 0 ? std::pair<Scalar, Scalar>(1.0, power) : std::pair<Scalar, Scalar>(power, 1.0);
}

}  // namespace

Clamping clamping(const Tensor& a, const std::optional<Operand>& min, const std::optional<Operand>& max) {
  static const PointwiseOp &both = dlprim::pointwise_op("clamp_tensor"),
                           &least = dlprim::pointwise_op("clamp_min_tensor"),
                           &most = dlprim::pointwise_op("clamp_max_tensor");
  require(min || max, "clamp: at least one of 'min' or 'max' must not be None");
  std::vector<Operand> inputs{a};
  for (const std::optional<Operand>& one : {min, max})
    if (one) inputs.push_back(*one);
  const DType dtype = result_type(inputs);
  for (const Operand& input : inputs)
    if (!input.is_tensor() && !is_floating(dtype)) dlprim::require_holds("clamp", dtype, input.number());
  return {!max ? least : !min ? most : both, std::move(inputs)};
}

Tensor clamp(const Tensor& a, const Tensor& min, const Tensor& max) {
  const Clamping way = clamping(a, bound(min), bound(max));
  return apply_pointwise(way.op, way.inputs);
}

Tensor clamp_min(const Tensor& a, const Tensor& min) {
  return clamp(a, min);
}

Tensor clamp_max(const Tensor& a, const Tensor& max) {
  return clamp(a, Tensor(), max);
}

Tensor Tensor::clamp(const Tensor& min, const Tensor& max) const {
  return ocl::clamp(*this, min, max);
}

Tensor Tensor::clamp_min(const Tensor& min) const {
  return ocl::clamp_min(*this, min);
}

Tensor Tensor::clamp_max(const Tensor& max) const {
  return ocl::clamp_max(*this, max);
}

Tensor& Tensor::clamp_(const Tensor& min, const Tensor& max) {
  const Clamping way = clamping(*this, bound(min), bound(max));
  apply_pointwise_in_place(way.op, *this, way.inputs);
  return *this;
}

Tensor& Tensor::clamp_min_(const Tensor& min) {
  return clamp_(min);
}

Tensor& Tensor::clamp_max_(const Tensor& max) {
  return clamp_(Tensor(), max);
}

Tensor polygamma(std::int64_t n, const Tensor& a) {
  ENTER_OPERATOR(polygamma, n, a);
  require(n >= 0, "polygamma(n, x) does not support negative n, got ", n);
  return polygamma_kernel(a, n);
}

Tensor Tensor::polygamma(std::int64_t n) const {
  return ocl::polygamma(n, *this);
}

Tensor& Tensor::polygamma_(std::int64_t n) {
  require(n >= 0, "polygamma(n, x) does not support negative n, got ", n);
  return polygamma_kernel_(n);
}

Tensor nan_to_num(const Tensor& a, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  ENTER_OPERATOR(nan_to_num, a, nan, posinf, neginf);
  return apply_pointwise(dlprim::nan_to_num_row(), {a},
                         dlprim::nan_to_num_parameters(a.dtype(), nan, posinf, neginf));
}

Tensor& Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                            std::optional<double> neginf) {
  apply_pointwise_in_place(dlprim::nan_to_num_row(), *this, {*this},
                           dlprim::nan_to_num_parameters(dtype(), nan, posinf, neginf));
  return *this;
}

Tensor round(const Tensor& a, std::int64_t decimals) {
  if (decimals == 0) return round(a);
  const auto [scale, divisor] = powers_of_ten(a, decimals);
  return round_decimals(a, scale, divisor);
}

Tensor Tensor::round(std::int64_t decimals) const {
  return ocl::round(*this, decimals);
}

Tensor& Tensor::round_(std::int64_t decimals) {
  if (decimals == 0) return round_();
  const auto [scale, divisor] = powers_of_ten(*this, decimals);
  return round_decimals_(scale, divisor);
}

Tensor Tensor::lerp(const Operand& end, const Operand& weight) const {
  return ocl::lerp(*this, end, weight);
}

Tensor& Tensor::lerp_(const Operand& end, const Operand& weight) {
  apply_pointwise_in_place(dlprim::pointwise_op("lerp"), *this, {*this, end, weight});
  return *this;
}

Tensor Tensor::where(const Tensor& condition, const Operand& other) const {
  return ocl::where(condition, *this, other);
}

}  // namespace ocl
