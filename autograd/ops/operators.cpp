#include "autograd/ops/operators.h"

#include <algorithm>
#include <map>
#include <set>

#include "autograd/autograd.h"
#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/reduce/reduce.h"

namespace ocl {
namespace {

/** PyTorch's name of a pointwise row, where it is not torch.NAME. */
std::string torch_name(const std::string& name) {
  static const std::map<std::string, std::string> others{
      {"gelu_tanh", "torch.nn.functional.gelu(approximate='tanh')"},
      {"div_floor", "torch.div(rounding_mode='floor')"},
      {"div_trunc", "torch.div(rounding_mode='trunc')"},
      {"round_decimals", "torch.round(decimals=)"},
      {"clamp_tensor", "torch.clamp"},
      {"clamp_min_tensor", "torch.clamp_min"},
      {"clamp_max_tensor", "torch.clamp_max"},
      {"special_entr", "torch.special.entr"},
      {"special_xlog1py", "torch.special.xlog1py"},
      {"polygamma_kernel", "torch.special.polygamma"},
      {"prelu_kernel", "torch.nn.functional.prelu"},
      {"glu_kernel", "torch.nn.functional.glu"}};
  static const std::set<std::string> functional{
      "relu6",      "silu",     "gelu",       "mish", "hardsigmoid", "hardswish", "logsigmoid",
      "tanhshrink", "softsign", "leaky_relu", "elu",  "softplus",    "hardtanh",  "softshrink"};
  const auto other = others.find(name);
  if (other != others.end()) return other->second;
  return (functional.count(name) ? "torch.nn.functional." : "torch.") + name;
}

OperatorRow row_of(const dlprim::PointwiseOp& op) {
  static constexpr const char* taken[] = {"any; integers give float32",
                                          "any",
                                          "any but bool",
                                          "any; bool gives int64",
                                          "any; gives bool",
                                          "integral, bool",
                                          "any",
                                          "any but bool; bounds count too"};
  static constexpr const char* inputs[] = {"a", "b", "c"};
  OperatorRow row{op.name,          "Pointwise", taken[static_cast<int>(op.types)], "", torch_name(op.name),
                  op.documentation, {}};
  for (std::size_t i = 0; i < op.gradients.size(); ++i)
    if (!op.gradients[i].empty())
      row.derivative += (row.derivative.empty() ? "" : "; ") + (inputs[i] + (": " + op.gradients[i]));
  return row;
}

OperatorRow row_of(const dlprim::ReductionOp& op) {
  return {op.name,
          "Reductions",
          op.result == dlprim::ReductionResult::Float ? "floating" : "any",
          op.gradient.empty() ? "" : "a: " + op.gradient,
          "torch." + op.name,
          op.documentation,
          {}};
}

/** An entry of operators.def. It is data, for a compiler takes long for code that makes a table of strings.
 */
struct Entry {
  const char *family, *name, *key, *parameters;  // null where the entry has none
  OperatorFunction function;
  const char *dtypes, *derivative, *source, *documentation;
};

#define FAMILY(name) {name, nullptr, nullptr, nullptr, {}, nullptr, nullptr, nullptr, nullptr},
#define OPERATOR(name, result, parameters, face, dtypes, derivative, source, documentation) \
  {nullptr,                                                                                 \
   #name,                                                                                   \
   "",                                                                                      \
   #parameters,                                                                             \
   OperatorForm::function_of(static_cast<decltype(&signatures::name)>(&ocl::name)),         \
   dtypes,                                                                                  \
   derivative,                                                                              \
   source,                                                                                  \
   documentation},
#define OVERLOAD(overloaded, key, result, parameters, face)                                             \
  {nullptr,                                                                                             \
   #overloaded,                                                                                         \
   #key,                                                                                                \
   #parameters,                                                                                         \
   OperatorForm::function_of(static_cast<decltype(&signatures::overloaded##_##key)>(&ocl::overloaded)), \
   nullptr,                                                                                             \
   nullptr,                                                                                             \
   nullptr,                                                                                             \
   nullptr},
#define MEMBER(name, dtypes, derivative, source, documentation) \
  {nullptr, #name, nullptr, nullptr, {}, dtypes, derivative, source, documentation},
const auto& entries() {
  static const Entry all[] = {
#include "autograd/ops/operators.def"
  };
  return all;
}
#undef FAMILY
#undef OPERATOR
#undef OVERLOAD
#undef MEMBER

}  // namespace

const std::vector<OperatorRow>& operator_table() {
  static const auto* table = [] {
    auto* rows = new std::vector<OperatorRow>;
    for (const dlprim::PointwiseOp& op : dlprim::pointwise_table()) rows->push_back(row_of(op));
    for (const dlprim::ReductionOp& op : dlprim::reduction_table()) rows->push_back(row_of(op));
    const char* heading = "";
    for (const Entry& entry : entries()) {
      if (entry.family) {
        heading = entry.family;
        continue;
      }
      const std::string name = entry.name;
      if (entry.documentation)
        rows->push_back(
            {name, heading, entry.dtypes, entry.derivative, entry.source, entry.documentation, {}});
      if (entry.key)
        std::find_if(rows->begin(), rows->end(), [&](const OperatorRow& row) {
          return row.name == name;
        })->forms.emplace_back(entry.name, entry.key, entry.parameters, entry.function);
    }
    return rows;
  }();
  return *table;
}

namespace {

const OperatorRow* find_row(std::string_view name) {
  static const auto* by_name = [] {
    auto* rows = new std::map<std::string, const OperatorRow*, std::less<>>;
    for (const OperatorRow& row : operator_table()) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

}  // namespace

const OperatorRow& operator_row(std::string_view name) {
  const OperatorRow* row = find_row(name);
  dlprim::require(row, "there is no operator named '", name, "'");
  return *row;
}

const OperatorForm* find_operator_form(std::string_view name, std::string_view key) {
  if (const OperatorRow* row = find_row(name))
    for (const OperatorForm& form : row->forms)
      if (form.key() == key) return &form;
  return nullptr;
}

const OperatorForm& operator_form(std::string_view name, std::string_view key) {
  const OperatorForm* form = find_operator_form(name, key);
  dlprim::require(form, "there is no operator named '", name, "' with a form '", key, "'");
  return *form;
}

}  // namespace ocl
