#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../casters.h"
#include "../sizes.h"
#include "autograd/ops/operators.h"

/** The source of a Python function for a row of operators.def, without its types. */
struct RowDescription {
  const char* name;
  const char* documentation;
  std::vector<ocl::OperatorParameter> parameters;
  py::handle scope;  // the module, or the class Tensor
  bool is_method = false;
};

/** The argument of a C++ function, from Python. */
template <class Parameter>
class RowArgument {
 public:
  bool load(const py::detail::function_call& call, std::size_t i) {
    return caster_.load(call.args[i], call.args_convert[i]);
  }
  Parameter get() { return py::detail::cast_op<Parameter>(caster_); }

 private:
  py::detail::make_caster<Parameter> caster_;
};

/** None stands for an undefined tensor; pybind11 lets it through where the row says OptionalTensor. */
template <>
class RowArgument<const ocl::Tensor&> {
 public:
  bool load(const py::detail::function_call& call, std::size_t i) {
    static const auto& none = *new ocl::Tensor;
    tensor_ = call.args[i].is_none() ? &none : tensor_in(call.args[i].ptr());
    return tensor_ != nullptr;
  }
  const ocl::Tensor& get() { return *tensor_; }

 private:
  const ocl::Tensor* tensor_ = nullptr;
};

/** How what a C++ function returns becomes Python's; several tensors become a tuple. */
template <class Result>
struct RowResult {
  static constexpr auto name = py::detail::make_caster<Result>::name;
  static py::handle cast(const Result& result) {
    return py::detail::make_caster<Result>::cast(result, py::return_value_policy::move, {});
  }
};
template <>
struct RowResult<ocl::TensorList> {
  static constexpr auto name = py::detail::const_name("tuple[Tensor, ...]");
  static py::handle cast(const ocl::TensorList& tensors) {
    py::tuple all(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) all[i] = py::cast(tensors[i]);
    return all.release();
  }
};

/**
 * A Python function of a row. pybind11 makes a function from types and lambdas, with code of its own for
 * each; here all rows whose functions have one type share it, and names, defaults and documentation are data.
 */
class RowFunction : public py::cpp_function {
 public:
  template <class Result, class... Parameters>
  RowFunction(const RowDescription& row, Result (*function)(Parameters...)) {
    using Value = std::remove_cv_t<std::remove_reference_t<Result>>;
    auto record = make_function_record();
    record->data[0] = reinterpret_cast<void*>(function);
    record->impl = [](py::detail::function_call& call) -> py::handle {
      return run<Result, Parameters...>(call, std::index_sequence_for<Parameters...>());
    };
    Types types;
    std::size_t i = 0;
    (types.add_parameter(py::detail::make_caster<Parameters>::name, row.parameters.at(i++)), ...);
    types.add_result(RowResult<Value>::name);
    describe(*record, row);
    initialize_generic(std::move(record), types.text.c_str(), types.of_placeholders(), sizeof...(Parameters));
  }

 private:
  /** The signature as pybind11 writes it: a text with placeholders for classes, and these. */
  struct Types {
    std::string text = "(";
    std::vector<const std::type_info*> classes;

    template <std::size_t N, class... Classes>
    void add(const py::detail::descr<N, Classes...>& type) {
      text += type.text;
      (classes.push_back(&typeid(Classes)), ...);
    }
    template <class Name>
    void add_parameter(const Name& type, const ocl::OperatorParameter& parameter) {
      text += text.size() > 1 ? ", {" : "{";
      add(type);
      if (parameter.is_optional_tensor()) text += " | None";
      text += "}";
    }
    template <class Name>
    void add_result(const Name& type) {
      text += ") -> ";
      add(type);
    }
    const std::type_info* const* of_placeholders() {
      classes.push_back(nullptr);
      return classes.data();
    }
  };

  static void describe(py::detail::function_record& record, const RowDescription& row);

  template <class Result, class... Parameters, std::size_t... I>
  static py::handle run(py::detail::function_call& call, std::index_sequence<I...>) {
    using Value = std::remove_cv_t<std::remove_reference_t<Result>>;
    std::tuple<RowArgument<Parameters>...> arguments;
    if (!(std::get<I>(arguments).load(call, I) && ...)) return PYBIND11_TRY_NEXT_OVERLOAD;
    auto* function = reinterpret_cast<Result (*)(Parameters...)>(call.func.data[0]);
    const auto work = [&]() -> Result {
      const PythonUnlocked without_lock;
      return function(std::get<I>(arguments).get()...);
    };
    Result result = work();
    return RowResult<Value>::cast(result);
  }
};
