#include "aten/pointwise.h"

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "aten/accepted_types.h"
#include "aten/kernels.h"
#include "aten/norm_activation.h"
#include "aten/rows.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/ops/pointwise/pointwise_result.h"

/** \file Every row of dlprim's pointwise table, and of rows.cpp, whose name is an operator of aten, in all
 * forms of it: a row serves the functional operator, the one that writes to `out` and the one in place, with
 * tensors and numbers. */

namespace torch_ocl {
namespace {

/** How a form's arguments become a row's. */
struct Form {
  const dlprim::PointwiseOp* row;
  std::vector<std::size_t> inputs;  // places of the arguments
  std::vector<int> parameters;      // of the row's parameters, -1: its default
  Result result;
  std::size_t out = 0;  // its place
};

bool is_number(c10::TypePtr type) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  for (const auto kind :
       {c10::TypeKind::NumberType, c10::TypeKind::FloatType, c10::TypeKind::IntType, c10::TypeKind::BoolType})
    if (type->kind() == kind) return true;
  return false;
}

bool is_operand(const c10::Argument& argument) {
  const auto kind = argument.type()->kind();
  return kind == c10::TypeKind::TensorType || kind == c10::TypeKind::NumberType;
}

/** The form of a schema, if it is one of the row's. */
std::optional<Form> form_of(const dlprim::PointwiseOp& row, const c10::FunctionSchema& schema) {
  Form form{&row, {}, std::vector<int>(row.parameters.size(), -1), Result::fresh, 0};
  const auto& arguments = schema.arguments();
  if (schema.returns().size() != 1 || schema.returns()[0].type()->kind() != c10::TypeKind::TensorType)
    return std::nullopt;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = arguments[i];
    if (argument.is_out()) {
      form.result = Result::out;
      form.out = i;
      continue;
    }
    std::size_t p = 0;
    while (p < row.parameters.size() && row.parameters[p].name != argument.name()) ++p;
    if (p < row.parameters.size()) {
      if (!is_number(argument.type())) return std::nullopt;
      form.parameters[p] = static_cast<int>(i);
      continue;
    }
    if (!is_operand(argument) || form.inputs.size() == static_cast<std::size_t>(row.inputs))
      return std::nullopt;
    if (argument.alias_info() && argument.alias_info()->isWrite()) {
      form.result = Result::in_place;
      form.out = i;
    }
    form.inputs.push_back(i);
  }
  if (form.inputs.size() != static_cast<std::size_t>(row.inputs)) return std::nullopt;
  return form;
}

dlprim::PointwiseOperand operand_of(const c10::IValue& value, c10::Device device) {
  if (!value.isTensor()) return scalar_of(value.toScalar());
  const at::Tensor& tensor = value.toTensor();
  if (!tensor.is_cpu() || tensor.dim() > 0) return raw(tensor);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return scalar_of(tensor.item());
  return raw(tensor.to(device));
}

/** Where `result` is, with what the row makes of the inputs. */
void compute(const dlprim::PointwiseOp& row, const dlprim::PointwiseResult& made,
             std::vector<dlprim::PointwiseOperand> inputs, const std::vector<dlprim::Scalar>& parameters,
             const at::Tensor& result) {
  for (dlprim::PointwiseOperand& input : inputs)
    if (auto* tensor = std::get_if<dlprim::Tensor>(&input); tensor && tensor->shape != made.shape)
      *tensor = tensor->expanded(made.shape);
  dlprim::pointwise(device_under(result).queue(), dlprim::forward_expression(row), made.compute, inputs,
                    parameters, {raw(result)});
}

/** The number that an integer dtype holds of another, wrapped around as in C. */
std::int64_t low_bits(std::int64_t number, dlprim::DType dtype) {
  const auto [least, largest] = dlprim::integer_range(dtype);
  const auto first = static_cast<std::uint64_t>(least);
  const std::uint64_t count = static_cast<std::uint64_t>(largest) - first + 1;  // 0 stands for 2^64
  if (count == 0) return number;
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(number) - first) % count + first);
}

/** Whole numbers among the inputs of integers as PyTorch takes them: cut off to the dtype. (dlprim computes
 * with the number that is given: no uint8 is below -1.) Exponents that the dtype does not hold are refused.
 */
