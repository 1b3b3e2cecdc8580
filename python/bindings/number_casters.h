#pragma once

/** \file pybind11, with casters of our own for C++'s numbers. Files of the bindings include it in place of
 * pybind11's headers: a file that did not would bring pybind11's own casters of numbers into the module. */

#include <type_traits>

#include <pybind11/cast.h>  // nothing more of pybind11 before the casters: the rest of it uses them

/** Whether an object is a tensor that requires gradients: taken for a number it would lose them silently. */
bool loses_gradient_as_number(PyObject* object);

namespace pybind11::detail {

/** The values that pybind11 takes for a number, but for tensors that require gradients. A whole number is
 * what __index__ gives:
 * __int__, which pybind11 takes too, cuts fractions off silently. */
template <class Number>
class number_caster {
  static constexpr bool is_real = std::is_floating_point_v<Number>;

 public:
  PYBIND11_TYPE_CASTER(Number, io_name<!is_real>("typing.SupportsIndex", "int",
                                                 "typing.SupportsFloat | typing.SupportsIndex", "float"));

  bool load(handle source, bool convert) {
    if (!source || loses_gradient_as_number(source.ptr())) return false;
    const bool loaded = is_real ? load_real(source.ptr(), convert) : load_whole(source.ptr());
    PyErr_Clear();
    return loaded;
  }

  static handle cast(Number number, return_value_policy, handle) {
    if constexpr (is_real)
      return PyFloat_FromDouble(static_cast<double>(number));
    else if constexpr (std::is_signed_v<Number>)
      return PyLong_FromLongLong(number);
    else
      return PyLong_FromUnsignedLongLong(number);
  }

 private:
  bool load_real(PyObject* source, bool convert) {
    if (!(convert || PyFloat_Check(source) || PyLong_Check(source))) return false;
    const double number = PyFloat_AsDouble(source);
    value = static_cast<Number>(number);
    return number != -1 || !PyErr_Occurred();
  }

  bool load_whole(PyObject* source) {
    const auto whole = reinterpret_steal<object>(PyNumber_Index(source));
    if (!whole) return false;
    using Widest = std::conditional_t<std::is_signed_v<Number>, long long, unsigned long long>;
    Widest number;
    if constexpr (std::is_signed_v<Number>)
      number = PyLong_AsLongLong(whole.ptr());
    else
      number = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred()) return false;
    value = static_cast<Number>(number);
    return static_cast<Widest>(value) == number;
  }
};

template <>
class type_caster<float> : public number_caster<float> {};
template <>
class type_caster<double> : public number_caster<double> {};
template <>
class type_caster<int> : public number_caster<int> {};
template <>
class type_caster<unsigned> : public number_caster<unsigned> {};
template <>
class type_caster<long> : public number_caster<long> {};
template <>
class type_caster<unsigned long> : public number_caster<unsigned long> {};
template <>
class type_caster<long long> : public number_caster<long long> {};
template <>
class type_caster<unsigned long long> : public number_caster<unsigned long long> {};

}  // namespace pybind11::detail

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <pybind11/typing.h>
