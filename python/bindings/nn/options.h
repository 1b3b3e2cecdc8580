#pragma once

#include "../sizes.h"
#include "nn/options.h"

namespace pybind11::detail {

/** One int for all dimensions, or one for each; a tuple in Python, as PyTorch's layers show it. */
template <int N>
struct type_caster<ocl::nn::Extents<N>> {
  PYBIND11_TYPE_CASTER(ocl::nn::Extents<N>, const_name("int | tuple[int, ...]"));

  bool load(handle source, bool) {
    if (is_whole(source)) {
      value = ocl::nn::Extents<N>(small_int(source));
      return true;
    }
    if (!isinstance<sequence>(source) || isinstance<str>(source)) return false;
    const auto items = reinterpret_borrow<sequence>(source);
    const bool is_one = items.size() == 1;
    if (!is_one && items.size() != N) return false;
    for (std::size_t i = 0; i < N; ++i) {
      const object item = items[is_one ? 0 : i];
      if (!is_whole(item)) return false;
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

/** Throws Python's TypeError: "Linear.__init__(): argument 'bias' (position 3) must be bool, not list". */
[[noreturn]] void refuse_option(const std::string& name, const std::string& expected,
                                const py::handle& value);

/** The number that a tensor or an array without dimensions holds, which would pass for a sequence; anything
 * else as it is. */
py::object number_or_itself(const py::handle& value);

/** An option's type for type checkers. */
template <class T>
struct OptionType {
  static std::string text() {
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_integral_v<T>) return "int";
    if constexpr (std::is_floating_point_v<T>) return "float";
    if constexpr (std::is_same_v<T, std::string>) return "str";
    if constexpr (std::is_same_v<T, ocl::Single>) return "int | tuple[int]";
    if constexpr (std::is_same_v<T, ocl::Pair>) return "int | tuple[int, int]";
    if constexpr (std::is_same_v<T, ocl::Triple>) return "int | tuple[int, int, int]";
    if constexpr (std::is_same_v<T, ocl::AdaptiveSize>) return "int | None | tuple[int | None, int | None]";
    if constexpr (std::is_same_v<T, ocl::AdaptiveSize3d>)
      return "int | None | tuple[int | None, int | None, int | None]";
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

/** An option in Python: what it is there, how it is taken from there (TypeError, which calls it `name`), its
 * type. Specialised for what pybind11 does not convert as PyTorch does. */
template <class T>
struct PythonOption {
  static py::object give(const T& value) { return py::cast(value); }
  static void take(T& option, const py::handle& value, const std::string& name) {
    py::detail::make_caster<T> caster;
    const py::object given = number_or_itself(value);
    if (!caster.load(given, true)) refuse_option(name, type(), value);
    option = py::detail::cast_op<T>(std::move(caster));
  }
  static std::string type() { return OptionType<T>::text(); }
};
/** Sizes: one number, or a tuple of any length. */
template <>
struct PythonOption<std::vector<std::int64_t>> {
  static py::object give(const std::vector<std::int64_t>& values) { return py::tuple(py::cast(values)); }
  static void take(std::vector<std::int64_t>& option, const py::handle& value, const std::string& name);
  static std::string type() { return OptionType<std::vector<std::int64_t>>::text(); }
};
/** A tensor that is not there is None. */
template <>
struct PythonOption<ocl::Tensor> {
  static py::object give(const ocl::Tensor& tensor) {
    return tensor.defined() ? py::cast(tensor) : py::none();
  }
  static void take(ocl::Tensor& option, const py::handle& value, const std::string& name);
  static std::string type() { return "ocl._C.Tensor | None"; }
};

/** The tensor, or None for an undefined one. */
inline py::object tensor_or_none(const ocl::Tensor& tensor) {
  return PythonOption<ocl::Tensor>::give(tensor);
}
/** The tensor, or an undefined one for None. */
inline ocl::Tensor or_undefined(const std::optional<ocl::Tensor>& tensor) {
  return tensor.value_or(ocl::Tensor());
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
  std::vector<std::string> names_;  // the options, then device and dtype
  std::vector<py::handle> values_;
  std::size_t options_;
};

/** The text of a constructor: types and defaults, where there are any, as Python's source has them. */
struct ConstructorSignature {
  std::vector<std::string> names, types, defaults;

  ConstructorSignature(const ocl::nn::OptionNames& options, std::vector<std::string> option_types,
                       const std::vector<py::object>& option_defaults, bool factory);
  std::size_t positional;  // so many of the first; the others are given by name
  /** "in_features, out_features, bias=True" */
  std::string plain() const;
  /** The documentation of __init__, from which Python reads a signature, and tools/generate_stubs types. */
  std::string of_init() const;
};
