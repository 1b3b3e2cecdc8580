#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_foreach_norm_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "aten/packs.h"
#include "aten/rows.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/runtime/allocator.h"
#include "tensors.h"

/** \file PyTorch's functions of lists of tensors (`_foreach_add_`, `_foreach_sqrt`, …) that are rows of the
 * pointwise table: one launch for all tensors of one kind. Its own loop over the tensors takes the others. */

namespace torch_ocl {
namespace {

enum class Kind { tensors, number, numbers, one_tensor };

struct Place {
  std::size_t argument;
  Kind kind;
};

/** How a form's arguments become a row's. */
struct Form {
  const dlprim::PointwiseOp* row;
  std::vector<Place> inputs;
  std::vector<std::optional<Place>> parameters;  // of the row's parameters; none: its default
  bool is_in_place;
};

std::optional<Kind> kind_of(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::NumberType) return Kind::number;
  if (type->kind() == c10::TypeKind::TensorType) return Kind::one_tensor;
  if (const auto list = type->cast<c10::ListType>()) {
    if (list->getElementType()->kind() == c10::TypeKind::TensorType) return Kind::tensors;
    if (list->getElementType()->kind() == c10::TypeKind::NumberType) return Kind::numbers;
  }
  return std::nullopt;
}

/** The form of a schema, if it is one of the row's: its inputs in order, then parameters, those that have the
 * row's names by name. */
std::optional<Form> form_of(const dlprim::PointwiseOp& row, const c10::FunctionSchema& schema) {
  Form form{&row, {}, std::vector<std::optional<Place>>(row.parameters.size()), false};
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.name() == "non_blocking") continue;  // work of one device comes in order
    const std::optional<Kind> kind = kind_of(argument.type());
    if (!kind || argument.is_out()) return std::nullopt;
    std::size_t p = 0;
    while (p < row.parameters.size() && row.parameters[p].name != argument.name()) ++p;
    if (p == row.parameters.size() && form.inputs.size() < static_cast<std::size_t>(row.inputs)) {
      if (argument.alias_info() && argument.alias_info()->isWrite()) form.is_in_place = true;
      form.inputs.push_back({i, *kind});
      continue;
    }
    if (p == row.parameters.size())
      p = static_cast<std::size_t>(std::find(form.parameters.begin(), form.parameters.end(), std::nullopt) -
                                   form.parameters.begin());
    if (p == row.parameters.size() || (*kind != Kind::number && *kind != Kind::numbers)) return std::nullopt;
    form.parameters[p] = Place{i, *kind};
  }
  const auto is_list = [](const Place& place) { return place.kind == Kind::tensors; };
  const bool has_list = std::any_of(form.inputs.begin(), form.inputs.end(), is_list);
  return has_list && form.inputs.size() == static_cast<std::size_t>(row.inputs) ? std::optional(form)
                                                                                : std::nullopt;
}

/** Rows whose results have the dtype of their floating inputs. */
bool keeps_floating(dlprim::TypeRule types) {
  using dlprim::TypeRule;
  return types == TypeRule::Float || types == TypeRule::Same || types == TypeRule::Number ||
         types == TypeRule::Power || types == TypeRule::Bounded;
}

using Arguments = c10::ArrayRef<c10::IValue>;

bool is_real(const c10::Scalar& number) {
  return !number.isComplex();
}

/** Where a dense tensor lies: an OpenCL buffer, and bytes in it. */
struct Span {
  const void* buffer;
  std::size_t begin, end;
  explicit Span(const at::Tensor& tensor) {
    const dlprim::Tensor t = raw(tensor);
    buffer = t.storage->buffer()();
    begin = t.storage->byte_offset() + static_cast<std::size_t>(t.offset) * tensor.element_size();
    end = begin + tensor.nbytes();
  }
  bool operator==(const Span& other) const {
    return buffer == other.buffer && begin == other.begin && end == other.end;
  }
  /** Whether it ends before the other begins, or lies in an earlier buffer. */
  bool is_before(const Span& other) const {
    return std::less<>()(buffer, other.buffer) || (buffer == other.buffer && end <= other.begin);
  }
};

/** Whether what is written, tensor by tensor, changes nothing that another tensor's function reads or
 * writes: then their order does not matter. */
bool are_apart(const std::vector<at::Tensor>& written, const std::vector<std::vector<at::Tensor>>& read) {
  std::vector<Span> spans;
  for (const at::Tensor& t : written)
    if (t.numel() > 0) spans.emplace_back(t);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.buffer, a.begin) < std::tie(b.buffer, b.begin);
  });
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (!spans[i - 1].is_before(spans[i])) return false;
  const auto is_before = [](const Span& a, const Span& b) { return a.is_before(b); };
  for (const std::vector<at::Tensor>& list : read)
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].numel() == 0) continue;
      const Span span(list[i]);
      if (!(span == Span(written[i])) && std::binary_search(spans.begin(), spans.end(), span, is_before))
        return false;
    }
  return true;
}