void cut_off(const dlprim::PointwiseOp& row, std::vector<dlprim::PointwiseOperand>& inputs,
             dlprim::DType promoted) {
  for (dlprim::PointwiseOperand& input : inputs) {
    if (row.name == "pow" && &input == &inputs.back()) continue;
    const auto* number = std::get_if<dlprim::Scalar>(&input);
    if (!number || number->kind() != dlprim::Scalar::Kind::integer) continue;
    if (dlprim::is_integral(promoted) && promoted != dlprim::DType::boolean)
      input = dlprim::Scalar(low_bits(number->integer(), promoted));
  }
}

/** Parameters of integers as PyTorch takes them: cut off, but for a factor, which it refuses. (dlprim makes
 * the result floating.) */
std::vector<dlprim::Scalar> as_numbers_of(const dlprim::PointwiseOp& row, dlprim::DType promoted,
                                          std::vector<dlprim::Scalar> given) {
  using dlprim::TypeRule;
  const bool keeps_integers = row.types == TypeRule::Same || row.types == TypeRule::Number;
  if (given.empty() || !keeps_integers || !dlprim::is_integral(promoted)) return given;
  for (std::size_t p = 0; p < given.size(); ++p) {
    const double value = given[p].real();
    if (value == std::floor(value)) continue;  // infinity too: no bound
    TORCH_CHECK(row.parameters[p].name != "alpha", row.name,
                ": for integral input tensors, argument alpha must not be a floating point number, got ",
                value);
    given[p] = dlprim::Scalar(given[p].integer());
  }
  return given;
}

/** Refuses parameters that PyTorch's kernels refuse. */
void require_parameters(const dlprim::PointwiseOp& row, dlprim::DType promoted,
                        const std::vector<dlprim::Scalar>& given) {
  if (row.name == "celu") TORCH_CHECK(given[0].real() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  if (row.name != "softshrink") return;
  const c10::ScalarType type = type_of(promoted);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "softshrink", [&] {
    const double lambd = given[0].real(), most = std::numeric_limits<scalar_t>::max();
    TORCH_CHECK(0 <= lambd && lambd <= most, "lambda must be in range [0, ", most, "] for input dtype ", type,
                ", but found ", lambd);
  });
}

}  // namespace

at::Tensor compute_row(const dlprim::PointwiseOp& row, const std::vector<c10::IValue>& arguments,
                       const std::vector<dlprim::Scalar>& given, Result kind, at::Tensor result) {
  if (row.inputs == 1 && kind != Result::out && given.empty() && arguments[0].isTensor())
    if (at::Tensor y = activate_deferred_norm(row, arguments[0].toTensor(), kind == Result::in_place);
        y.defined())
      return y;
  std::optional<c10::Device> device;
  for (const c10::IValue& argument : arguments)
    if (argument.isTensor() && argument.toTensor().is_privateuseone()) device = argument.toTensor().device();
  TORCH_CHECK(device, row.name, ": no input lies on an ocl device");
  std::vector<dlprim::PointwiseOperand> inputs;
  inputs.reserve(arguments.size());
  for (const c10::IValue& argument : arguments) inputs.push_back(operand_of(argument, *device));
  const dlprim::DType promoted = dlprim::result_type(inputs);
  require_accepted(row.name, inputs, promoted);
  if (!given.empty()) require_parameters(row, promoted, given);
  const std::vector<dlprim::Scalar> parameters = as_numbers_of(row, promoted, given);
  cut_off(row, inputs, promoted);
  const dlprim::PointwiseResult made = dlprim::pointwise_result(row, inputs, parameters);
  if (kind == Result::fresh) {
    result = empty(device_of(device->index()), made.shape, made.strides, made.dtype);
  } else {
    TORCH_CHECK(c10::canCast(type_of(made.dtype), result.scalar_type()), "result type ", type_of(made.dtype),
                " can't be cast to the desired output type ", result.scalar_type());
    if (kind == Result::out)
      at::native::resize_output(result, sizes_of(made.shape));
    else
      TORCH_CHECK(result.sizes() == sizes_of(made.shape), "output with shape ", result.sizes(),
                  " doesn't match the broadcast shape ", sizes_of(made.shape));
    at::assert_no_internal_overlap(result);
    for (const c10::IValue& argument : arguments)
      if (argument.isTensor()) at::assert_no_partial_overlap(result, argument.toTensor());
  }
  if (result.numel() > 0) compute(row, made, std::move(inputs), parameters, result);
  return result;
}

