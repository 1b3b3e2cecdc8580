#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/ops/operator_value.h"
#include "dlprim/core/error.h"

namespace ocl {

/** One parameter of an operator, in pieces of its C++ declaration. */
struct OperatorParameter {
  std::string type, name, initial;  // initial: the default as C++ text, empty where there is none
  bool is_keyword_only = false;

  /** Whether it is a tensor that may be left out. */
  bool is_optional_tensor() const { return type.find("OptionalTensor") != std::string::npos; }
};

/** The parameters of a row's text: "(const Tensor& input, std::int64_t dim = -1)". */
std::vector<OperatorParameter> operator_parameters(std::string_view text);

/** The default that a parameter's row writes as C++; nothing where there is none. */
OperatorValue default_of(const OperatorParameter& parameter);

class OperatorForm;

/** A C++ function of any type, and what calls it with values: null where values do not stand for its
 * parameters. */
struct OperatorFunction {
  void (*function)() = nullptr;
  TensorList (*call)(const OperatorForm& form, const std::vector<OperatorValue>& arguments) = nullptr;
};

/** A form of an operator as a value: its parameters as a row has them, and the C++ function, to be called
 * with values. */
class OperatorForm {
 public:
  OperatorForm(const char* name, const char* key, std::string_view parameters, OperatorFunction function);

  template <class Result, class... Parameters>
  static OperatorFunction function_of([[maybe_unused]] Result (*function)(Parameters...)) {
    if constexpr (is_callable<Result, Parameters...>)
      return {reinterpret_cast<void (*)()>(function), &call_function<Result, Parameters...>};
    else
      return {};
  }

  const std::string& name() const { return name_; }
  /** The form's name among those of the operator: empty, or the key of its OVERLOAD. */
  const std::string& key() const { return key_; }
  const std::vector<OperatorParameter>& parameters() const { return parameters_; }

  /** Whether values stand for all its parameters and results. */
  bool can_be_called() const { return function_.call != nullptr; }

  /**
   * The function's result for the arguments in the order of the parameters. For nothing, and for those
   * missing at the end, the defaults stand. Throws TypeError for a wrong number of arguments or a value of
   * another kind than the parameter, and whatever the function throws.
   */
  TensorList operator()(std::vector<OperatorValue> arguments) const;

 private:
  template <class Result, class... Parameters>
  static constexpr bool is_callable = (can_be_read<std::decay_t<Parameters>> && ...) && can_be_listed<Result>;

  template <class T>
  T read(const std::vector<OperatorValue>& arguments, std::size_t i) const {
    try {
      return ValueReader<T>::read(arguments[i]);
    } catch (const dlprim::TypeError& e) {
      refuse_argument(i, e.what());
    }
  }
  [[noreturn]] void refuse_argument(std::size_t i, const char* why) const;

  template <class Result, class... Parameters>
  static TensorList call_function(const OperatorForm& form, const std::vector<OperatorValue>& arguments) {
    return form.call_with<Result, Parameters...>(arguments, std::index_sequence_for<Parameters...>());
  }
  template <class Result, class... Parameters, std::size_t... I>
  TensorList call_with(const std::vector<OperatorValue>& arguments, std::index_sequence<I...>) const {
    auto* function = reinterpret_cast<Result (*)(Parameters...)>(function_.function);
    std::tuple<std::decay_t<Parameters>...> own{read<std::decay_t<Parameters>>(arguments, I)...};
    return results_as_list(function(std::get<I>(own)...));
  }

  std::string name_, key_;
  std::vector<OperatorParameter> parameters_;
  std::vector<OperatorValue> defaults_;
  OperatorFunction function_;
};

}  // namespace ocl
