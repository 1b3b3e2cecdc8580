#include "autograd/ops/operator_form.h"

#include <cmath>

#include "dlprim/core/arguments.h"

namespace ocl {
namespace {

/** The name of an enumerator, without its type: "mean" of "Reduction::mean". */
std::string enumerator_of(const std::string& text) {
  return text.substr(text.rfind("::") + 2);
}

}  // namespace

std::vector<OperatorParameter> operator_parameters(std::string_view text) {
  constexpr std::string_view keyword_only = "KEYWORD_ONLY ";
  std::vector<OperatorParameter> parameters;
  bool is_keyword_only = false;
  for (std::string piece : dlprim::split_at_commas(text.substr(1, text.size() - 2))) {
    if (piece.compare(0, keyword_only.size(), keyword_only) == 0) {
      is_keyword_only = true;
      piece.erase(0, keyword_only.size());
    }
    OperatorParameter& p = parameters.emplace_back();
    p.is_keyword_only = is_keyword_only;
    const std::size_t equals = piece.find(" = ");
    if (equals != std::string::npos) p.initial = piece.substr(equals + 3);
    const std::string declared = piece.substr(0, equals);
    const std::size_t space = declared.rfind(' ');
    p.name = declared.substr(space + 1);
    p.type = declared.substr(0, space);
  }
  return parameters;
}

OperatorValue default_of(const OperatorParameter& parameter) {
  const std::string& text = parameter.initial;
  if (text.empty() || text == "{}" || text == "std::nullopt" || text == "nullptr") return {};
  if (text == "true" || text == "false") return Scalar(text == "true");
  if (text.front() == '"') return text.substr(1, text.size() - 2);
  if (text.front() == '{') {
    std::vector<std::int64_t> numbers;
    for (const std::string& number : dlprim::split_at_commas(text.substr(1, text.size() - 2)))
      numbers.push_back(std::stoll(number));
    return numbers;
  }
  if (text == "INFINITY") return Scalar(INFINITY);
  if (parameter.type.find("DType") != std::string::npos) return dlprim::dtype_from_name(enumerator_of(text));
  if (parameter.type == "MemoryFormat")
    return enumerator_of(text) +
           (text == "MemoryFormat::preserve" || text == "MemoryFormat::contiguous" ? "_format" : "");
  if (text.find("::") != std::string::npos) return enumerator_of(text);
  if (text.find_first_of(".e") != std::string::npos) return Scalar(std::stod(text));
  return Scalar(std::int64_t{std::stoll(text)});
}

OperatorForm::OperatorForm(const char* name, const char* key, std::string_view parameters,
                           OperatorFunction function)
    : name_(name), key_(key), parameters_(operator_parameters(parameters)), function_(function) {
  for (const OperatorParameter& parameter : parameters_) defaults_.push_back(default_of(parameter));
}

void OperatorForm::refuse_argument(std::size_t i, const char* why) const {
  throw dlprim::TypeError(name_ + ": argument " + parameters_[i].name + ": " + why);
}

TensorList OperatorForm::operator()(std::vector<OperatorValue> arguments) const {
  if (!can_be_called())
    throw dlprim::TypeError(name_ + ": has parameters or results that no value stands for");
  if (arguments.size() > parameters_.size())
    throw dlprim::TypeError(name_ + ": expected at most " + std::to_string(parameters_.size()) +
                            " arguments, got " + std::to_string(arguments.size()));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (i == arguments.size()) arguments.emplace_back();
    if (!is_nothing(arguments[i])) continue;
    const OperatorParameter& parameter = parameters_[i];
    const bool may_be_nothing = !parameter.initial.empty() || parameter.is_optional_tensor() ||
                                parameter.type.find("optional") != std::string::npos;
    if (!may_be_nothing) refuse_argument(i, "nothing was given, and there is no default");
    arguments[i] = defaults_[i];
  }
  return function_.call(*this, arguments);
}

}  // namespace ocl
