#include <cstring>
#include <set>

#include "casters.h"

using ocl::DType;
using ocl::Tensor;

namespace {

py::dtype numpy_dtype(DType dtype) {
  if (dtype == DType::bfloat16)
    throw ocl::TypeError("NumPy has no bfloat16; convert with .to(ocl.float32) first");
  return py::dtype(name(dtype));
}

py::array to_numpy(const Tensor& tensor) {
  py::array result(numpy_dtype(tensor.dtype()), tensor.shape().vector());
  if (tensor.numel() == 0) return result;
  std::vector<char> bytes;
  {
    py::gil_scoped_release unlocked;
    bytes = tensor.to_bytes();
  }
  std::memcpy(result.mutable_data(), bytes.data(), bytes.size());
  return result;
}

py::object item(const Tensor& tensor) {
  dlprim::require(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
                  " elements cannot be converted to Scalar");
  if (is_floating(tensor.dtype())) {
    py::gil_scoped_release unlocked;
    const double value = tensor.item<double>();
    py::gil_scoped_acquire locked;
    return py::float_(value);
  }
  py::gil_scoped_release unlocked;
  const std::int64_t value = tensor.item<std::int64_t>();
  py::gil_scoped_acquire locked;
  if (tensor.dtype() == DType::boolean) return py::bool_(value != 0);
  return py::int_(value);
}

Tensor moved(const Tensor& tensor, const py::object& target, const std::optional<DType>& dtype) {
  Tensor result = tensor;
  if (py::isinstance<DType>(target))
    result = result.to(target.cast<DType>());
  else if (py::isinstance<Tensor>(target))
    result = result.to(target.cast<Tensor>().device()).to(target.cast<Tensor>().dtype());
  else if (!target.is_none())
    result = result.to(device_of(target));
  return dtype ? result.to(*dtype) : result;
}

void bind_dtypes(py::module_& m) {
  py::enum_<DType> dtype(m, "dtype", "The element type of a tensor.");
  for (int i = 0; i < dlprim::dtype_count; ++i) {
    const auto value = static_cast<DType>(i);
    const char* python_name = value == DType::boolean ? "bool_" : name(value);
    dtype.value(python_name, value);
    m.attr(python_name) = py::cast(value);
  }
  dtype.attr("__repr__") =
      py::cpp_function([](DType d) { return std::string("ocl.") + name(d); }, py::is_method(dtype));
  dtype.attr("__str__") = dtype.attr("__repr__");
  dtype.def_property_readonly("is_floating_point", [](DType d) { return is_floating(d); });
  dtype.def_property_readonly("itemsize", [](DType d) { return size_of(d); });
  m.def("promote_types", &dlprim::promote_types, py::arg("type1"), py::arg("type2"),
        "The dtype that both promote to.");
}

using OptionalTensors = std::vector<std::optional<Tensor>>;

ocl::TensorList undefined_for_none(const OptionalTensors& tensors) {
  ocl::TensorList result;
  for (const std::optional<Tensor>& tensor : tensors) result.push_back(tensor.value_or(Tensor()));
  return result;
}

OptionalTensors none_for_undefined(const ocl::TensorList& tensors) {
  OptionalTensors result;
  for (const Tensor& tensor : tensors)
    result.push_back(tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt);
  return result;
}

void bind_autograd(py::module_& m) {
  m.def("is_grad_enabled", &ocl::grad_enabled);
  m.def("_set_grad_enabled", &ocl::set_grad_enabled);
  m.def(
      "backward",
      [](const ocl::TensorList& tensors, const OptionalTensors& grad_tensors, bool retain_graph) {
        ocl::backward(tensors, undefined_for_none(grad_tensors), retain_graph);
      },
      py::arg("tensors"), py::arg("grad_tensors") = OptionalTensors(), py::arg("retain_graph") = false,
      WithoutLock());
  m.def(
      "grad",
      [](const ocl::TensorList& outputs, const ocl::TensorList& inputs, const OptionalTensors& grad_outputs,
         bool retain_graph, bool allow_unused) {
        return none_for_undefined(ocl::autograd::grad(outputs, inputs, undefined_for_none(grad_outputs),
                                                      retain_graph, allow_unused));
      },
      py::arg("outputs"), py::arg("inputs"), py::arg("grad_outputs") = OptionalTensors(),
      py::arg("retain_graph") = false, py::arg("allow_unused") = false, WithoutLock());
  m.def(
      "gradcheck",
      [](const std::function<Tensor(const ocl::TensorList&)>& function, const ocl::TensorList& inputs,
         double eps, double atol,
         double rtol) { return ocl::autograd::gradcheck(function, inputs, eps, atol, rtol); },
      py::arg("function"), py::arg("inputs"), py::arg("eps") = 1e-6, py::arg("atol") = 1e-5,
      py::arg("rtol") = 1e-3);
}

}  // namespace

