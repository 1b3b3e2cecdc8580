#include "aten/row_kernels.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "autograd/tape/engine.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/precision.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/shapes_only.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

enum class Writes { nothing, out, self };

c10::OperatorHandle operator_of(const std::string& schema) {
  const std::size_t dot = schema.find('.');
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      ("aten::" + schema.substr(0, dot)).c_str(),
      dot == std::string::npos ? "" : schema.substr(dot + 1).c_str());
}

/** The arguments but for those that results go to. */
std::vector<c10::Argument> given_arguments(const c10::FunctionSchema& schema) {
  std::vector<c10::Argument> given;
  for (const c10::Argument& argument : schema.arguments())
    if (!argument.is_out()) given.push_back(argument);
  return given;
}

bool have_the_same_arguments(const c10::FunctionSchema& a, const c10::FunctionSchema& b) {
  const auto is_same = [](const c10::Argument& x, const c10::Argument& y) {
    return x.name() == y.name() && *x.type() == *y.type();
  };
  const std::vector<c10::Argument> of_a = given_arguments(a), of_b = given_arguments(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), is_same);
}

bool names(const std::string& type, std::string_view part) {
  return type.find(part) != std::string::npos;
}

/** Where a parameter of a form of ocl's is among the arguments, and what its numbers stand for. */
struct Taken {
  int place = -1;  // -1: left out
  bool is_dtype, is_reduction, is_operand, is_optional;

  explicit Taken(const ocl::OperatorParameter& parameter)
      : is_dtype(names(parameter.type, "DType")),
        is_reduction(names(parameter.type, "Reduction")),
        is_operand(names(parameter.type, "Operand")),
        is_optional(names(parameter.type, "optional")) {}
};

/** How a form of aten's becomes a call of ocl's. */
struct RowCall {
  const ocl::OperatorForm* form;
  std::vector<Taken> parameters;  // the form's, in order
  Writes writes = Writes::nothing;
  std::size_t outs = 0;  // how many of the last arguments results go to
  Takes takes = Takes::any;
  bool has_in_place = false;  // whether aten has the operator in place, too
};

/** The argument as the parameter takes it. */
ocl::OperatorValue value_of(const c10::IValue& value, const Taken& parameter, bool is_written) {
  if (value.isNone()) return {};
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return {};
    if (parameter.is_operand && tensor.is_cpu() && tensor.dim() == 0) return scalar_of(tensor.item());
    return is_written ? tensor_to_write(tensor) : tensor_to_read(tensor);
  }
  if (value.isTensorList()) {
    ocl::TensorList tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor_to_read(tensor));
    return tensors;
  }
  if (value.isIntList()) {
    std::vector<std::int64_t> numbers = value.toIntVector();
    if (numbers.empty() && parameter.is_optional) return {};  // a stride that is the kernel's size
    return numbers;
  }
  if (value.isString()) return value.toStringRef();
  if (parameter.is_dtype && value.isInt()) return dtype_of(static_cast<c10::ScalarType>(value.toInt()));
  if (parameter.is_reduction && value.isInt()) {
    return std::string(word_of("reduction", value.toInt(), {"none", "mean", "sum"}));
  }
  return scalar_of(value.toScalar());
}

/** Whether ocl has the dtype that an argument names. */
bool has_its_dtype(const c10::IValue& value, const Taken& parameter) {
  return !parameter.is_dtype || !value.isInt() || has_kernels(static_cast<c10::ScalarType>(value.toInt()));
}

/** The tensors among values. */
ocl::TensorList tensors_among(const std::vector<ocl::OperatorValue>& values) {
  ocl::TensorList tensors;
  for (const ocl::OperatorValue& value : values) {
    if (const auto* tensor = std::get_if<ocl::Tensor>(&value)) tensors.push_back(*tensor);
    if (const auto* several = std::get_if<ocl::TensorList>(&value))
      tensors.insert(tensors.end(), several->begin(), several->end());
  }
  return tensors;
}

