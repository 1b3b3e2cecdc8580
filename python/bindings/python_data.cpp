// Tensors of what Python holds: numbers, nested sequences of them, arrays and buffers.
#include <cstring>
#include <limits>

#include "autograd/autograd.h"
#include "python_data.h"

using ocl::DType;
using ocl::Scalar;
using ocl::Tensor;

namespace {

std::string type_name(py::handle object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

// --- Arrays

/** The dtype here of NumPy's, where there is one. */
std::optional<DType> dtype_of_numpy(const py::dtype& dtype) {
  const auto size = dtype.itemsize();
  switch (dtype.kind()) {
    case 'b':
      return DType::boolean;
    case 'u':
      if (size == 1) return DType::uint8;
      break;
    case 'i':
      if (size == 1) return DType::int8;
      if (size == 2) return DType::int16;
      if (size == 4) return DType::int32;
      if (size == 8) return DType::int64;
      break;
    case 'f':
      if (size == 2) return DType::float16;
      if (size == 4) return DType::float32;
      if (size == 8) return DType::float64;
      break;
    case 'c':
      if (size == 8) return DType::complex64;
      if (size == 16) return DType::complex128;
      break;
    default:
      break;
  }
  return std::nullopt;
}

/** Whether NumPy's dtype is of bools or numbers. */
bool is_numeric(const py::dtype& dtype) {
  return std::strchr("biufc", dtype.kind()) != nullptr;
}

[[noreturn]] void refuse(const py::dtype& dtype) {
  std::string known;
  for (int i = 0; i < dlprim::dtype_count; ++i)
    if (static_cast<DType>(i) != DType::bfloat16)  // NumPy has none
      known += std::string(known.empty() ? "" : " ") + name(static_cast<DType>(i));
  throw ocl::TypeError("tensor: an array of dtype " + py::str(dtype.attr("name")).cast<std::string>() +
                       " has no dtype here; convert it first (" + known + ")");
}

/** The dtype in which NumPy and the rounding on the device need numbers: PyTorch rounds to 16 bits from
 * float32, too. */
DType dtype_on_host(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

/** Whether NumPy's conversion of a float beyond the dtype's range depends on the processor: C leaves it open.
 */
bool is_narrow_integer(DType dtype) {
  return is_integral(dtype) && dtype != DType::boolean && size_of(dtype) < 4;
}

/** NumPy without its warnings of numbers that a dtype does not hold. */
class Quiet {
 public:
  Quiet() : state_(numpy().attr("errstate")(py::arg("all") = "ignore")) { state_.attr("__enter__")(); }
  ~Quiet() { state_.attr("__exit__")(py::none(), py::none(), py::none()); }
  Quiet(const Quiet&) = delete;

 private:
  py::object state_;
};

/** An array in another dtype: numbers that it does not hold wrap around or become infinite, as in C. */
py::array cast(const py::array& array, const char* dtype) {
  const PythonLocked locked;  // the interpreter's end waits for it
  const Quiet quiet;
  return array.attr("astype")(dtype);
}

/** A contiguous array of this machine's byte order in the NumPy dtype of that name. */
py::array as_elements(py::array array, DType dtype) {
  const py::dtype own = array.dtype();
  const bool is_native = std::strchr("=|", own.byteorder()) != nullptr;
  if (own.kind() == 'b' && dtype != DType::boolean)
    array = array.attr("view")("uint8").attr("__ne__")(0);                          // true may be any byte
  if (own.kind() == 'f' && is_narrow_integer(dtype)) array = cast(array, "int64");  // whose low bits count
  if (!is_native || dtype_of_numpy(array.dtype()) != dtype) array = cast(array, name(dtype));
  if (array.flags() & py::array::c_style) return array;
  return numpy().attr("asarray")(array, py::arg("order") = "C");
}

/** Whether NumPy reads the object as an array by itself: arrays, PyTorch's tensors, images. */
bool shows_array(py::handle object) {
  return py::isinstance<NumpyArray>(object) || py::hasattr(object, "__array_interface__") ||
         py::hasattr(object, "__array__") || py::hasattr(object, "__array_struct__");
}

py::array array_of(py::handle object) {
  if (py::isinstance<NumpyArray>(object)) return py::reinterpret_borrow<py::array>(object);
  auto shown = py::reinterpret_borrow<py::object>(object);
  if (py::hasattr(shown, "detach")) shown = shown.attr("detach")();  // PyTorch's parameters
  if (is_bfloat16_of_pytorch(shown)) shown = shown.attr("float")();  // which holds the same numbers
  return numpy().attr("asarray")(shown);
}

/** Bytes, array.array, memoryview: sequences of Python's numbers, which lie in memory as an array's do. */
py::array array_of_buffer(py::handle object) {
  try {
    const auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(object.ptr()));
    if (!view) throw py::error_already_set();
    return numpy().attr("asarray")(view);
  } catch (py::error_already_set& error) {
    throw ocl::TypeError("tensor: NumPy cannot read the buffer of " + type_name(object) + ": " +
                         py::str(error.value()).cast<std::string>());
  }
}

Tensor upload(const void* elements, const ocl::Shape& shape, DType held, DType dtype,
              const ocl::Device& device, bool non_blocking) {
  const PythonUnlocked unlocked;
  const Tensor result = ocl::from_bytes(elements, shape, held, device, non_blocking);
  return held == dtype ? result : result.to(dtype);
}

/** Conversions of whole arrays are those of tensors: nothing is refused. */
Tensor tensor_of_array(py::array array, const std::optional<DType>& dtype, const ocl::Device& device,
                       bool non_blocking) {
  const py::dtype given = array.dtype();
  const std::optional<DType> own = dtype_of_numpy(given);
  if (!(dtype ? is_numeric(given) : own.has_value())) refuse(given);
  const DType wanted = dtype.value_or(own.value_or(DType::float32));
  const DType held = own == wanted ? wanted : dtype_on_host(wanted);
  array = as_elements(array, held);
  const ocl::Shape shape(array.shape(), array.shape() + array.ndim());
  return upload(array.data(), shape, held, wanted, device, non_blocking);
}

// --- Numbers and sequences of them

/** The kind of a sequence's item. */
enum class Item { number, numpy_number, tensor, array, buffer, text, sequence, other };

Item kind_of(PyObject* object) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object)) return Item::number;
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return Item::sequence;
  if (py::isinstance<NumpyArray>(object)) return Item::array;
  if (PyUnicode_Check(object)) return Item::text;
  if (is_numpy_scalar(object)) return Item::numpy_number;
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return Item::number;
  if (py::isinstance<Tensor>(object)) return Item::tensor;
  if (shows_array(object)) return Item::array;
  if (PyObject_CheckBuffer(object)) return Item::buffer;
  return PySequence_Check(object) ? Item::sequence : Item::other;
}

