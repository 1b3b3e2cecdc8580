// A tensor's answers about itself and its elements.
#include "autograd/autograd.h"
#include "autograd/ops/join.h"
#include "dlprim/ops/pointwise/pointwise_result.h"

#include "python/exchange.h"
#include "python_data.h"

using ocl::DType;
using ocl::Operand;
using ocl::Tensor;

namespace {

py::dtype numpy_dtype(DType dtype) {
  if (dtype == DType::bfloat16)
    throw ocl::TypeError("NumPy has no bfloat16; convert with .to(ocl.float32) first");
  import_numpy();
  return py::dtype(name(dtype));
}

py::array to_numpy(const Tensor& tensor) {
  py::array result(numpy_dtype(tensor.dtype()), tensor.shape().vector());
  if (tensor.numel() == 0) return result;
  void* data = result.mutable_data();
  const PythonUnlocked unlocked;
  tensor.copy_bytes_to(data);
  return result;
}

/** The conditions of a copy for NumPy, which the tape cannot follow. */
void require_no_gradient(const Tensor& tensor) {
  dlprim::require<ocl::AutogradError>(
      !tensor.requires_grad() || !ocl::grad_enabled(),
      "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
}

/** Tensor.numpy(out=array) */
py::array to_numpy(const Tensor& tensor, py::array out) {
  const py::dtype wanted = numpy_dtype(tensor.dtype());
  dlprim::require<ocl::TypeError>(out.dtype().equal(wanted), "numpy: expected an array of ",
                                  name(tensor.dtype()), " for out, got ", shown(out.dtype()));
  const ocl::Shape shape(out.shape(), out.shape() + out.ndim());
  dlprim::require(ocl::Dims(shape) == tensor.shape(), "numpy: expected an array of shape ", tensor.shape(),
                  " for out, got ", ocl::Dims(shape));
  dlprim::require(out.writeable() && (out.flags() & py::array::c_style),
                  "numpy: expected a writeable C-contiguous array for out");
  void* data = out.mutable_data();
  const PythonUnlocked unlocked;
  if (tensor.numel()) tensor.copy_bytes_to(data);
  return out;
}

py::object to_list(const Tensor& tensor) {
  return to_numpy(tensor.dtype() == DType::bfloat16 ? tensor.detach().to(DType::float32) : tensor)
      .attr("tolist")();
}

py::object item(const Tensor& tensor) {
  dlprim::require(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
                  " elements cannot be converted to Scalar");
  const auto read = [&](auto zero) {
    const PythonUnlocked unlocked;
    return tensor.item<decltype(zero)>();
  };
  if (is_floating(tensor.dtype())) return py::float_(read(double{}));
  if (is_complex(tensor.dtype())) {
    const std::complex<double> value = read(std::complex<double>{});
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(value.real(), value.imag()));
  }
  const std::int64_t value = read(std::int64_t{});
  if (tensor.dtype() == DType::boolean) return py::bool_(value != 0);
  return py::int_(value);
}

void bind_facts(py::module_& m, py::class_<Tensor>& tensor) {
  tensor
      .def_property_readonly("shape", [](const Tensor& t) { return py::tuple(py::cast(t.shape().vector())); })
      .def_property_readonly("ndim", &Tensor::dim)
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly("device", &Tensor::device)
      .def_property_readonly("itemsize", [](const Tensor& t) { return size_of(t.dtype()); })
      .def_property_readonly(
          "nbytes",
          [](const Tensor& t) -> py::int_ { return py::int_(t.numel()) * py::int_(size_of(t.dtype())); })
      .def(
          "size",
          [](const Tensor& t, const std::optional<std::int64_t>& dim) {
            return dim ? py::object(py::int_(t.size(*dim)))
                       : py::object(py::tuple(py::cast(t.shape().vector())));
          },
          py::arg("dim") = py::none())
      .def(
          "stride",
          [](const Tensor& t, const std::optional<std::int64_t>& dim) -> py::object {
            if (!dim) return py::tuple(py::cast(t.strides().vector()));
            return py::int_(t.strides()[dlprim::wrap_dim(*dim, t.dim(), "stride")]);
          },
          py::arg("dim") = py::none())
      .def("storage_offset", [](const Tensor& t) { return t.data().offset; })
      .def("dim", &Tensor::dim)
      .def("ndimension", &Tensor::dim)
      .def("numel", &Tensor::numel)
      .def("nelement", &Tensor::numel)
      .def("element_size", [](const Tensor& t) { return size_of(t.dtype()); })
      .def("is_floating_point", [](const Tensor& t) { return is_floating(t.dtype()); })
      .def("is_complex", [](const Tensor& t) { return t.is_complex(); })
      .def(
          "is_contiguous",
          [](const Tensor& t, const std::optional<ocl::MemoryFormat>& memory_format) {
            return t.is_contiguous(memory_format.value_or(ocl::MemoryFormat::contiguous));
          },
          py::kw_only(), py::arg("memory_format") = py::none());
  m.def(
      "is_tensor", [](const py::object& object) { return py::isinstance<Tensor>(object); }, py::arg("obj"),
      "Whether it is a Tensor.");
  m.def(
      "is_floating_point", [](const Tensor& t) { return is_floating(t.dtype()); }, py::arg("input"),
      "Whether its dtype is a floating one.");
  m.def(
      "is_complex", [](const Tensor& t) { return t.is_complex(); }, py::arg("input"),
      "Whether its elements are complex numbers.");
  m.def("numel", &Tensor::numel, py::arg("input"), "The number of elements.");
  m.def(
      "result_type", [](const Operand& a, const Operand& b) { return ocl::result_type({a, b}); },
      py::arg("tensor1"), py::arg("tensor2"), "The dtype that two tensors or numbers promote to.");
  m.def("can_cast", &ocl::can_cast, py::arg("from_"), py::arg("to"),
        "Whether results of one dtype may be written to tensors of another.");
}

void bind_python_protocols(py::class_<Tensor>& tensor) {
  // By identity; named here because pybind11 would take it away for the sake of __eq__.
  tensor.attr("__hash__") = py::module_::import("builtins").attr("object").attr("__hash__");
  tensor
      .def("__len__",
           [](const Tensor& t) {
             dlprim::require<ocl::TypeError>(t.dim() > 0, "len() of a 0-d tensor");
             return t.size(0);
           })
      .def("__iter__",
           [](const Tensor& t) {
             dlprim::require<ocl::TypeError>(t.dim() > 0, "iteration over a 0-d tensor");
             return py::iter(py::cast(ocl::unbind(t, 0)));
           })
      .def("__contains__",
           [](const Tensor& t, const Operand& element) { return ocl::any(ocl::eq(t, element)).item<bool>(); })
      .def("__complex__",
           [](const Tensor& t) {
             const py::object number = item(t);
             const Py_complex value = PyComplex_AsCComplex(number.ptr());
             return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(value.real, value.imag));
           })
      .def("__float__", [](const Tensor& t) { return py::float_(item(t)); })
      .def("__int__", [](const Tensor& t) { return py::int_(item(t)); })
      .def("__index__",
           [](const Tensor& t) {
             dlprim::require<ocl::TypeError>(
                 is_integral(t.dtype()) && t.numel() == 1,
                 "only integer tensors of a single element can be converted to an index");
             return py::int_(item(t));
           })
      .def("__bool__",
           [](const Tensor& t) {
             dlprim::require(t.numel() == 1, "Boolean value of Tensor with ",
                             t.numel() ? "more than one value" : "no values", " is ambiguous");
             return py::bool_(item(t));
           })
      .def(
          "__repr__", [](const Tensor& t) { return ocl::to_string(t); }, WithoutLock())
      .def("__format__", [](const Tensor& t, const std::string& format) -> py::str {
        if (t.dim() == 0) return item(t).attr("__format__")(format);
        return py::str(ocl::to_string(t)).attr("__format__")(format);
      });
}

