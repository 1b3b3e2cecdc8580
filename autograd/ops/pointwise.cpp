#include "autograd/ops/pointwise.h"

#include <algorithm>
#include <cmath>

#include "autograd/call.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"

namespace ocl {
namespace {

using dlprim::PointwiseOp;
using dlprim::PointwiseOperand;
using dlprim::require;
using dlprim::TypeRule;

/** How the gradient of one input comes about. */
enum class Route { none, pass, compute };  // pass: the incoming gradient as it is

struct Input {
  Dims shape;
  DType dtype;
  Route route;
};

// bool below integers below floating types: what a lower kind can be stored in, and what it yields to.
int kind(DType dtype) {
  return is_floating(dtype) ? 2 : dtype == DType::boolean ? 0 : 1;
}

bool is_floating_scalar(const Scalar& s) {
  return s.kind() == Scalar::Kind::floating;
}

/** The type of elements held within bounds; infinite ones stand for none. */
DType bounded_type(const PointwiseOp& op, DType dtype, const std::vector<Scalar>& bounds) {
  for (const Scalar& bound : bounds)
    if (!std::isinf(bound.real()) && kind(bound.dtype()) > kind(dtype)) dtype = bound.dtype();
  if (is_floating(dtype)) return dtype;
  for (const Scalar& bound : bounds) {
    if (std::isinf(bound.real())) continue;
    require<TypeError>(dtype != DType::boolean, op.name, ": not implemented for bool");
    dlprim::require_holds(op.name.c_str(), dtype, bound);
  }
  return dtype;
}

/** Dtypes of one call: what it computes in and what it results in. */
struct Types {
  DType compute, result;
};

Types types_of(const PointwiseOp& op, const std::vector<Operand>& inputs,
               const std::vector<Scalar>& parameters) {
  const bool is_where = op.types == TypeRule::Where;
  DType promoted = result_type(is_where ? std::vector<Operand>(inputs.begin() + 1, inputs.end()) : inputs);
  if (op.types == TypeRule::Integral)
    require<TypeError>(!is_floating(promoted), op.name, ": expected integers or bool, got ", name(promoted));
  if (op.types == TypeRule::Float && !is_floating(promoted)) promoted = DType::float32;
  if (op.types == TypeRule::Number)
    require<TypeError>(promoted != DType::boolean, op.name, ": expected numbers, got bool");
  if (op.types == TypeRule::Power && promoted == DType::boolean) promoted = DType::int64;
  if ((op.types == TypeRule::Same || op.types == TypeRule::Number) && !is_floating(promoted))
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      // An infinite default only says "no bound"; a fractional number given for integers would be cut off
      // silently.
      const double value = parameters[i].real();
      if (std::isinf(value)) continue;
      if (is_floating_scalar(parameters[i]) && value != std::floor(value)) promoted = DType::float32;
    }
  if (op.types == TypeRule::Bounded) promoted = bounded_type(op, promoted, parameters);
  return {promoted, op.types == TypeRule::Bool ? DType::boolean : promoted};
}

struct Call {
  Dims shape;
  Types types;
  Device device;
};

Call plan(const PointwiseOp& op, const std::vector<Operand>& inputs, const std::vector<Scalar>& parameters) {
  const Tensor* first = nullptr;
  Dims shape;
  for (const Operand& input : inputs) {
    if (!input.is_tensor()) continue;
    const Tensor& tensor = input.tensor();
    if (!first) {
      first = &tensor;
      shape = tensor.shape();
      continue;
    }
    require(tensor.device() == first->device(), op.name, ": expected all tensors on one device, got ",
            first->data().device().name(), " and ", tensor.data().device().name());
    if (shape != tensor.shape()) shape = dlprim::broadcast_shapes(shape, tensor.shape(), op.name.c_str());
  }
  require<TypeError>(first != nullptr, op.name, ": expected at least one tensor");
  return {shape, types_of(op, inputs, parameters), first->device()};
}

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

TensorList tensors_of(const std::vector<Operand>& inputs) {
  TensorList tensors;
  for (const Operand& input : inputs) tensors.push_back(input.tensor());
  return tensors;
}

/** As the expressions of the table name the inputs. */
constexpr const char* operand_names[] = {"a", "b", "c"};

/** What a gradient of the row names beside g: saved once, given to the kernel in the expression's order. */
struct Saved {
  std::string variable;
  SavedTensor tensor;
  Scalar number = 0;
};

Input describe(const PointwiseOp& op, const std::vector<Operand>& inputs, std::size_t i) {
  const Tensor& tensor = inputs[i].tensor();
  if (!tensor.defined() || !tensor.requires_grad() || op.gradients[i].empty())
    return {{}, DType::float32, Route::none};
  return {tensor.shape(), tensor.dtype(), passes_gradient(op, i) ? Route::pass : Route::compute};
}

/** The backward function of a row: one launch for all gradients that are wanted, then sums over broadcast
 * dimensions. */
Backward gradient_of(const PointwiseOp& op, const std::vector<Operand>& inputs,
                     const std::vector<Scalar>& parameters, const dlprim::Tensor& output, DType compute) {
  unsigned computed = 0;
  std::vector<Input> described;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    described.push_back(describe(op, inputs, i));
    if (described[i].route == Route::compute) computed |= 1u << i;
  }
  static const dlprim::PointwiseExpression nothing;
  const dlprim::PointwiseExpression& expression = computed ? gradient_expression(op, computed) : nothing;
  std::vector<Saved> saved;
  for (const std::string& variable : expression.variables) {
    if (variable == "y") saved.push_back({variable, SavedTensor(output)});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (variable == operand_names[i])
        saved.push_back({variable, SavedTensor(inputs[i].tensor()), inputs[i].number()});
  }
  return [&expression, saved = std::move(saved), described = std::move(described), parameters, compute,
          shape = output.shape](const TensorList& gradients) {
    const Tensor& g = gradients[0];
    std::vector<dlprim::Tensor> outputs;
    for (const Input& input : described)
      if (input.route == Route::compute)
        outputs.push_back(dlprim::Tensor::empty(*g.device(), shape, compute));
    if (!outputs.empty()) {
      std::vector<PointwiseOperand> operands;
      for (const std::string& variable : expression.variables) {
        if (variable == "g") operands.push_back(g.data());
        for (const Saved& s : saved)
          if (s.variable == variable)
            operands.push_back(s.tensor.defined() ? PointwiseOperand(s.tensor.unpack())
                                                  : PointwiseOperand(s.number));
      }
      dlprim::pointwise(g.device()->queue(), expression, compute, operands, parameters, outputs);
    }
    TensorList results;
    auto next = outputs.begin();
    for (const Input& input : described) {
      if (input.route == Route::none)
        results.emplace_back();
      else
        results.push_back(
            to(sum_to_shape(input.route == Route::pass ? g : Tensor(*next++), input.shape), input.dtype));
    }
    return results;
  };
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
  // Three ranks: tensors with dimensions, scalar tensors, numbers. A lower rank counts only when it is of a
  // higher kind.
  std::optional<DType> ranks[3];
  for (const Operand& operand : operands) {
    const int rank = !operand.is_tensor() ? 2 : operand.tensor().dim() == 0 ? 1 : 0;
    const DType dtype = operand.is_tensor() ? operand.tensor().dtype() : operand.number().dtype();
    ranks[rank] = ranks[rank] ? promote_types(*ranks[rank], dtype) : dtype;
  }
  std::optional<DType> result;
  for (const std::optional<DType>& dtype : ranks) {
    if (!dtype) continue;
    if (!result || kind(*dtype) > kind(*result)) result = dtype;
  }
  return *result;
}

