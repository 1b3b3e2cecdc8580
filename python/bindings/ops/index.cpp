#include "autograd/ops/index.h"
#include "autograd/ops/index_expression.h"
#include "autograd/ops/masking.h"
#include "operator_binder.h"

using ocl::DType;
using ocl::IndexItem;
using ocl::IndexItems;
using ocl::Operand;
using ocl::Scalar;
using ocl::Tensor;

namespace {

std::string type_name(py::handle object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

ocl::Slice slice_of(py::handle slice) {
  const auto bound = [&](const char* name) -> std::optional<std::int64_t> {
    const py::object value = slice.attr(name);
    if (value.is_none()) return std::nullopt;
    // Clipped like in Python: bounds beyond every size are no error.
    const Py_ssize_t at = PyNumber_AsSsize_t(value.ptr(), nullptr);
    if (at == -1 && PyErr_Occurred()) throw py::error_already_set();
    return at;
  };
  ocl::Slice result;
  result.start = bound("start");
  result.stop = bound("stop");
  result.step = bound("step").value_or(1);
  return result;
}

py::object as_int64(const py::object& array) {
  const py::object result = array.attr("astype")("int64");
  const bool wraps = array.attr("dtype").attr("kind").cast<std::string>() == "u" &&
                     result.attr("__lt__")(0).attr("any")().cast<bool>();
  dlprim::require<ocl::IndexError>(!wraps, "tensor index: expected indices of 64 bits with a sign");
  return result;
}

/** An index tensor of a list, a range or an array, whose numbers must be whole or bool. */
Tensor index_tensor(py::handle given, const ocl::Device& device) {
  py::object array = numpy().attr("asarray")(given);
  const auto kind = array.attr("dtype").attr("kind").cast<std::string>();
  if (array.attr("size").cast<std::int64_t>() == 0 && !py::hasattr(given, "dtype"))
    array = array.attr("astype")("int64");  // NumPy takes an empty list for floats
  else if (kind != "b" && kind != "i" && kind != "u")
    throw ocl::IndexError("tensor index: expected whole numbers or bools, got an array of dtype " +
                          py::str(array.attr("dtype")).cast<std::string>());
  else if (kind == "i" || array.attr("dtype").attr("itemsize").cast<int>() > 1)  // but for masks
    array = as_int64(array);
  return tensor_of(array, std::nullopt, device);
}

IndexItem item_of(py::handle part, const ocl::Device& device) {
  if (part.is_none()) return ocl::NewAxis{};
  if (py::isinstance<py::ellipsis>(part)) return ocl::Ellipsis;
  if (py::isinstance<py::slice>(part)) return slice_of(part);
  if (py::isinstance<Tensor>(part)) return part.cast<Tensor>();
  if (PyBool_Check(part.ptr())) return part.cast<bool>();
  if (py::isinstance<NumpyArray>(part) || (PySequence_Check(part.ptr()) && !py::isinstance<py::str>(part)))
    return index_tensor(part, device);
  if (PyIndex_Check(part.ptr())) {
    const Py_ssize_t at = PyNumber_AsSsize_t(part.ptr(), PyExc_IndexError);
    if (at == -1 && PyErr_Occurred()) throw py::error_already_set();
    return std::int64_t{at};
  }
  const std::string message =
      "tensor index: expected ints, slices, None, ..., or tensors or lists of ints or bools, got " +
      type_name(part);
  if (py::isinstance<py::str>(part)) throw ocl::TypeError(message);
  throw ocl::IndexError(message);
}

IndexItems items_of(const py::object& index, const ocl::Device& device) {
  IndexItems items;
  if (!py::isinstance<py::tuple>(index)) return {item_of(index, device)};
  for (const py::handle part : index) items.push_back(item_of(part, device));
  return items;
}

Operand value_of(const py::object& value, const ocl::Device& device) {
  if (py::isinstance<Tensor>(value)) return value.cast<Tensor>();
  if (py::isinstance<NumpyArray>(value)) return tensor_of(value, std::nullopt, device);
  py::detail::type_caster<Scalar> number;
  if (number.load(value, false)) return static_cast<Scalar&>(number);
  throw ocl::TypeError("can't assign a " + type_name(value) +
                       " to a Tensor; expected a number, a Tensor or a NumPy array");
}

void bind_brackets(py::class_<Tensor>& tensor) {
  tensor
      .def("__getitem__",
           [](const Tensor& t, const py::object& index) {
             const IndexItems items = items_of(index, t.device());
             PythonUnlocked unlocked;
             return ocl::index(t, items);
           })
      .def("__setitem__", [](Tensor& t, const py::object& index, const py::object& value) {
        const IndexItems items = items_of(index, t.device());
        const Operand source = value_of(value, t.device());
        PythonUnlocked unlocked;
        ocl::index_put_(t, items, source);
      });
}

void bind_nonzero(const OperatorBinder& bind) {
  const auto nonzero = [](const Tensor& input, bool as_tuple) -> py::object {
    ocl::TensorList places;
    {
      PythonUnlocked unlocked;
      places = as_tuple ? ocl::nonzero_as_tuple(input) : ocl::TensorList{ocl::nonzero(input)};
    }
    return as_tuple ? py::object(py::tuple(py::cast(places))) : py::cast(places.front());
  };
  bind.module().def("nonzero", nonzero, py::arg("input"), py::kw_only(), py::arg("as_tuple") = false,
                    OperatorBinder::doc("nonzero"));
  bind.tensor().def("nonzero", nonzero, py::kw_only(), py::arg("as_tuple") = false,
                    OperatorBinder::doc("nonzero"));
}

/** scatter with `reduce`, which PyTorch keeps for old programs: add or multiply, also of one number. */
Tensor scatter_reduced(const Tensor& input, std::int64_t dim, const Tensor& index, const Operand& src,
                       const std::string& reduce) {
  dlprim::require(reduce == "add" || reduce == "multiply",
                  "scatter: reduce argument must be either add or multiply, got '", reduce, "'");
  const Tensor source = src.is_tensor()
                            ? src.tensor()
                            : ocl::full(index.shape().vector(), src.number(), input.dtype(), input.device());
  if (reduce == "add") return ocl::scatter_add(input, dim, index, source);
  return ocl::scatter_reduce(input, dim, index, source, "prod", true);
}

void bind_reducing_scatter(const OperatorBinder& bind) {
  for (const char* source : {"src", "value"}) {
    bind.both("scatter", &scatter_reduced, py::arg("dim"), py::arg("index"), py::arg(source), py::kw_only(),
              py::arg("reduce"));
    bind.method(
        "scatter_",
        [](Tensor& input, std::int64_t dim, const Tensor& index, const Operand& src,
           const std::string& reduce) -> Tensor& {
          return input.copy_(scatter_reduced(input.clone(), dim, index, src, reduce));
        },
        py::arg("dim"), py::arg("index"), py::arg(source), py::kw_only(), py::arg("reduce"));
  }
}

}  // namespace

void bind_index(const OperatorBinder& bind) {
  bind_reducing_scatter(bind);
  bind_brackets(bind.tensor());
  bind_nonzero(bind);
  bind.both(
      "scatter",
      [](const Tensor& input, std::int64_t dim, const Tensor& index, const Scalar& number) {
        return ocl::scatter(input, dim, index, number);
      },
      py::arg("dim"), py::arg("index"), py::arg("value"));
  bind.method(
      "scatter_",
      [](Tensor& input, std::int64_t dim, const Tensor& index, const Scalar& number) {
        return ocl::scatter_(input, dim, index, number);
      },
      py::arg("dim"), py::arg("index"), py::arg("value"));
}
