#include "numbers.h"

#include "casters.h"
#include "numpy_objects.h"

using ocl::Scalar;

namespace {

Scalar whole(py::handle source) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(source.ptr(), &overflow);
  if (overflow != 0)
    throw ocl::ValueError("expected a number of 64 bits, got " + py::str(source).cast<std::string>());
  return static_cast<std::int64_t>(number);
}

bool is_tensor_of_one(py::handle source) {
  return py::isinstance<ocl::Tensor>(source) && source.cast<const ocl::Tensor&>().numel() == 1 &&
         !loses_gradient_as_number(source.ptr());
}

std::complex<double> complex_number(py::handle source) {
  const Py_complex number = PyComplex_AsCComplex(source.ptr());
  return {number.real, number.imag};
}

/** NumPy's own kind of number: 'b', 'i', 'u', 'f', 'c'; others are texts, dates and records. */
std::optional<Scalar> number_of_numpy(py::handle scalar) {
  const auto kind = scalar.attr("dtype").attr("kind").cast<std::string>();
  if (kind == "b") return Scalar(PyObject_IsTrue(scalar.ptr()) == 1);
  if (kind == "i" || kind == "u")
    return whole(py::reinterpret_steal<py::object>(PyNumber_Index(scalar.ptr())));
  if (kind == "f") return Scalar(PyFloat_AsDouble(scalar.ptr()));  // item() of a longdouble is a longdouble
  if (kind == "c") return Scalar(complex_number(scalar));
  return std::nullopt;
}

}  // namespace

std::optional<Scalar> number_in(py::handle source, bool converts) {
  if (PyBool_Check(source.ptr())) return Scalar(source.ptr() == Py_True);
  if (PyLong_Check(source.ptr())) return whole(source);
  if (PyFloat_Check(source.ptr())) return Scalar(PyFloat_AsDouble(source.ptr()));
  if (is_numpy_scalar(source)) return number_of_numpy(source);
  if (PyComplex_Check(source.ptr())) return Scalar(complex_number(source));
  if (converts && is_tensor_of_one(source)) return number_in(source.attr("item")(), false);
  return std::nullopt;
}