/** The common part of kernels that are calls of ocl. */
class CallingKernel : public c10::OperatorKernel {
 public:
  CallingKernel(RowCall call, const char* operation) : call_(std::move(call)), operation_(operation) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size();
    const Arguments arguments = torch::jit::last(*stack, count);
    if (!can_be_computed(arguments)) return on_the_cpu(op, stack);
    const Inside inside(operation_);
    follow_settings();
    std::vector<at::Tensor> results = with_errors_of_torch([&] { return compute(arguments); });
    if (call_.outs > 0)
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = write(results[i], i, arguments);
    torch::jit::drop(*stack, count);
    if (op.schema().returns().size() == 1 &&
        op.schema().returns()[0].type()->kind() == c10::TypeKind::ListType)
      return torch::jit::push(*stack, std::move(results));
    for (at::Tensor& result : results) torch::jit::push(*stack, std::move(result));
  }

 protected:
  virtual std::vector<at::Tensor> compute(Arguments arguments) const = 0;

  const c10::IValue& argument(Arguments arguments, std::size_t parameter) const {
    return arguments[static_cast<std::size_t>(call_.parameters[parameter].place)];
  }

  ocl::OperatorValue value_at(std::size_t i, Arguments arguments) const {
    const Taken& parameter = call_.parameters[i];
    if (parameter.place < 0) return {};
    const c10::IValue& given = argument(arguments, i);
    // It is computed in the dtype of `out` where no other is named.
    if (parameter.is_dtype && given.isNone() && call_.writes == Writes::out)
      return dtype_of(arguments.back().toTensor().scalar_type());
    return value_of(given, parameter, call_.writes == Writes::self && i == 0);
  }

  /** A tensor that is written must be none of those that are read, but for `self` of operators that have a
   * form in place. */
  void require_apart(const at::Tensor& written, Arguments arguments) const {
    at::assert_no_internal_overlap(written);
    for (std::size_t i = 0; i < arguments.size() - call_.outs; ++i) {
      if (!arguments[i].isTensor() || !arguments[i].toTensor().defined()) continue;
      if (i == 0 && call_.has_in_place)
        at::assert_no_partial_overlap(written, arguments[i].toTensor());
      else
        at::assert_no_overlap(written, arguments[i].toTensor());
    }
  }

  const RowCall call_;
  const char* const operation_;

 private:
  bool can_be_computed(Arguments arguments) const {
    if (!are_for_kernels(arguments)) return false;
    for (std::size_t i = 0; i < call_.parameters.size(); ++i)
      if (call_.parameters[i].place >= 0 && !has_its_dtype(argument(arguments, i), call_.parameters[i]))
        return false;
    const bool has_self = call_.parameters[0].place >= 0 && argument(arguments, 0).isTensor();
    return call_.takes == Takes::any || !has_self || argument(arguments, 0).toTensor().is_floating_point();
  }

  at::Tensor write(const at::Tensor& made, std::size_t i, Arguments arguments) const {
    const at::Tensor& out = arguments[arguments.size() - call_.outs + i].toTensor();
    TORCH_CHECK(out.scalar_type() == made.scalar_type(), operation_, ": Expected out tensor to have dtype ",
                made.scalar_type(), ", but got ", out.scalar_type(), " instead");
    at::assert_no_internal_overlap(out);
    at::native::resize_output(out, made.sizes());
    require_apart(out, arguments);
    return out.copy_(made);
  }
};

class RowKernel final : public CallingKernel {
 public:
  using CallingKernel::CallingKernel;

 private:
  std::vector<at::Tensor> compute(Arguments arguments) const override {
    if (call_.writes == Writes::self) require_apart(arguments[0].toTensor(), arguments);
    std::vector<ocl::OperatorValue> values;
    values.reserve(call_.parameters.size());
    for (std::size_t i = 0; i < call_.parameters.size(); ++i) values.push_back(value_at(i, arguments));
    const ocl::TensorList given = tensors_among(values), made = (*call_.form)(std::move(values));
    std::vector<at::Tensor> results;
    for (const ocl::Tensor& each : made)
      results.push_back(call_.writes == Writes::self ? write_over(each.data(), arguments[0].toTensor())
                                                     : result_of(each, given));
    return results;
  }