[[noreturn]] void refuse_text(py::handle text) {
  throw ocl::TypeError("tensor: expected numbers, got a " + type_name(text));
}

[[noreturn]] void refuse_length(std::int64_t expected, std::size_t dim, const std::string& given) {
  throw ocl::ValueError(
      dlprim::concat("tensor: expected a sequence of length ", expected, " at dim ", dim, ", got ", given));
}

/** Calls `visit` with each item of a sequence of `expected` items, which user code may change meanwhile. */
template <class Visit>
void for_items(PyObject* sequence, std::int64_t expected, std::size_t dim, const Visit& visit) {
  const auto fast = py::reinterpret_steal<py::object>(PySequence_Fast(sequence, "tensor: not a sequence"));
  if (!fast) throw py::error_already_set();
  const auto require_length = [&] {
    const auto length = static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(fast.ptr()));
    if (length != expected) refuse_length(expected, dim, dlprim::concat("one of length ", length));
  };
  require_length();
  for (std::int64_t i = 0; i < expected; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(fast.ptr(), i);
    if (PyFloat_CheckExact(item) || PyLong_CheckExact(item)) {  // which run no code of the user's
      visit(item);
      continue;
    }
    visit(py::reinterpret_borrow<py::object>(item).ptr());
    require_length();
  }
}