namespace {

/** The row's parameters: the arguments at those places, or their defaults. */
template <class Argument>
std::vector<dlprim::Scalar> parameters_of(const dlprim::PointwiseOp& row, const std::vector<int>& places,
                                          const Argument& argument) {
  std::vector<dlprim::Scalar> parameters;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const bool is_given = places[p] >= 0 && !argument(static_cast<std::size_t>(places[p])).isNone();
    parameters.push_back(is_given ? scalar_of(argument(static_cast<std::size_t>(places[p])).toScalar())
                                  : dlprim::Scalar(row.parameters[p].default_value));
  }
  return parameters;
}

/** Whether the row takes these numbers, some of which are complex. Those of 16 bits are none of dlprim's. */
bool are_complex_for(const dlprim::PointwiseOp& row, c10::ArrayRef<c10::IValue> arguments) {
  const auto is_fine = [](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return true;
    const at::Tensor& tensor = value.toTensor();
    const c10::ScalarType type = tensor.scalar_type();
    return tensor.layout() == c10::kStrided && c10::elementSize(type) != 2 &&
           (has_kernels(type) || type == c10::kComplexFloat || type == c10::kComplexDouble);
  };
  return takes_complex(row) && std::all_of(arguments.begin(), arguments.end(), is_fine);
}

/** A row's result for complex numbers, computed from their parts; undefined for other rows. */
at::Tensor of_parts(const std::string& row, const c10::IValue& value) {
  const at::Tensor z = value.isTensor() ? value.toTensor() : at::Tensor();
  if (!z.defined() || !(z.scalar_type() == c10::kComplexFloat || z.scalar_type() == c10::kComplexDouble))
    return {};
  if (row == "abs") return at::hypot(at::real(z), at::imag(z));
  if (row == "angle") return at::atan2(at::imag(z), at::real(z));
  if (row != "sgn") return {};
  const at::Tensor size = z.abs();
  return z / size.masked_fill(size.eq(0), 1);
}

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(Form form) : form_(std::move(form)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size(), base = stack->size() - count;
    const auto given = torch::jit::last(*stack, count);
    if (!are_for_kernels(given) && !are_complex_for(*form_.row, given)) {
      const at::Tensor made =
          form_.result == Result::in_place ? at::Tensor() : of_parts(form_.row->name, given[0]);
      if (!made.defined()) return on_the_cpu(op, stack);
      at::Tensor result = form_.result == Result::out ? given[form_.out].toTensor() : made;
      if (form_.result == Result::out) {
        at::native::resize_output(result, made.sizes());
        result.copy_(made);
      }
      torch::jit::drop(*stack, count);
      return torch::jit::push(*stack, std::move(result));
    }
    const auto argument = [&](std::size_t i) -> const c10::IValue& { return (*stack)[base + i]; };
    std::vector<c10::IValue> inputs;
    inputs.reserve(form_.inputs.size());
    for (const std::size_t i : form_.inputs) inputs.push_back(argument(i));
    if (form_.row->types == dlprim::TypeRule::Bounded && has_infinite_bound(argument))
      inputs[0] = as_floating(inputs[0].toTensor());
    at::Tensor result =
        compute_row(*form_.row, inputs, parameters_of(*form_.row, form_.parameters, argument), form_.result,
                    form_.result == Result::fresh ? at::Tensor() : argument(form_.out).toTensor());
    torch::jit::drop(*stack, count);
    torch::jit::push(*stack, std::move(result));
  }

 private:
  /** Whether a bound that was given is infinite: dlprim's rows have such where there is none. */
  template <class Argument>
  bool has_infinite_bound(const Argument& argument) const {
    return std::any_of(form_.parameters.begin(), form_.parameters.end(), [&](int place) {
      if (place < 0) return false;
      const c10::IValue& bound = argument(static_cast<std::size_t>(place));
      return bound.isDouble() && std::isinf(bound.toDouble());
    });
  }
  static at::Tensor as_floating(const at::Tensor& self) {
    return self.is_floating_point() ? self : self.to(c10::get_default_dtype_as_scalartype());
  }

  Form form_;
};

/** How the arguments of `<row>_backward` become a row's gradient. */
struct BackwardForm {
  const dlprim::PointwiseOp* row;
  std::size_t gradient = 0, out = 0;
  int x = -1, y = -1;  // places of the input and of the result, those that are there
  std::vector<int> parameters;
};