Tensor apply_pointwise(const PointwiseOp& op, const std::vector<Operand>& inputs,
                       const std::vector<Scalar>& parameters) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), inputs, parameters);
  const Call call = plan(op, inputs, parameters);
  const dlprim::Tensor output = dlprim::Tensor::empty(*call.device, call.shape, call.types.result);
  dlprim::pointwise(call.device->queue(), forward_expression(op), call.types.compute, raw(inputs), parameters,
                    {output});
  if (!op.differentiable()) return Tensor(output);
  return record(op.name.c_str(), tensors_of(inputs), output,
                [&] { return gradient_of(op, inputs, parameters, output, call.types.compute); });
}

void apply_pointwise_in_place(const PointwiseOp& op, Tensor& target, const std::vector<Operand>& inputs,
                              const std::vector<Scalar>& parameters) {
  ENTER_OPERATOR_NAMED(op.name.c_str(), target, inputs, parameters);
  const Call call = plan(op, inputs, parameters);
  require(call.shape == target.shape(), op.name, "_: output with shape ", target.shape(),
          " doesn't match the broadcast shape ", call.shape);
  require<TypeError>(kind(call.types.result) <= kind(target.dtype()), op.name, "_: result type ",
                     name(call.types.result), " can't be cast to the desired output type ",
                     name(target.dtype()));
  const TensorList tensors = tensors_of(inputs);
  check_in_place(op.name.c_str(), target, tensors);
  const std::vector<Operand> before = needs_tape(tensors) ? before_write(op, target, inputs) : inputs;
  dlprim::pointwise(call.device->queue(), forward_expression(op), call.types.compute, raw(inputs), parameters,
                    {target.data()});
  record_in_place(op.name.c_str(), target, TensorList(tensors.begin() + 1, tensors.end()),
                  [&] { return gradient_of(op, before, parameters, target.data(), call.types.compute); });
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
  }
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
#undef ROW

}  // namespace ocl