std::int64_t length_of(PyObject* sequence) {
  const Py_ssize_t length = PySequence_Size(sequence);
  if (length < 0) throw py::error_already_set();
  return length;
}

/** The shape of nested sequences, by the first item of each. */
ocl::Shape shape_of_nested(const py::object& data) {
  ocl::Shape shape;
  py::object at = data;
  for (;;) {
    const Item kind = kind_of(at.ptr());
    if (kind == Item::text) refuse_text(at);
    if (kind == Item::array || kind == Item::buffer) {
      const py::array array = kind == Item::array ? array_of(at) : array_of_buffer(at);
      shape.insert(shape.end(), array.shape(), array.shape() + array.ndim());
    }
    if (kind != Item::sequence) break;
    dlprim::require(shape.size() < dlprim::max_rank, "tensor: a tensor has at most ", dlprim::max_rank,
                    " dimensions, the sequences given are nested deeper");
    shape.push_back(length_of(at.ptr()));
    if (shape.back() == 0) break;
    PyObject* first = PySequence_GetItem(at.ptr(), 0);
    if (!first) {
      PyErr_Clear();
      throw ocl::TypeError("tensor: cannot tell the shape of a " + type_name(at));
    }
    at = py::reinterpret_steal<py::object>(first);
  }
  return shape;
}

/** The dtype that numbers promote to together. Python's floats count as float32, its ints as int64. */
class CommonDType {
 public:
  void add(DType dtype) { seen_ |= 1u << static_cast<unsigned>(dtype); }

  void add(const py::dtype& dtype) {
    if (const auto own = dtype_of_numpy(dtype)) return add(*own);
    if (dtype.kind() != 'u') refuse(dtype);
    foreign_ = dtype;
  }

  DType get() const {
    std::optional<DType> result;
    for (int i = 0; i < dlprim::dtype_count; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (seen_ >> i & 1u) result = result ? promote_types(*result, dtype) : dtype;
    }
    const bool is_known = result && !is_integral(*result);  // all integers promote to it
    if (foreign_ && !is_known) refuse(*foreign_);
    return result.value_or(DType::float32);
  }

 private:
  unsigned seen_ = 0;
  std::optional<py::dtype> foreign_;  // of integers without a sign that there are not here
};

/** Adds the dtypes of all numbers in nested sequences, of which there are `depth` at most. */
void add_dtypes(PyObject* object, std::size_t depth, std::size_t dim, CommonDType& common) {
  if (PyFloat_CheckExact(object)) return common.add(DType::float32);
  if (PyLong_CheckExact(object)) return common.add(DType::int64);
  switch (kind_of(object)) {
    case Item::number:
      return common.add(PyBool_Check(object)    ? DType::boolean
                        : PyLong_Check(object)  ? DType::int64
                        : PyFloat_Check(object) ? DType::float32
                                                : DType::complex64);
    case Item::numpy_number:
      return common.add(py::handle(object).attr("dtype").cast<py::dtype>());
    case Item::tensor:
      return common.add(py::handle(object).cast<const Tensor&>().dtype());
    case Item::array:
      if (is_bfloat16_of_pytorch(object)) return common.add(DType::bfloat16);
      return common.add(array_of(object).dtype());
    case Item::buffer: {
      const py::array numbers = array_of_buffer(object);
      const char kind = numbers.dtype().kind();
      if (!is_numeric(numbers.dtype())) refuse(numbers.dtype());
      if (kind == 'c') return common.add(DType::complex64);
      const bool is_real = kind == 'f' || numbers.size() == 0;
      return common.add(is_real ? DType::float32 : kind == 'b' ? DType::boolean : DType::int64);
    }
    case Item::sequence: {
      if (dim == depth) throw ocl::TypeError("tensor: expected a number, got a " + type_name(object));
      const std::int64_t length = length_of(object);
      if (length == 0) return common.add(DType::float32);
      return for_items(object, length, dim,
                       [&](PyObject* item) { add_dtypes(item, depth, dim + 1, common); });
    }
    case Item::text:
      refuse_text(object);
    case Item::other:
      break;
  }
  throw ocl::TypeError("tensor: could not infer the dtype of a " + type_name(object));
}