/** The device's own memory for those who ask for it, a copy on the host for all others. */
py::object to_dlpack(const Tensor& tensor, const py::kwargs& how) {
  const auto given = [&](const char* name) {
    return how.contains(name) ? py::object(how[name]) : py::object(py::none());
  };
  if (tensor.requires_grad())
    throw py::buffer_error("Can't export tensors that require gradient, use tensor.detach()");
  const py::object device = given("dl_device");
  if (device.is_none() || !py::make_tuple(dlprim::dlpack::device_type_opencl, tensor.data().device().index())
                               .equal(py::tuple(device)))
    return to_numpy(tensor).attr("__dlpack__")(**how);
  const py::object copy = given("copy");
  const bool copies = !copy.is_none() && copy.cast<bool>();
  const Tensor shown = copies ? ocl::clone(tensor) : tensor;
  return dlprim::python::capsule_of(dlprim::dlpack::elements_of(shown.data()), given("max_version"));
}

bool lies_in_opencl(const py::object& object) {
  if (!py::hasattr(object, "__dlpack_device__")) return dlprim::python::shows_opencl(object);
  const py::tuple device = object.attr("__dlpack_device__")();
  return device[0].cast<int>() == dlprim::dlpack::device_type_opencl;
}

Tensor from_dlpack(const py::object& object, const std::optional<ocl::Device>& device) {
  if (is_bfloat16_of_pytorch(object) && !lies_in_opencl(object))
    return tensor_of(object, std::nullopt, device);
  if (!lies_in_opencl(object)) return tensor_of(numpy().attr("from_dlpack")(object), std::nullopt, device);
  const bool is_capsule = !py::hasattr(object, "__dlpack__");
  const py::object capsule =
      is_capsule ? object : object.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
  const Tensor shared(dlprim::dlpack::tensor_of(dlprim::python::take_from(capsule)));
  return device ? shared.to(*device) : shared;
}