std::optional<BackwardForm> backward_form_of(const dlprim::PointwiseOp& row,
                                             const c10::FunctionSchema& schema) {
  if (row.inputs != 1 || !row.differentiable()) return std::nullopt;
  BackwardForm form{&row, 0, 0, -1, -1, std::vector<int>(row.parameters.size(), -1)};
  bool has_out = false;
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i].name();
    std::size_t p = 0;
    while (p < row.parameters.size() && row.parameters[p].name != name) ++p;
    if (arguments[i].is_out()) {
      form.out = i;
      has_out = true;
    } else if (p < row.parameters.size()) {
      form.parameters[p] = static_cast<int>(i);
    } else if (name == "grad_output" || name == "grad_out") {
      form.gradient = i;
    } else if (name == "self_is_result") {
      continue;  // of leaky_relu, whose result has its input's sign
    } else if (name == "self") {
      form.x = static_cast<int>(i);
    } else if (name == "output") {
      form.y = static_cast<int>(i);
    } else {
      return std::nullopt;
    }
  }
  const bool lacks_x = form.x < 0 && dlprim::uses_variable(row.gradients[0], "a");
  const bool lacks_y = form.y < 0 && dlprim::uses_variable(row.gradients[0], "y");
  return has_out && !lacks_x && !lacks_y ? std::optional(form) : std::nullopt;
}

/** PyTorch makes the functional form of these from the one with `out`. */
class BackwardKernel final : public c10::OperatorKernel {
 public:
  explicit BackwardKernel(BackwardForm form) : form_(std::move(form)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size(), base = stack->size() - count;
    if (!are_for_kernels(torch::jit::last(*stack, count))) return on_the_cpu(op, stack);
    const auto argument = [&](std::size_t i) -> const c10::IValue& { return (*stack)[base + i]; };
    at::Tensor out = argument(form_.out).toTensor();
    std::vector<std::int64_t> sizes = argument(form_.gradient).toTensor().sizes().vec();
    for (const int place : {form_.x, form_.y})
      if (place >= 0)
        sizes = at::infer_size(sizes, argument(static_cast<std::size_t>(place)).toTensor().sizes());
    at::native::resize_output(out, sizes);
    const dlprim::Dims shape = dims_of(out.sizes());
    const auto tensor_at = [&](int place) {
      return place < 0 ? dlprim::Tensor()
                       : raw(argument(static_cast<std::size_t>(place)).toTensor()).expanded(shape);
    };
    if (out.numel() > 0)
      dlprim::pointwise_backward(device_under(out).queue(), *form_.row,
                                 tensor_at(static_cast<int>(form_.gradient)), {tensor_at(form_.x)},
                                 parameters_of(*form_.row, form_.parameters, argument), tensor_at(form_.y),
                                 {raw(out)});
    torch::jit::drop(*stack, count);
    torch::jit::push(*stack, std::move(out));
  }

 private:
  BackwardForm form_;
};

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::unordered_map<std::string, const dlprim::PointwiseOp*> rows, gradients;
  for (const auto* table : {&dlprim::pointwise_table(), &more_rows()})  // the later ones count
    for (const dlprim::PointwiseOp& row : *table) {
      rows["aten::" + row.name] = &row;
      rows["aten::" + row.name + "_"] = &row;
      gradients["aten::" + row.name + "_backward"] = &row;
    }
  for (const auto& [name, row] : {std::pair("aten::_prelu_kernel", "prelu_kernel"),
                                  {"aten::__lshift__", "bitwise_left_shift"},
                                  {"aten::__ilshift__", "bitwise_left_shift"},
                                  {"aten::__rshift__", "bitwise_right_shift"},
                                  {"aten::__irshift__", "bitwise_right_shift"}})
    rows[name] = &dlprim::pointwise_op(row);
  // Those with kernels of their own: elementwise.cpp, activation.cpp.
  for (const char* name : {"aten::hardtanh", "aten::hardtanh_"}) rows.erase(name);
  gradients.erase("aten::threshold_backward");
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto row = rows.find(name.name), gradient = gradients.find(name.name);
    if (row == rows.end() && gradient == gradients.end()) continue;
    const auto op = dispatcher.findSchema(name);
    // Operators that are made of others have their derivative from those.
    if (!op || op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) continue;
    if (row == rows.end()) {
      if (std::optional<BackwardForm> form = backward_form_of(*gradient->second, op->schema()))
        m.impl(toString(name).c_str(),
               torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BackwardKernel>(std::move(*form))));
    } else if (std::optional<Form> form = form_of(*row->second, op->schema()))
      m.impl(toString(name).c_str(),
             torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(std::move(*form))));
  }
}

}  // namespace
}  // namespace torch_ocl
