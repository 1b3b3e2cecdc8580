#pragma once

#include "../sizes.h"
#include "nn/modules/transformer.h"

namespace pybind11::detail {

/** One int for all dimensions, or one for each; a tuple in Python, as PyTorch's layers show it. */
template <int N>
struct type_caster<ocl::nn::Extents<N>> {
  PYBIND11_TYPE_CASTER(ocl::nn::Extents<N>, const_name("int | tuple[int, ...]"));

  bool load(handle source, bool) {
    if (PyLong_Check(source.ptr())) {
      value = ocl::nn::Extents<N>(small_int(source));
      return true;
    }
    if (!isinstance<sequence>(source) || isinstance<str>(source)) return false;
    const auto items = reinterpret_borrow<sequence>(source);
    const bool is_one = items.size() == 1;
    if (!is_one && items.size() != N) return false;
    for (std::size_t i = 0; i < N; ++i) {
      const object item = items[is_one ? 0 : i];
      if (!PyLong_Check(item.ptr())) return false;
      value[i] = small_int(item);
    }
    return true;
  }

  static handle cast(const ocl::nn::Extents<N>& extents, return_value_policy, handle) {
    tuple result(N);
    for (std::size_t i = 0; i < N; ++i) result[i] = int_(extents[i]);
    return result.release();
  }
};

}  // namespace pybind11::detail

/** An option's value in Python: lists are tuples, a tensor that is not there is None. */
template <class T>
py::object python_option(const T& value) {
  return py::cast(value);
}
inline py::object python_option(const std::vector<std::int64_t>& values) {
  return py::tuple(py::cast(values));
}
inline py::object python_option(const ocl::Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::none();
}

inline py::object python_option(const ocl::nn::Activation& activation) {
  const auto* name = std::get_if<std::string>(&activation);
  if (!name) throw ocl::TypeError("Python cannot copy an activation that is a function of C++");
  return py::str(*name);
}

/** What type checkers are told of an option's type. */
template <class T>
struct OptionType {
  static std::string text() {
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_integral_v<T>) return "int";
    if constexpr (std::is_floating_point_v<T>) return "float";
    if constexpr (std::is_same_v<T, std::string>) return "str";
    if constexpr (std::is_same_v<T, ocl::Tensor>) return "ocl._C.Tensor | None";
    if constexpr (std::is_same_v<T, ocl::Single>) return "int | tuple[int]";
    if constexpr (std::is_same_v<T, ocl::Pair>) return "int | tuple[int, int]";
    if constexpr (std::is_same_v<T, ocl::AdaptiveSize>) return "int | None | tuple[int | None, int | None]";
    if constexpr (std::is_same_v<T, ocl::Scalar>) return "float";
    return "int | tuple[int, ...]";
  }
};
template <class T>
struct OptionType<std::optional<T>> {
  static std::string text() { return OptionType<T>::text() + " | None"; }
};
template <class A, class B>
struct OptionType<std::variant<A, B>> {
  static std::string text() { return OptionType<A>::text() + " | " + OptionType<B>::text(); }
};
template <class T>
struct OptionType<std::vector<T>> {
  static std::string text() {
    const std::string one = OptionType<T>::text();
    return one + " | tuple[" + one + ", ...]";
  }
};

template <>
struct OptionType<ocl::nn::Activation> {
  static std::string text() { return "str | collections.abc.Callable | Module"; }
};

/** Throws Python's TypeError: "Linear.__init__(): argument 'bias' (position 3) must be bool, not list". */
[[noreturn]] inline void refuse_option(const std::string& name, const std::string& expected,
                                       const py::handle& value) {
  if (PyLong_Check(value.ptr()) && expected.rfind("int", 0) == 0)
    throw py::type_error(dlprim::concat(name.substr(0, name.rfind(" (")),
                                        " is out of range: ", py::str(value).cast<std::string>()));
  throw py::type_error(dlprim::concat(name, " must be ", expected, ", not ", Py_TYPE(value.ptr())->tp_name));
}

/** Sets `option` to what Python gave. Throws TypeError, which calls it `name`. */
template <class T>
void set_option(T& option, const py::handle& value, const std::string& name) {
  py::detail::make_caster<T> caster;
  if (!caster.load(value, true)) refuse_option(name, OptionType<T>::text(), value);
  option = py::detail::cast_op<T>(std::move(caster));
}
inline void set_option(std::vector<std::int64_t>& option, const py::handle& value, const std::string& name) {
  if (PyLong_Check(value.ptr())) {
    option = {value.cast<std::int64_t>()};
    return;
  }
  if (!py::isinstance<py::sequence>(value) || py::isinstance<py::str>(value))
    refuse_option(name, "int or tuple of ints", value);
  option.clear();
  for (const py::handle size : value) {
    std::int64_t number = 0;
    set_option(number, size, name);
    option.push_back(number);
  }
}
inline void set_option(ocl::Tensor& option, const py::handle& value, const std::string& name) {
  if (!value.is_none() && !py::isinstance<ocl::Tensor>(value)) refuse_option(name, "Tensor or None", value);
  option = value.is_none() ? ocl::Tensor() : value.cast<ocl::Tensor>();
}

/** Names alone: a module or a function of Python's becomes part of the object (transformer.cpp). */
inline void set_option(ocl::nn::Activation& option, const py::handle& value, const std::string& name) {
  if (py::isinstance<py::str>(value))
    option = value.cast<std::string>();
  else if (!PyCallable_Check(value.ptr()))
    throw ocl::TypeError(
        dlprim::concat(name, " must be a name or callable, not ", Py_TYPE(value.ptr())->tp_name));
}

/** The arguments of a constructor, matched with the names of options: an empty handle where none is given. */
class ConstructorArguments {
 public:
  /** Throws TypeError for what Python's own functions refuse, in their words. `factory`: whether device and
   * dtype may be given after the options. */
  ConstructorArguments(const std::string& layer, const ocl::nn::OptionNames& options, bool factory,
                       const py::tuple& positional, const py::dict& named);
  py::handle operator[](std::size_t option) const { return values_[option]; }
  py::handle operator[](const std::string& option) const;
  std::optional<ocl::Device> device() const;
  std::optional<ocl::DType> dtype() const;

 private:
  std::vector<std::string> names_;
  std::vector<py::handle> values_;
  std::size_t options_;
};

/** What is written of a constructor: types and defaults, where there are any, as Python's source has them. */
struct ConstructorSignature {
  std::vector<std::string> names, types, defaults;

  ConstructorSignature(const ocl::nn::OptionNames& options, std::vector<std::string> option_types,
                       const std::vector<py::object>& option_defaults, bool factory);
  /** "in_features, out_features, bias=True" */
  std::string plain() const;
  /** The documentation of __init__, from which Python reads a signature, and tools/generate_stubs types. */
  std::string of_init() const;
};
