#pragma once

#include <climits>

#include "autograd/ops/loss_reduction.h"
#include "autograd/ops/norm.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"
#include "number_casters.h"
#include "numbers.h"
#include "numpy_objects.h"
#include "python_lock.h"
#include "shown.h"
#include "tensor_object.h"

/** Whether it is a Python int or stands for one: NumPy's integers, integer tensors of one element. */
inline bool is_whole(py::handle source) {
  if (PyLong_Check(source.ptr())) return true;
  if (!PyIndex_Check(source.ptr())) return false;
  const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(source.ptr()));
  PyErr_Clear();
  return static_cast<bool>(whole);
}

/** A Python int, or what stands for one, as an int of 32 bits. Throws ValueError. */
inline int small_int(py::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || value > INT_MAX || value < INT_MIN)
    throw ocl::ValueError("expected a number of 32 bits, got " + py::str(number).cast<std::string>());
  return static_cast<int>(value);
}

inline bool names_device(py::handle source) {
  return py::isinstance<ocl::Device>(source) || py::isinstance<py::str>(source) || PyLong_Check(source.ptr());
}

/** The device that a device, its name or its number stands for. Throws DeviceError, ValueError, TypeError. */
inline ocl::Device device_of(py::handle source) {
  if (!names_device(source))
    throw ocl::TypeError("expected a device, its name or its number, got " + shown(source));
  if (py::isinstance<py::str>(source)) return ocl::Device(source.cast<std::string>());
  if (PyLong_Check(source.ptr())) return ocl::Device(small_int(source));
  return source.cast<ocl::Device>();
}

/** The device named, or the default one for None. */
inline ocl::Device device_or_default(const std::optional<ocl::Device>& device) {
  return device ? *device : ocl::Device();
}

namespace pybind11::detail {

/** The one Python object of a tensor, both ways. */
template <>
class type_caster<ocl::Tensor> : public type_caster_generic {
 public:
  static constexpr auto name = const_name<ocl::Tensor>();
  template <class T>
  using cast_op_type = detail::cast_op_type<T>;

  type_caster() : type_caster_generic(static_cast<const type_info*>(nullptr)) {}

  bool load(handle source, bool) {
    value = tensor_in(source.ptr());
    return value != nullptr;
  }
  operator ocl::Tensor*() { return static_cast<ocl::Tensor*>(value); }
  operator ocl::Tensor&() { return *static_cast<ocl::Tensor*>(value); }

  static handle cast(const ocl::Tensor& tensor, return_value_policy, handle) { return python_object(tensor); }
  static handle cast(const ocl::Tensor* tensor, return_value_policy, handle) {
    return python_object(*tensor);
  }
};

/** Python's objects keep their handles: the tensor that is cast from one is a copy of it. */
template <>
struct move_if_unreferenced<ocl::Tensor> : std::false_type {};

/** bool, int, float, complex, what NumPy has for them, and tensors of one element. */
template <>
struct type_caster<ocl::Scalar> {
  PYBIND11_TYPE_CASTER(ocl::Scalar, const_name("complex | float | int | bool"));

  bool load(handle source, bool convert) {
    const std::optional<ocl::Scalar> number = number_in(source, convert);
    if (number) value = *number;
    return number.has_value();
  }

  static handle cast(const ocl::Scalar& scalar, return_value_policy, handle) {
    switch (scalar.kind()) {
      case ocl::Scalar::Kind::boolean:
        return pybind11::bool_(scalar.real() != 0).release();
      case ocl::Scalar::Kind::integer:
        return pybind11::int_(scalar.integer()).release();
      case ocl::Scalar::Kind::floating:
        return pybind11::float_(scalar.real()).release();
      case ocl::Scalar::Kind::complex:
        break;
    }
    return PyComplex_FromDoubles(scalar.real(), scalar.imaginary());
  }
};

/** A device argument. Not pybind11's implicit conversion, which would hide why a name stands for no device.
 */
template <>
struct type_caster<std::optional<ocl::Device>> {
  PYBIND11_TYPE_CASTER(std::optional<ocl::Device>, const_name("device | str | int | None"));

  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!names_device(source)) return false;
    value = device_of(source);
    return true;
  }
};

/** A tensor or a number. */
template <>
struct type_caster<ocl::Operand> {
  PYBIND11_TYPE_CASTER(ocl::Operand, const_name("Tensor | complex | float | int | bool"));

  bool load(handle source, bool convert) {
    if (isinstance<ocl::Tensor>(source)) {
      value = ocl::Operand(source.cast<const ocl::Tensor&>());
      return true;
    }
    type_caster<ocl::Scalar> number;
    if (!number.load(source, convert)) return false;
    value = ocl::Operand(static_cast<ocl::Scalar&>(number));
    return true;
  }
};