void require_number(py::handle object) {
  if (is_numpy_scalar(object) && !is_numeric(object.attr("dtype").cast<py::dtype>()))
    throw ocl::TypeError("tensor: expected a number, got a " + type_name(object));
}

double real_number(PyObject* object) {
  require_number(object);
  if (is_numpy_scalar(object) && py::handle(object).attr("dtype").cast<py::dtype>().kind() == 'c')
    throw ocl::TypeError("tensor: expected a real number, got a " + type_name(object));
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

/** An integer, or what has one as its `__index__`; of Python's floats the part before the point. */
Scalar whole_number(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index) throw py::error_already_set();
  return *number_in(index, false);
}

bool truth(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object) != 0;
  if (is_numpy_scalar(object) && py::handle(object).attr("dtype").cast<py::dtype>().kind() == 'b')
    return PyObject_IsTrue(object) == 1;
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index) throw py::error_already_set();
  return PyObject_IsTrue(index.ptr()) == 1;
}

/** One number as an element of a tensor of `dtype`, whose C++ type is T. As in PyTorch, what a floating dtype
 * does not hold becomes infinite, and what an integer dtype does not hold is refused. */
template <class T>
T element(PyObject* object, DType dtype) {
  if constexpr (!std::is_arithmetic_v<T>) {
    require_number(object);
    const Py_complex value = PyComplex_AsCComplex(object);
    if (value.real == -1 && PyErr_Occurred()) throw py::error_already_set();
    return T(static_cast<typename T::value_type>(value.real),
             static_cast<typename T::value_type>(value.imag));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(PyFloat_CheckExact(object) ? PyFloat_AS_DOUBLE(object) : real_number(object));
  } else if constexpr (std::is_same_v<T, bool>) {
    return truth(object);
  } else {
    if (PyLong_CheckExact(object)) {  // nearly always, and nearly always held
      using Limits = std::numeric_limits<T>;
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow == 0 && value >= Limits::min() && value <= Limits::max()) return static_cast<T>(value);
    }
    const Scalar number = whole_number(object);
    dlprim::require_holds("tensor", dtype, number);
    return static_cast<T>(number.integer());
  }
}