  at::Tensor write_over(const dlprim::Tensor& made, const at::Tensor& self) const {
    if (made.storage == raw_to_read(self).storage) return self;  // the operator itself has written there
    TORCH_CHECK(self.sizes() == sizes_of(made.shape), operation_, ": output with shape ", self.sizes(),
                " doesn't match the broadcast shape ", sizes_of(made.shape));
    TORCH_CHECK(c10::canCast(type_of(made.dtype), self.scalar_type()), "result type ", type_of(made.dtype),
                " can't be cast to the desired output type ", self.scalar_type());
    return self.copy_(tensor_over(made));
  }
};

/** Where what a gradient takes is among the arguments; -1: nowhere. */
struct GradientPlaces {
  int gradient = -1, shape = -1, mask = -1;
};

/** The gradients of a call with respect to the tensors that it was given. */
class GradientKernel final : public CallingKernel {
 public:
  GradientKernel(RowCall call, const char* operation, GradientPlaces places, std::size_t results,
                 const GradientOptions& options)
      : CallingKernel(std::move(call), operation), places_(places), results_(results), options_(options) {}

 private:
  std::vector<at::Tensor> compute(Arguments arguments) const override {
    const at::Tensor& gradient = at(arguments, places_.gradient).toTensor();
    const at::Tensor g = as_computed(gradient);
    std::vector<at::Tensor> alive;  // what has been copied for the call
    std::vector<ocl::OperatorValue> values;
    ocl::TensorList inputs, wanted;
    for (std::size_t i = 0; i < call_.parameters.size(); ++i) {
      if (call_.parameters[i].place < 0 || !argument(arguments, i).isTensor()) {
        values.push_back(value_at(i, arguments));
        continue;
      }
      alive.push_back(as_computed(argument(arguments, i).toTensor()));
      ocl::Tensor input = tensor_to_read(alive.back());
      if (inputs.size() < results_) {
        inputs.push_back(input);
        if (is_wanted(arguments, inputs.size() - 1)) wanted.push_back(input.requires_grad_());
      }
      values.push_back(input);
    }
    if (places_.shape >= 0) {
      inputs.push_back(shape_of(arguments, g));
      wanted.push_back(inputs.back());
      values[0] = inputs.back();
    }
    const ocl::Tensor output = output_of(std::move(values));
    const ocl::TensorList found = gradients_of(output, wanted, tensor_to_read(g));
    std::vector<at::Tensor> results;
    std::size_t next = 0;
    for (const ocl::Tensor& input : inputs)
      results.push_back(input.requires_grad() ? as_given(result_of(found[next++], {}), gradient)
                                              : at::Tensor());
    return results;
  }

  /** The operator's result, to be asked for its history. */
  ocl::Tensor output_of(std::vector<ocl::OperatorValue> values) const {
    std::optional<dlprim::ShapesOnly> no_elements;
    if (!options_.runs) no_elements.emplace();
    return (*call_.form)(std::move(values)).front();
  }

  /** Zeros for an input that the result does not hang on. */
  ocl::TensorList gradients_of(const ocl::Tensor& output, const ocl::TensorList& inputs,
                               const ocl::Tensor& g) const {
    if (options_.by_element && output.dim() == 0 && g.dim() != 0) {
      ocl::TensorList found = gradients_of(output, inputs, ocl::ones_like(output));
      for (ocl::Tensor& one : found) one = ocl::mul(one, g);
      return found;
    }
    ocl::TensorList found(inputs.size());
    if (output.requires_grad()) found = ocl::autograd::grad({output}, inputs, {g}, std::nullopt, false, true);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!found[i].defined()) found[i] = ocl::zeros_like(inputs[i]);
    return found;
  }

  static const c10::IValue& at(Arguments arguments, int place) {
    return arguments[static_cast<std::size_t>(place)];
  }

  bool is_wanted(Arguments arguments, std::size_t result) const {
    return places_.mask < 0 || at(arguments, places_.mask).toBoolList().get(result);
  }

  at::Tensor as_computed(const at::Tensor& given) const {
    if (!given.defined()) return given;
    const bool is_widened = options_.widens && c10::isReducedFloatingType(given.scalar_type());
    return (is_widened ? given.to(c10::kFloat) : given).contiguous();
  }
  static at::Tensor as_given(const at::Tensor& made, const at::Tensor& gradient) {
    return made.to(gradient.scalar_type());
  }

  /** A tensor of the shape of the operator's operand, where nothing else is known of it. */
  ocl::Tensor shape_of(Arguments arguments, const at::Tensor& g) const {
    const dlprim::ShapesOnly no_elements;
    const dlprim::Dims shape(at(arguments, places_.shape).toIntVector());
    return ocl::Tensor(dlprim::Tensor::empty(device_under(g), shape, dtype_of(g.scalar_type())), true);
  }

  const GradientPlaces places_;
  const std::size_t results_;
  const GradientOptions options_;
};