/** All of one floating dtype on one device; tensors that belong together lie alike, without gaps. */
bool are_of_one_kind(const std::vector<std::vector<at::Tensor>>& lists) {
  const std::vector<at::Tensor>& first = lists.front();
  if (first.empty()) return false;
  const auto type = first.front().scalar_type();
  if (!has_kernels(type) || !c10::isFloatingType(type)) return false;
  for (const std::vector<at::Tensor>& list : lists) {
    if (list.size() != first.size()) return false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const at::Tensor& t = list[i];
      if (!t.defined() || t.device() != first.front().device() || t.layout() != c10::kStrided ||
          t.scalar_type() != type || !t.is_non_overlapping_and_dense() || t.sizes() != first[i].sizes() ||
          !dlprim::lie_alike(raw(t), raw(first[i])))
        return false;
    }
  }
  return true;
}

/** A call that one launch can take. */
class Call {
 public:
  /** None where PyTorch's loop is to take it (and to raise what is to be raised). */
  static std::optional<Call> of(const Form& form, Arguments arguments) {
    Call call(form, arguments);
    if (!are_of_one_kind(call.lists_) || !call.has_real_numbers()) return std::nullopt;
    if (form.is_in_place && !are_apart(call.lists_.front(), call.lists_)) return std::nullopt;
    return call;
  }

  /** The results. */
  std::vector<at::Tensor> run() const {
    std::vector<at::Tensor> results;
    if (form_.is_in_place)
      results = lists_.front();
    else
      for (const at::Tensor& t : lists_.front()) results.push_back(at::empty_like(t));
    for (const auto& [numbers, places] : by_numbers()) launch(results, places);
    // The tensors that autograd has kept of them are gone: PyTorch leaves it to writers of lists to say so.
    if (form_.is_in_place)
      for (const at::Tensor& t : results)
        if (!t.is_inference()) t.unsafeGetTensorImpl()->bump_version();
    return results;
  }

 private:
  Call(const Form& form, Arguments arguments) : form_(form), arguments_(arguments) {
    for (const Place& place : form.inputs)
      if (place.kind == Kind::tensors) lists_.push_back(argument(place).toTensorVector());
  }

  const c10::IValue& argument(const Place& place) const { return arguments_[place.argument]; }

  bool has_real_numbers() const {
    const auto is_fine = [&](const Place& place) {
      const c10::IValue& given = argument(place);
      if (place.kind == Kind::number) return is_real(given.toScalar());
      if (place.kind == Kind::numbers) {
        const c10::List<c10::IValue> all = given.toList();
        return all.size() == lists_.front().size() &&
               std::all_of(all.begin(), all.end(),
                           [](const c10::IValue& one) { return is_real(one.toScalar()); });
      }
      if (place.kind != Kind::one_tensor) return true;
      const at::Tensor& one = given.toTensor();
      const at::Tensor& first = lists_.front().front();
      return one.dim() == 0 && one.device() == first.device() && one.scalar_type() == first.scalar_type() &&
             (!form_.is_in_place || std::none_of(lists_.front().begin(), lists_.front().end(),
                                                 [&](const at::Tensor& t) { return t.is_alias_of(one); }));
    };
    for (const Place& place : form_.inputs)
      if (!is_fine(place)) return false;
    for (const std::optional<Place>& place : form_.parameters)
      if (place && !is_fine(*place)) return false;
    return true;
  }