template <class Work>
void with_element_type(DType dtype, const Work& work) {
  switch (dtype) {
    case DType::float32:
      return work(float{});
    case DType::float64:
      return work(double{});
    case DType::int64:
      return work(std::int64_t{});
    case DType::int32:
      return work(std::int32_t{});
    case DType::int16:
      return work(std::int16_t{});
    case DType::int8:
      return work(std::int8_t{});
    case DType::uint8:
      return work(std::uint8_t{});
    case DType::boolean:
      return work(bool{});
    case DType::complex64:
      return work(std::complex<float>{});
    case DType::complex128:
      return work(std::complex<double>{});
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  throw ocl::TypeError(dlprim::concat("tensor: no numbers of the host are ", name(dtype)));
}

/** Writes nested sequences of one shape into memory, in row-major order. */
class Writer {
 public:
  Writer(const ocl::Shape& shape, DType dtype)
      : shape_(shape),
        dtype_(dtype),
        elements_(new char[static_cast<std::size_t>(dlprim::product(ocl::Dims(shape))) * size_of(dtype)]),
        end_(elements_.get()) {}

  const void* elements() const { return elements_.get(); }

  void write(PyObject* object, std::size_t dim = 0) {
    const Item kind = kind_of(object);
    if (kind == Item::text) refuse_text(object);
    if (kind == Item::array) return write_array(array_of(object), dim, PyNumbers::no);
    if (kind == Item::buffer) return write_array(array_of_buffer(object), dim, PyNumbers::yes);
    if (dim == shape_.size()) return with_element_type(dtype_, [&](auto zero) { put(object, zero); });
    if (kind != Item::sequence) refuse_length(shape_[dim], dim, "a " + type_name(object));
    if (dim + 1 < shape_.size())
      return for_items(object, shape_[dim], dim, [&](PyObject* item) { write(item, dim + 1); });
    with_element_type(dtype_, [&](auto zero) {
      for_items(object, shape_[dim], dim, [&](PyObject* item) {
        if (PyFloat_CheckExact(item) || PyLong_CheckExact(item))
          put(item, zero);
        else
          write(item, dim + 1);
      });
    });
  }

 private:
  /** Whether an array stands for numbers of Python's, which go into more dtypes than NumPy's. */
  enum class PyNumbers { no, yes };

  template <class T>
  void put(PyObject* object, T) {
    const T value = element<T>(object, dtype_);
    std::memcpy(end_, &value, sizeof value);
    end_ += sizeof value;
  }

  void write_array(py::array array, std::size_t dim, PyNumbers numbers) {
    const ocl::Dims expected(ocl::Shape(shape_.begin() + static_cast<std::ptrdiff_t>(dim), shape_.end()));
    const ocl::Dims given(ocl::Shape(array.shape(), array.shape() + array.ndim()));
    dlprim::require(given == expected, "tensor: expected a sequence of shape ", expected, " at dim ", dim,
                    ", got an array of shape ", given);
    require_elements(array, numbers);
    // PyTorch takes every number for a double first.
    if (dtype_ == DType::float32 && array.itemsize() == 8) array = as_elements(array, DType::float64);
    array = as_elements(array, dtype_);
    std::memcpy(end_, array.data(), static_cast<std::size_t>(array.nbytes()));
    end_ += array.nbytes();
  }

  /** The checks of `element` for each number. */
  void require_elements(const py::array& array, PyNumbers numbers) const {
    const py::dtype given = array.dtype();
    if (!is_numeric(given)) refuse(given);
    if (!is_integral(dtype_)) return;
    const bool has_index = given.kind() == 'i' || given.kind() == 'u' ||
                           (given.kind() == 'b' && dtype_ == DType::boolean) ||
                           (given.kind() == 'f' && given.itemsize() == sizeof(double));  // Python's floats
    if (!has_index && numbers == PyNumbers::no)
      throw ocl::TypeError("tensor: an array of dtype " + py::str(given.attr("name")).cast<std::string>() +
                           " in a sequence cannot be interpreted as numbers of dtype " + name(dtype_));
    if (dtype_ == DType::boolean || array.size() == 0) return;
    for (const char* end : {"min", "max"})
      dlprim::require_holds("tensor", dtype_, *number_in(array.attr(end)(), false));
  }

  const ocl::Shape& shape_;
  const DType dtype_;
  std::unique_ptr<char[]> elements_;
  char* end_;
};

Tensor tensor_of_numbers(const py::object& data, const std::optional<DType>& dtype,
                         const ocl::Device& device) {
  const ocl::Shape shape = shape_of_nested(data);
  DType wanted = dtype.value_or(DType::float32);
  if (!dtype) {
    CommonDType common;
    add_dtypes(data.ptr(), shape.size(), 0, common);
    wanted = common.get();
  }
  const DType held = dtype_on_host(wanted);
  Writer writer(shape, held);
  if (dlprim::product(ocl::Dims(shape)) > 0) writer.write(data.ptr());
  return upload(writer.elements(), shape, held, wanted, device, false);
}

}  // namespace

bool is_bfloat16_of_pytorch(py::handle object) {
  return py::hasattr(object, "dtype") &&
         py::str(object.attr("dtype")).cast<std::string_view>() == "torch.bfloat16";
}

Tensor tensor_of(const py::object& data, const std::optional<DType>& dtype,
                 const std::optional<ocl::Device>& device, bool non_blocking) {
  const Item kind = kind_of(data.ptr());
  if (kind == Item::tensor) {
    const Tensor copy = data.cast<Tensor>().detach().clone();
    const Tensor there = device ? copy.to(*device) : copy;
    return dtype ? there.to(*dtype) : there;
  }
  const ocl::Device target = device_or_default(device);
  if (kind == Item::array) {
    const auto wanted = !dtype && is_bfloat16_of_pytorch(data) ? DType::bfloat16 : dtype;
    return tensor_of_array(array_of(data), wanted, target, non_blocking);
  }
  return tensor_of_numbers(data, dtype, target);
}
