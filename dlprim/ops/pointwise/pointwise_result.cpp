#include "dlprim/ops/pointwise/pointwise_result.h"

#include <cmath>

#include "dlprim/core/memory_format.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/pointwise/complex_form.h"
#include "dlprim/ops/pointwise/pointwise_source.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

// bool below integers below floating types below complex ones: what a lower kind can be stored in, and what
// it yields to.
DTypeInfo::Kind kind(DType dtype) {
  return info(dtype).kind;
}

/** Whether it moves bits, of which bool has none that PyTorch would move. */
bool shifts(const PointwiseOp& op) {
  return uses_variable(op.forward, "LEFT_SHIFT") || uses_variable(op.forward, "RIGHT_SHIFT");
}

/** The type of elements held within bounds; defaults stand for none. */
DType bounded_type(const PointwiseOp& op, DType dtype, const std::vector<Scalar>& bounds) {
  const auto is_none = [&](std::size_t i) { return bounds[i].real() == op.parameters[i].default_value; };
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (!is_none(i) && kind(bounds[i].dtype()) > kind(dtype)) dtype = bounds[i].dtype();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (is_none(i)) continue;
    require<TypeError>(dtype != DType::boolean, op.name, ": not implemented for bool");
    require_holds(op.name.c_str(), dtype, bounds[i]);
  }
  return dtype;
}

/** The dtype that a row computes in. */
DType compute_type(const PointwiseOp& op, const std::vector<PointwiseOperand>& inputs,
                   const std::vector<Scalar>& parameters) {
  const bool is_where = op.types == TypeRule::Where;
  DType promoted = is_where ? result_type(std::vector<PointwiseOperand>(inputs.begin() + 1, inputs.end()))
                            : result_type(inputs);
  if (is_where)
    for (const PointwiseOperand& input : inputs)
      if (const auto* number = std::get_if<Scalar>(&input)) as_element(op.name.c_str(), promoted, *number);
  if (op.types == TypeRule::Integral)
    require<TypeError>(is_integral(promoted), op.name, ": expected integers or bool, got ", name(promoted));
  if (op.types == TypeRule::Float && is_integral(promoted)) promoted = DType::float32;
  require<TypeError>(!is_complex(promoted) || has_complex_form(op.forward), op.name, ": not implemented for ",
                     name(promoted));
  if (promoted == DType::boolean)
    require<TypeError>(op.types != TypeRule::Number && !shifts(op), op.name, ": expected numbers, got bool");
  if (op.types == TypeRule::Power && promoted == DType::boolean) promoted = DType::int64;
  if ((op.types == TypeRule::Same || op.types == TypeRule::Number) && is_integral(promoted))
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      // An infinite default only says "no bound"; what integers do not hold given for them would be cut off
      // silently.
      const double value = parameters[i].real();
      if (std::isinf(value) && value == op.parameters[i].default_value) continue;
      const bool is_whole = value == std::floor(value) && std::abs(value) < 0x1p63;
      if (op.parameters[i].name == "alpha") {
        require(is_whole, op.name,
                ": For integral input tensors, argument alpha must not be a floating point number, got ",
                value);
        require_holds(op.name.c_str(), promoted, parameters[i]);
      }
      if (parameters[i].kind() == Scalar::Kind::floating && !is_whole) promoted = DType::float32;
    }
  if (op.types != TypeRule::Bounded) return promoted;
  const DType bounded = bounded_type(op, promoted, parameters);
  require<TypeError>(!is_complex(bounded), op.name, ": not implemented for ", name(bounded));
  return bounded;
}

/** Refuses a number, in the place of the second input, for which whole numbers have no result. Divisors in
 * tensors the device sees; powers of whole numbers to those in tensors are 0 where they are fractions, as
 * PyTorch's. */
void require_result_of_integers(const PointwiseOp& op, const std::vector<PointwiseOperand>& inputs,
                                DType compute, const Dims& shape) {
  const Scalar* const number = inputs.size() == 2 ? std::get_if<Scalar>(&inputs[1]) : nullptr;
  if (!number || !is_integral(compute)) return;
  if (divides(op.forward))
    require<ZeroDivisionError>(number->integer() != 0 || product(shape) == 0, op.name,
                               ": ZeroDivisionError, whole numbers cannot be divided by 0");
  if (!uses_variable(op.forward, "POW")) return;
  require(number->integer() >= 0, op.name, ": Integers to negative integer powers are not allowed.");
  require(number->integer() <= integer_range(compute).second, op.name, ": value ", number->integer(),
          " cannot be converted to ", name(compute), " without overflow");
}

/** Refuses a parameter that PyTorch refuses. */
void require_parameters(const PointwiseOp& op, DType compute, const std::vector<Scalar>& parameters) {
  for (const Scalar& parameter : parameters)
    if (parameter.imaginary() != 0 && !is_complex(compute))
      require_holds(op.name.c_str(), compute, parameter);
  static const PointwiseOp& softshrink = pointwise_op("softshrink");
  if (&op != &softshrink) return;
  const double lambd = parameters.front().real(), largest = largest_floating(compute);
  require(lambd >= 0 && lambd <= largest, "softshrink: lambda must be in range [0, ", largest,
          "] for input dtype ", name(compute), ", but found ", lambd);
}

}  // namespace

DType result_type(const std::vector<PointwiseOperand>& operands) {
  // Three ranks: tensors with dimensions, scalar tensors, numbers. A lower rank counts only when it is of a
  // higher kind.
  std::optional<DType> ranks[3];
  for (const PointwiseOperand& operand : operands) {
    const Tensor* tensor = std::get_if<Tensor>(&operand);
    const int rank = !tensor ? 2 : tensor->rank() == 0 ? 1 : 0;
    const DType dtype = tensor ? tensor->dtype : std::get<Scalar>(operand).dtype();
    ranks[rank] = ranks[rank] ? promote_types(*ranks[rank], dtype) : dtype;
  }
  std::optional<DType> result;
  for (const std::optional<DType>& dtype : ranks) {
    if (!dtype) continue;
    if (!result || kind(*dtype) > kind(*result)) result = result ? promote_types(*result, *dtype) : *dtype;
  }
  require<TypeError>(result.has_value(), "result_type: expected at least one tensor or number");
  return *result;
}

PointwiseResult pointwise_result(const PointwiseOp& op, const std::vector<PointwiseOperand>& inputs,
                                 const std::vector<Scalar>& parameters) {
  static const auto& number = *new Tensor;
  const Tensor* first = nullptr;
  Dims shape;
  ElementwiseInputs tensors{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = std::get_if<Tensor>(&inputs[i]);
    tensors[i] = tensor ? tensor : &number;
    if (!tensor) continue;
    if (!first) {
      first = tensor;
      shape = tensor->shape;
      continue;
    }
    require(&tensor->device() == &first->device(), op.name, ": expected all tensors on one device, got ",
            first->device().name(), " and ", tensor->device().name());
    if (shape != tensor->shape) shape = broadcast_shapes(shape, tensor->shape, op.name.c_str());
  }
  require<TypeError>(first != nullptr, op.name, ": expected a tensor, got numbers or an undefined tensor");
  const DType compute = compute_type(op, inputs, parameters);
  require_parameters(op, compute, parameters);
  require_result_of_integers(op, inputs, compute, shape);
  return {shape, compute, op.types == TypeRule::Bool ? DType::boolean : compute,
          elementwise_strides(shape, tensors)};
}

}  // namespace dlprim