  /** Places of tensors by the numbers that their lists of numbers have there. */
  std::map<std::vector<double>, std::vector<std::size_t>> by_numbers() const {
    std::vector<c10::List<c10::IValue>> numbers;
    for (const Place& place : form_.inputs)
      if (place.kind == Kind::numbers) numbers.push_back(argument(place).toList());
    for (const std::optional<Place>& place : form_.parameters)
      if (place && place->kind == Kind::numbers) numbers.push_back(argument(*place).toList());
    std::map<std::vector<double>, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < lists_.front().size(); ++i) {
      std::vector<double> here;
      for (const auto& list : numbers) here.push_back(list.get(i).toScalar().toDouble());
      places[here].push_back(i);
    }
    return places;
  }

  dlprim::Scalar number_at(const Place& place, std::size_t i) const {
    return scalar_of(place.kind == Kind::number ? argument(place).toScalar()
                                                : argument(place).toList().get(i).toScalar());
  }

  void launch(const std::vector<at::Tensor>& results, const std::vector<std::size_t>& places) const {
    std::vector<dlprim::TensorsAbreast> rows;
    for (const std::size_t i : places) {
      dlprim::TensorsAbreast& row = rows.emplace_back(dlprim::TensorsAbreast{raw(results[i]), {}});
      for (const std::vector<at::Tensor>& list : lists_) row.inputs.push_back(raw(list[i]));
    }
    std::vector<std::optional<dlprim::PointwiseOperand>> given;
    for (const Place& place : form_.inputs)
      if (place.kind == Kind::tensors)
        given.emplace_back();
      else if (place.kind == Kind::one_tensor)
        given.emplace_back(raw(argument(place).toTensor()));
      else
        given.emplace_back(number_at(place, places.front()));
    std::vector<dlprim::Scalar> parameters;
    for (std::size_t p = 0; p < form_.parameters.size(); ++p)
      parameters.push_back(form_.parameters[p] ? number_at(*form_.parameters[p], places.front())
                                               : dlprim::Scalar(form_.row->parameters[p].default_value));
    std::vector<std::vector<const dlprim::Tensor*>> tensors;
    for (const dlprim::TensorsAbreast& row : rows) {
      tensors.push_back({&row.result});
      for (const dlprim::Tensor& input : row.inputs) tensors.back().push_back(&input);
    }
    with_pack(tensors, [&](dlprim::ParameterPack& pack) {
      dlprim::multi_tensor_pointwise(device_under(results.front()).queue(), pack,
                                     dlprim::forward_expression(*form_.row), rows, given, parameters);
    });
  }

  const Form& form_;
  Arguments arguments_;
  std::vector<std::vector<at::Tensor>> lists_;
};

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(Form form) : form_(std::move(form)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = op.schema().arguments().size();
    const std::optional<Call> call = Call::of(form_, torch::jit::last(*stack, count));
    if (!call) {
      // That of the CPU is a loop which calls the function of one tensor, wherever the tensor lies.
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
      return;
    }
    std::vector<at::Tensor> results = call->run();
    torch::jit::drop(*stack, count);
    if (!form_.is_in_place) torch::jit::push(*stack, std::move(results));
  }

 private:
  Form form_;
};

/** The norm of every tensor: two launches. */
std::vector<at::Tensor> foreach_norm(at::TensorList self, const c10::Scalar& order,
                                     std::optional<c10::ScalarType> dtype) {
  const std::vector<at::Tensor> all = self.vec();
  const double p = order.isComplex() ? NAN : order.toDouble();
  const bool has_empty =
      std::any_of(all.begin(), all.end(), [](const at::Tensor& t) { return t.numel() == 0; });
  // PyTorch refuses norms of nothing that have no value.
  if (!are_of_one_kind({all}) || std::isnan(p) || (has_empty && (p < 0 || std::isinf(p))) ||
      (dtype && *dtype != all.front().scalar_type()))
    return at::compositeexplicitautograd::_foreach_norm(self, order, dtype);
  std::vector<dlprim::Tensor> tensors;
  for (const at::Tensor& t : all) tensors.push_back(raw(t));
  std::vector<std::vector<const dlprim::Tensor*>> rows;
  for (const dlprim::Tensor& t : tensors) rows.push_back({&t});
  const at::Tensor norms = at::empty({static_cast<std::int64_t>(all.size())}, all.front().options());
  with_pack(rows, [&](dlprim::ParameterPack& pack) {
    dlprim::multi_tensor_norms(device_under(norms).queue(), pack, tensors, p, raw(norms));
  });
  std::vector<at::Tensor> each;
  // Tensors of their own for autograd: what is written to one leaves the others as they are.
  for (std::int64_t i = 0; i < norms.numel(); ++i) each.push_back(norms.select(0, i).variable_data());
  return each;
}

/** Rows that only lists have: of one tensor they are PyTorch's copy_ and zero_. */
const std::vector<dlprim::PointwiseOp>& rows_of_lists() {
  static const auto& rows = *new std::vector<dlprim::PointwiseOp>{
      {"zero", 1, {}, dlprim::TypeRule::Same, "0", {""}, ""},
      {"copy", 2, {}, dlprim::TypeRule::Same, "b", {"", ""}, ""},
  };
  return rows;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  std::unordered_map<std::string, const dlprim::PointwiseOp*> rows;
  for (const auto* table : {&dlprim::pointwise_table(), &more_rows(), &rows_of_lists()})
    for (const dlprim::PointwiseOp& row : *table)
      if (keeps_floating(row.types))
        for (const char* end : {"", "_"}) rows["aten::_foreach_" + row.name + end] = &row;
  m.impl("_foreach_norm.Scalar", &foreach_norm);
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto row = rows.find(name.name);
    if (row == rows.end()) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op) continue;
    if (std::optional<Form> form = form_of(*row->second, op->schema()))
      m.impl(toString(name).c_str(),
             torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(std::move(*form))));
  }
}

}  // namespace
}  // namespace torch_ocl