/** Where the parameters of a form are among the arguments of a schema. */
std::vector<Taken> taken_by(const ocl::OperatorForm& form, const c10::FunctionSchema& schema,
                            const ArgumentNames& names) {
  const auto& parameters = form.parameters();
  std::vector<Taken> taken(parameters.begin(), parameters.end());
  const std::vector<c10::Argument> given = given_arguments(schema);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto other = names.renamed.find(given[i].name());
    const std::string& name = other == names.renamed.end() ? given[i].name() : other->second;
    std::size_t p = 0;
    while (p < parameters.size() && parameters[p].name != name) ++p;
    if (p == parameters.size() && name == "self") p = 0;
    if (p < parameters.size())
      taken[p].place = static_cast<int>(i);
    else
      TORCH_CHECK(std::find(names.ignored.begin(), names.ignored.end(), name) != names.ignored.end(),
                  schema.name(), ": nothing is known of argument ", name);
  }
  return taken;
}

}  // namespace

void follow_settings() {
  ocl::set_matmul_precision(matmul_precision());
}

ocl::Tensor tensor_to_read(const at::Tensor& tensor) {
  return tensor.defined() ? ocl::Tensor(raw_to_read(tensor)) : ocl::Tensor();
}

ocl::Tensor tensor_to_write(const at::Tensor& tensor) {
  return tensor.defined() ? ocl::Tensor(raw(tensor)) : ocl::Tensor();
}

at::Tensor result_of(const ocl::Tensor& made, const ocl::TensorList& given) {
  const dlprim::Tensor& elements = made.data();
  const bool is_given = std::any_of(given.begin(), given.end(), [&](const ocl::Tensor& tensor) {
    return tensor.defined() && tensor.data().storage == elements.storage;
  });
  if (!is_given) return tensor_over(elements);
  const at::Tensor copy =
      empty(elements.device(), elements.shape, dlprim::strides_like(elements), elements.dtype);
  if (copy.numel() > 0) dlprim::copy(elements.device().queue(), elements, raw_to_overwrite(copy));
  return copy;
}

std::string RowKernels::parameters_of(const char* schema, const std::vector<std::string>& kinds) {
  const std::vector<c10::Argument> arguments = given_arguments(operator_of(schema).schema());
  TORCH_CHECK(arguments.size() == kinds.size(), schema, ": expected a function of ", arguments.size(),
              " parameters, got ", kinds.size());
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    text += (text.empty() ? "(" : ", ") + kinds[i] + " " + arguments[i].name() + " = {}";
  return text + ")";
}

void RowKernels::row(const char* schema, const ocl::OperatorForm& form, const ArgumentNames& names) {
  const bool is_floating = ocl::operator_row(form.name()).dtypes.rfind("floating", 0) == 0;
  add(schema, form, names, is_floating ? Takes::floating : Takes::any);
}

namespace {

/** Every operator that PyTorch has, by its name. */
const std::multimap<std::string, c10::OperatorHandle>& all_operators() {
  static const auto& all = *[] {
    auto* operators = new std::multimap<std::string, c10::OperatorHandle>;
    auto& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames())
      if (const auto op = dispatcher.findSchema(name)) operators->emplace(name.name, *op);
    return operators;
  }();
  return all;
}