// PyTorch's rule: Python floats become float32, NumPy's keep their type.
Tensor tensor_of(const py::object& data, const std::optional<DType>& dtype,
                 const std::optional<ocl::Device>& device) {
  if (py::isinstance<Tensor>(data)) {
    const Tensor copy = data.cast<Tensor>().detach().clone();
    const Tensor there = device ? copy.to(*device) : copy;
    return dtype ? there.to(*dtype) : there;
  }
  const py::module_ numpy = py::module_::import("numpy");
  const bool typed = py::hasattr(data, "dtype");
  const py::object free = py::hasattr(data, "detach") ? data.attr("detach")() : data;  // PyTorch's parameters
  py::array array = numpy.attr("asarray")(free, py::arg("order") = "C");
  if (!typed && array.dtype().kind() == 'f') array = array.attr("astype")("float32");
  std::string type = py::str(array.dtype().attr("name"));
  static const std::set<std::string> supported{"float32", "float64", "float16", "int64",
                                               "int32",   "uint8",   "bool"};
  if (dtype && *dtype != DType::bfloat16 && type != name(*dtype)) {
    array = array.attr("astype")(name(*dtype));
    type = name(*dtype);
  }
  if (!supported.count(type))
    throw ocl::TypeError(
        "tensor: an array of dtype " + type +
        " has no dtype here; convert it first (float32 float64 float16 int64 int32 uint8 bool)");
  array = numpy.attr("ascontiguousarray")(array).attr("reshape")(array.attr("shape"));
  const ocl::Shape shape(array.shape(), array.shape() + array.ndim());
  const DType own = dlprim::dtype_from_name(type);
  const ocl::Device target = device_or_default(device);
  const void* bytes = array.data();
  py::gil_scoped_release unlocked;
  const Tensor result = ocl::from_bytes(bytes, shape, own, target);
  return dtype ? result.to(*dtype) : result;
}