/** One int for all dimensions, or as many as there are. */
template <std::size_t N>
struct type_caster<ocl::EachDim<N>> {
  PYBIND11_TYPE_CASTER(ocl::EachDim<N>,
                       const_name<N == 2>("int | tuple[int, int]", "int | tuple[int, int, int]"));

  bool load(handle source, bool) {
    if (is_whole(source)) {
      value = ocl::EachDim<N>(small_int(source));
      return true;
    }
    if (!isinstance<sequence>(source) || isinstance<str>(source)) return false;
    const auto items = reinterpret_borrow<sequence>(source);
    const bool is_one = items.size() == 1;  // which stands for all
    if (!is_one && items.size() != N) return false;
    std::array<int, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) {
      const object item = items[is_one ? 0 : i];
      if (!is_whole(item)) return false;
      numbers[i] = small_int(item);
    }
    value = ocl::EachDim<N>(numbers);
    return true;
  }

  static handle cast(const ocl::EachDim<N>& numbers, return_value_policy, handle) {
    if (numbers.is_one_number) return int_(numbers[0]).release();
    tuple all(N);
    for (std::size_t i = 0; i < N; ++i) all[i] = int_(numbers.values[i]);
    return all.release();
  }
};

/** The name of an activation. */
template <>
struct type_caster<ocl::NormActivation> {
  PYBIND11_TYPE_CASTER(ocl::NormActivation, const_name("str"));

  bool load(handle source, bool) {
    if (!isinstance<str>(source)) return false;
    value = ocl::NormActivation(source.cast<std::string>());
    return true;
  }
};

/** "none", "mean" or "sum". */
template <>
struct type_caster<ocl::Reduction> {
  PYBIND11_TYPE_CASTER(ocl::Reduction, const_name("str"));

  bool load(handle source, bool) {
    if (!isinstance<str>(source)) return false;
    value = ocl::reduction_from_name(source.cast<std::string>());
    return true;
  }
};

}  // namespace pybind11::detail

/** PyTorch's values of `dim`: nothing, one dimension, or several. */
using DimArgument = std::optional<std::variant<std::int64_t, std::vector<std::int64_t>>>;

inline std::vector<std::int64_t> dims_of(const DimArgument& dim) {
  if (!dim) return {};
  if (const auto* one = std::get_if<std::int64_t>(&*dim)) return {*one};
  return std::get<std::vector<std::int64_t>>(*dim);
}

/** Sizes given as separate ints or as one tuple: `zeros(2, 3)` and `zeros((2, 3))`. */
inline ocl::Shape shape_of(const py::args& sizes) {
  const bool in_one = sizes.size() == 1 && !is_whole(sizes[0]);
  const py::object given = in_one ? py::object(sizes[0]) : py::object(sizes);
  try {
    return given.cast<ocl::Shape>();
  } catch (const py::cast_error&) {
    throw ocl::TypeError("expected sizes as ints, got " + shown(given));
  }
}

/**
 * A tensor of numbers, nested sequences of them, buffers, and whatever NumPy reads as an array: arrays,
 * PyTorch's tensors, images. The dtype is the one that PyTorch infers. A number that an integer dtype does
 * not hold throws ValueError, what is no number TypeError; whole arrays are converted as tensors are.
 */
ocl::Tensor tensor_of(const py::object& data, const std::optional<ocl::DType>& dtype,
                      const std::optional<ocl::Device>& device, bool non_blocking = false);

/** The tensor that an object is; TypeError for any other object. */
inline ocl::Tensor tensor_of(py::handle object) {
  dlprim::require<ocl::TypeError>(py::isinstance<ocl::Tensor>(object), "expected tensors, got ",
                                  Py_TYPE(object.ptr())->tp_name);
  return object.cast<ocl::Tensor>();
}

/** Those of an iterable. */
inline ocl::TensorList tensors_of(py::handle objects) {
  ocl::TensorList tensors;
  for (const py::handle object : py::iter(objects)) tensors.push_back(tensor_of(object));
  return tensors;
}

/** The array of an operator's operand, as a tensor on the device of the other one. */
inline ocl::Tensor tensor_beside(const ocl::Tensor& tensor, const py::array& array) {
  return tensor_of(array, std::nullopt, tensor.device());
}

void bind_errors(py::module_& m);
void bind_device(py::module_& m);
void bind_tensor(py::module_& m);
void bind_pinned(py::module_& m);
void bind_autograd(py::module_& m);
void bind_calls(py::module_& m);
void bind_reading(py::module_& m, py::class_<ocl::Tensor>& tensor);
/** Every operator, in ops/. */
void bind_operators(py::module_& m, py::class_<ocl::Tensor>& tensor);
void bind_nn(py::module_& m);
void bind_optim(py::module_& m);
void bind_data(py::module_& m);