/** The forms of aten's operator, in place too, that have the schema's arguments. */
std::vector<c10::OperatorHandle> forms_of(const c10::OperatorHandle& functional) {
  std::vector<c10::OperatorHandle> forms;
  for (const char* end : {"", "_"}) {
    const auto [first, last] = all_operators().equal_range(functional.schema().name() + end);
    for (auto other = first; other != last; ++other)
      // An operator that is made of others for each device has its derivative from those.
      if (have_the_same_arguments(other->second.schema(), functional.schema()) &&
          !other->second.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd))
        forms.push_back(other->second);
  }
  return forms;
}

void register_kernel(torch::Library& library, const c10::OperatorHandle& op,
                     std::unique_ptr<CallingKernel> kernel) {
  library.impl(toString(op.operator_name()).c_str(),
               torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
}

RowCall call_of(const ocl::OperatorForm& form, std::vector<Taken> parameters, const c10::OperatorHandle& op,
                Takes takes) {
  RowCall call{&form, std::move(parameters)};
  for (const c10::Argument& argument : op.schema().arguments()) call.outs += argument.is_out() ? 1 : 0;
  call.writes = call.outs > 0 ? Writes::out : Writes::nothing;
  call.takes = takes;
  return call;
}

/** The name of an operator in aten, which lives as long as the process. */
const char* operation_of(const c10::OperatorHandle& op) {
  return op.schema().name().c_str() + std::strlen("aten::");
}

}  // namespace

void RowKernels::add(const char* schema, const ocl::OperatorForm& given, const ArgumentNames& names,
                     Takes takes) {
  const auto& form = *new ocl::OperatorForm(given);  // as long as the process, as the kernels
  rows_[name_of(schema)] = {&form, names, takes};
  const c10::OperatorHandle functional = operator_of(schema);
  const std::vector<c10::OperatorHandle> forms = forms_of(functional);
  const auto is_in_place = [](const c10::OperatorHandle& op) {
    const auto* alias = op.schema().arguments()[0].alias_info();
    return alias && alias->isWrite();
  };
  const bool has_in_place = std::any_of(forms.begin(), forms.end(), is_in_place);
  for (const c10::OperatorHandle& op : forms) {
    const ocl::OperatorForm* in_place = is_in_place(op) && !is_in_place(functional)
                                            ? ocl::find_operator_form(form.name() + "_", form.key())
                                            : nullptr;
    const ocl::OperatorForm& called = in_place ? *in_place : form;
    RowCall call = call_of(called, taken_by(called, op.schema(), names), op, takes);
    if (is_in_place(op)) call.writes = Writes::self;
    call.has_in_place = has_in_place;
    register_kernel(library_, op, std::make_unique<RowKernel>(std::move(call), operation_of(op)));
  }
}

void RowKernels::gradient(const char* schema, const GradientOptions& options) {
  const std::string name = name_of(schema);
  const Row& row =
      rows_.at(options.of.empty() ? name.substr(0, name.size() - std::strlen("_backward")) : options.of);
  for (const c10::OperatorHandle& op : forms_of(operator_of(schema))) {
    ArgumentNames names = row.names;
    names.ignored.insert(names.ignored.end(), options.ignored.begin(), options.ignored.end());
    GradientPlaces places;
    const std::vector<c10::Argument> arguments = given_arguments(op.schema());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      for (const auto& [own, place] : {std::pair("grad_output", &places.gradient),
                                       {"grad", &places.gradient},
                                       {"input_size", &places.shape},
                                       {"output_mask", &places.mask}})
        if (arguments[i].name() == own) {
          *place = static_cast<int>(i);
          names.ignored.emplace_back(own);
        }
    const std::size_t results = places.shape >= 0 ? 0 : op.schema().returns().size();
    register_kernel(library_, op,
                    std::make_unique<GradientKernel>(
                        call_of(*row.form, taken_by(*row.form, op.schema(), names), op, row.takes),
                        operation_of(op), places, results, options));
  }
}

}  // namespace torch_ocl