void bind_tensor(py::module_& m) {
  bind_dtypes(m);
  py::class_<Tensor> tensor(m, "Tensor",
                            "A tensor on an OpenCL device, with autograd; torch.Tensor's names.");
  m.def(
      "tensor",
      [](const py::object& data, const std::optional<DType>& dtype, const std::optional<ocl::Device>& device,
         bool requires_grad) { return tensor_of(data, dtype, device).requires_grad_(requires_grad); },
      py::arg("data"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false,
      "Copies data (array, list, number) to a device. Floats of Python become float32; NumPy's keep their "
      "dtype.");
  m.def(
      "from_numpy", [](const py::array& array) { return tensor_of(array, std::nullopt, std::nullopt); },
      py::arg("array"), "Copies a NumPy array to the default device.");

  tensor
      .def_property_readonly("shape", [](const Tensor& t) { return py::tuple(py::cast(t.shape().vector())); })
      .def_property_readonly("ndim", &Tensor::dim)
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly("device", &Tensor::device)
      .def_property_readonly("is_leaf", &Tensor::is_leaf)
      .def_property_readonly("T", [](const Tensor& t) { return ocl::t(t); })
      .def_property_readonly("grad_fn",
                             [](const Tensor& t) -> py::object {
                               return t.grad_fn() ? py::object(py::str("<" + t.grad_fn()->name() + ">"))
                                                  : py::none();
                             })
      .def_property(
          "grad", [](const Tensor& t) { return t.grad().defined() ? py::cast(t.grad()) : py::none(); },
          [](Tensor& t, const std::optional<Tensor>& grad) { t.set_grad(grad.value_or(Tensor())); })
      .def_property("requires_grad", &Tensor::requires_grad, [](Tensor& t, bool on) { t.requires_grad_(on); })
      .def_property_readonly("_version", &Tensor::version)
      .def_property_readonly("_is_parameter", [](const Tensor& t) { return t.impl().is_parameter; })
      .def(
          "size",
          [](const Tensor& t, const std::optional<std::int64_t>& dim) {
            return dim ? py::object(py::int_(t.size(*dim)))
                       : py::object(py::tuple(py::cast(t.shape().vector())));
          },
          py::arg("dim") = py::none())
      .def("dim", &Tensor::dim)
      .def("numel", &Tensor::numel)
      .def("stride", [](const Tensor& t) { return py::tuple(py::cast(t.strides().vector())); })
      .def("is_contiguous", &Tensor::is_contiguous)
      .def(
          "requires_grad_", [](Tensor& t, bool on) { return t.requires_grad_(on); },
          py::arg("requires_grad") = true)
      .def("retain_grad", &Tensor::retain_grad)
      // As std::function, since the tape drops hooks wherever it is, with Python's lock or without.
      .def(
          "register_hook",
          [](Tensor& t, const std::function<py::object(const Tensor&)>& hook) {
            t.register_hook([hook](const Tensor& gradient) {
              py::gil_scoped_acquire locked;
              const py::object replaced = hook(gradient);
              return replaced.is_none() ? Tensor() : replaced.cast<Tensor>();
            });
          },
          py::arg("hook"))
      .def("detach", &Tensor::detach)
      .def(
          "backward",
          [](const Tensor& t, const std::optional<Tensor>& gradient, bool retain_graph) {
            t.backward(gradient.value_or(Tensor()), retain_graph);
          },
          py::arg("gradient") = py::none(), py::arg("retain_graph") = false, WithoutLock())
      .def("item", &item)
      .def("numpy", &to_numpy, "Waits, and copies the elements to a NumPy array.")
      .def("tolist", [](const Tensor& t) -> py::object { return to_numpy(t).attr("tolist")(); })
      .def(
          "__array__",
          [](const Tensor& t, const py::object& dtype, const py::object&) -> py::object {
            const py::array array = to_numpy(t);
            return dtype.is_none() ? py::object(array) : array.attr("astype")(dtype);
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def(
          "__repr__", [](const Tensor& t) { return ocl::to_string(t); }, WithoutLock())
      .def("__len__",
           [](const Tensor& t) {
             dlprim::require<ocl::TypeError>(t.dim() > 0, "len() of a 0-d tensor");
             return t.size(0);
           })
      .def("__iter__",
           [](const Tensor& t) {
             dlprim::require<ocl::TypeError>(t.dim() > 0, "iteration over a 0-d tensor");
             py::list rows;
             for (std::int64_t i = 0; i < t.size(0); ++i) rows.append(ocl::select(t, 0, i));
             return py::iter(rows);
           })
      .def("__float__", [](const Tensor& t) { return py::float_(item(t)); })
      .def("__int__", [](const Tensor& t) { return py::int_(item(t)); })
      .def("__bool__",
           [](const Tensor& t) {
             dlprim::require(t.numel() == 1, "Boolean value of Tensor with ",
                             t.numel() ? "more than one value" : "no values", " is ambiguous");
             return py::bool_(item(t));
           })
      .def("__hash__",
           [](const Tensor& t) { return reinterpret_cast<std::intptr_t>(t.impl_pointer().get()); })
      .def("to", &moved, py::arg("target") = py::none(), py::arg("dtype") = py::none(),
           "To a device, a dtype, or those of another tensor.");
  tensor.attr("__array_priority__") = 1000;  // NumPy's operators give way to ours
  bind_autograd(m);
  bind_operators(m, tensor);
}