void bind_exchange(py::module_& m, py::class_<Tensor>& tensor) {
  tensor.def("item", &item, "The one element as a Python number. Waits.")
      .def(
          "numpy",
          [](const Tensor& t, bool force, const std::optional<NumpyArray>& out) {
            if (!force) require_no_gradient(t);
            return out ? to_numpy(t, *out) : to_numpy(t);
          },
          py::kw_only(), py::arg("force") = false, py::arg("out") = py::none(),
          "Waits, and copies the elements to a NumPy array. A tensor that requires gradients is refused but "
          "with force=True or while gradients are off: use detach(). With `out` to that one, C-contiguous, "
          "of the tensor's shape and dtype: one of page-locked memory (pin_memory) takes the bus's full "
          "rate.")
      .def("tolist", &to_list, "The elements as nested lists, or a number. Waits.")
      .def(
          "__array__",
          [](const Tensor& t, const py::object& dtype, const py::object&) -> py::object {
            require_no_gradient(t);
            const py::array array = to_numpy(t);
            return dtype.is_none() ? py::object(array) : array.attr("astype")(dtype);
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def(
          "__dlpack__", &to_dlpack,
          "A capsule over a copy on the host, for which it waits; with dl_device=(4, N), DLPack's number for "
          "OpenCL and that of the tensor's device, over the tensor's own memory, a cl_mem.")
      .def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(1, 0); });
  m.def("from_dlpack", &from_dlpack, py::arg("ext_tensor"), py::arg("device") = py::none(),
        "What another library shows through __dlpack__: copied to a device from host memory; from memory of "
        "OpenCL's, as PyTorch's tensors on ocl devices are, the same memory.");
}

void bind_print_options(py::module_& m) {
  m.def(
      "set_printoptions",
      [](const std::optional<int>& precision, const std::optional<std::int64_t>& threshold,
         const std::optional<std::int64_t>& edgeitems, const std::optional<std::int64_t>& linewidth,
         const std::optional<std::string>& profile, const std::optional<bool>& sci_mode) {
        ocl::PrintOptions& options = ocl::print_options();
        if (profile) {
          dlprim::require(*profile == "default" || *profile == "short" || *profile == "full",
                          "set_printoptions: expected profile 'default', 'short' or 'full', got '", *profile,
                          "'");
          options = ocl::PrintOptions();
          if (*profile == "short") options.precision = options.edgeitems = 2;
          if (*profile == "full") options.threshold = INT64_MAX;
        }
        options.precision = precision.value_or(options.precision);
        options.threshold = threshold.value_or(options.threshold);
        options.edgeitems = edgeitems.value_or(options.edgeitems);
        options.linewidth = linewidth.value_or(options.linewidth);
        options.sci_mode = sci_mode;
      },
      py::arg("precision") = py::none(), py::arg("threshold") = py::none(), py::arg("edgeitems") = py::none(),
      py::arg("linewidth") = py::none(), py::arg("profile") = py::none(), py::arg("sci_mode") = py::none(),
      "How tensors are printed.");
}

}  // namespace

void bind_reading(py::module_& m, py::class_<Tensor>& tensor) {
  bind_facts(m, tensor);
  bind_python_protocols(tensor);
  bind_exchange(m, tensor);
  bind_print_options(m);
}
