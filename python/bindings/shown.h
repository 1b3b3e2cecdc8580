#pragma once

#include "number_casters.h"

#include <string>

/** A value as an error shows it: numbers, texts and short lists of them as they are, of all else (a tensor
 * would be downloaded) the type. */
inline std::string shown(pybind11::handle value) {
  const bool is_plain = value.is_none() || PyUnicode_Check(value.ptr()) || PyLong_Check(value.ptr()) ||
                        PyFloat_Check(value.ptr()) || PyType_Check(value.ptr());
  if (is_plain) return pybind11::repr(value).cast<std::string>();
  constexpr Py_ssize_t most = 8;
  const bool is_tuple = PyTuple_Check(value.ptr()) != 0;
  if (!(is_tuple || PyList_Check(value.ptr())) || PySequence_Size(value.ptr()) > most)
    return pybind11::type::of(value).attr("__name__").cast<std::string>();
  std::string text;
  for (const pybind11::handle item : value) text += (text.empty() ? "" : ", ") + shown(item);
  return is_tuple ? "(" + text + ")" : "[" + text + "]";
}
