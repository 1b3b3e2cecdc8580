#include <algorithm>

#include "autograd/autograd.h"
#include "casters.h"
#include "collector.h"
#include "dlprim/runtime/allocator.h"
#include "enums.h"
#include "node_object.h"
#include "python_class.h"

using ocl::DType;
using ocl::MemoryFormat;
using ocl::Tensor;

namespace {

using OptionalFormat = std::optional<MemoryFormat>;

Tensor moved(const Tensor& tensor, const std::optional<ocl::Device>& device,
             const std::optional<DType>& dtype, bool copy, const OptionalFormat& memory_format) {
  const Tensor there = device ? tensor.to(*device) : tensor;
  const MemoryFormat format = memory_format.value_or(MemoryFormat::preserve);
  const Tensor result = there.to(dtype.value_or(there.dtype()), format);
  return copy && is_same(result, tensor) ? result.clone(format) : result;
}

/** x.to(dtype), x.to(other) and x.to(device, dtype), each with what PyTorch takes after it. */
void bind_to(py::class_<Tensor>& tensor) {
  const auto no_wait = py::arg("non_blocking") = false, copy = py::arg("copy") = false,
             format = py::arg("memory_format") = py::none();
  constexpr const char* doc =
      "To a device, a dtype, or those of another tensor, and to a memory format. A copy on another device "
      "waits for the tensor, and never for the upload there, which overlaps with what that device computes: "
      "non_blocking changes nothing.";
  tensor
      .def(
          "to",
          [](const Tensor& t, DType dtype, bool, bool copies, const OptionalFormat& to_format) {
            return moved(t, std::nullopt, dtype, copies, to_format);
          },
          py::arg("dtype"), no_wait, copy, py::kw_only(), format, WithoutLock(), doc)
      .def(
          "to",
          [](const Tensor& t, const Tensor& other, bool, bool copies, const OptionalFormat& to_format) {
            return moved(t, other.device(), other.dtype(), copies, to_format);
          },
          py::arg("tensor"), no_wait, copy, py::kw_only(), format, WithoutLock())
      .def(
          "to",
          [](const Tensor& t, const std::optional<ocl::Device>& device, const std::optional<DType>& dtype,
             bool, bool copies,
             const OptionalFormat& to_format) { return moved(t, device, dtype, copies, to_format); },
          py::arg("device") = py::none(), py::arg("dtype") = py::none(), no_wait, copy, py::kw_only(), format,
          WithoutLock());
}

/** "ocl.FloatTensor" */
std::string type_name(DType dtype) {
  return std::string("ocl.") + dlprim::info(dtype).tensor_type_name + "Tensor";
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
  dtype.def_property_readonly("is_complex", [](DType d) { return is_complex(d); });
  dtype.def("to_real", &dlprim::real_dtype, "The dtype of a complex one's parts; any other as it is.");
  dtype.def("to_complex", &dlprim::complex_dtype, "The complex dtype of 64 bits for float64, else of 32.");
  dtype.def(py::init([](const py::type& number) {
              if (number.is(py::type::of(py::float_()))) return DType::float64;
              if (number.is(py::type::of(py::int_()))) return DType::int64;
              if (number.ptr() == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::complex128;
              dlprim::require<ocl::TypeError>(number.is(py::type::of(py::bool_())),
                                              "expected a dtype, or float, int, bool or complex, got ",
                                              py::str(number).cast<std::string>());
              return DType::boolean;
            }),
            "The dtype that Python's float, int, bool or complex stands for.");
  py::implicitly_convertible<py::type, DType>();
  without_numbers(dtype);
  dtype.def_property_readonly("itemsize", [](DType d) { return size_of(d); });
  m.def("promote_types", &dlprim::promote_types, py::arg("type1"), py::arg("type2"),
        "The dtype that both promote to.");
}

void bind_memory_formats(py::module_& m) {
  py::enum_<MemoryFormat> format(m, "memory_format", "The order of a tensor's elements in memory.");
  for (const MemoryFormat value : {MemoryFormat::contiguous, MemoryFormat::channels_last,
                                   MemoryFormat::channels_last_3d, MemoryFormat::preserve}) {
    format.value(name(value), value);
    m.attr(name(value)) = py::cast(value);
  }
  format.attr("__repr__") =
      py::cpp_function([](MemoryFormat f) { return std::string("ocl.") + name(f); }, py::is_method(format));
  format.attr("__str__") = format.attr("__repr__");
  without_numbers(format);
}

void bind_creation(py::module_& m) {
  m.def(
      "tensor",
      [](const py::object& data, const std::optional<DType>& dtype, const std::optional<ocl::Device>& device,
         bool requires_grad, bool non_blocking) {
        return tensor_of(data, dtype, device, non_blocking).requires_grad_(requires_grad);
      },
      py::arg("data"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, py::arg("non_blocking") = false,
      "Copies data (array, list, number) to a device. Floats of Python become float32; NumPy's keep their "
      "dtype. The array may be changed afterwards; with non_blocking=True one in page-locked memory "
      "(pin_memory) may not until the upload is over, which synchronize() waits for.");
  m.def(
      "as_tensor",
      [](const py::object& data, const std::optional<DType>& dtype,
         const std::optional<ocl::Device>& device) {
        if (!py::isinstance<Tensor>(data)) return tensor_of(data, dtype, device);
        const Tensor& tensor = data.cast<const Tensor&>();
        const Tensor there = device ? tensor.to(*device) : tensor;
        return dtype ? there.to(*dtype) : there;
      },
      py::arg("data"), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      "As tensor, but a tensor that has that dtype and device already comes back itself.");
  m.def(
      "from_numpy", [](const NumpyArray& array) { return tensor_of(array, std::nullopt, std::nullopt); },
      py::arg("array"), "Copies a NumPy array to the default device.");
}

void bind_tape(py::class_<Tensor>& tensor) {
  constexpr auto itself = py::return_value_policy::reference;
  tensor.def_property_readonly("is_leaf", &Tensor::is_leaf)
      .def("_is_view", [](const Tensor& t) { return t.impl().base.defined(); })
      .def_property_readonly("_base",
                             [](const Tensor& t) {
                               const Tensor& base = t.impl().base;
                               return base.defined() ? std::optional(base) : std::nullopt;
                             })
      .def_property_readonly("grad_fn", [](const Tensor& t) { return node_object(t.grad_fn()); })
      .def_property(
          "grad",
          [](const Tensor& t) {
            const Tensor grad = t.grad();
            return grad.defined() ? std::optional(grad) : std::nullopt;
          },
          [](Tensor& t, const std::optional<Tensor>& grad) { t.set_grad(grad.value_or(Tensor())); })
      .def_property("requires_grad", &Tensor::requires_grad, [](Tensor& t, bool on) { t.requires_grad_(on); })
      .def_property_readonly("_version", &Tensor::version)
      .def_property(
          "_is_parameter", [](const Tensor& t) { return t.impl().is_parameter.load(); },
          [](Tensor& t, bool is_parameter) { t.impl().is_parameter = is_parameter; })
      .def_property(
          "data", &Tensor::detach, [](Tensor& t, const Tensor& data) { t.impl().data = data.data(); },
          "The same memory, unknown to the tape; assigning gives the tensor other memory.")
      .def(
          "_become_view",
          [](Tensor& t, const Tensor& view) {
            t.impl().data = view.data();
            t.impl().set_made_by(view.impl().made_by());
            if (t.impl().base.defined()) t.impl().set_base_node(view.impl().base_node());
          },
          py::arg("view"), "Takes the shape, strides and history of a view of the tensor.")
      .def(
          "requires_grad_", [](Tensor& t, bool on) -> Tensor& { return t.requires_grad_(on); },
          py::arg("requires_grad") = true, itself)
      .def("retain_grad", &Tensor::retain_grad)
      .def_property_readonly("retains_grad",
                             [](const Tensor& t) { return !t.is_leaf() && t.impl().retains_grad; })
      .def(
          "register_hook",
          [](Tensor& t, const py::typing::Callable<py::object(const Tensor&)>& hook) {
            const auto call = [held = hook.ptr()](const Tensor& gradient) {
              const PythonLocked locked;
              const py::object replaced = object_of(held)(gradient);
              if (replaced.is_none()) return Tensor();
              dlprim::require<ocl::TypeError>(py::isinstance<Tensor>(replaced),
                                              "a hook must return None or a Tensor, got ", shown(replaced));
              return replaced.cast<Tensor>();
            };
            return ocl::register_hook(t, call, foreign(hook));
          },
          py::arg("hook"))
      .def(
          "register_post_accumulate_grad_hook",
          [](Tensor& t, const py::typing::Callable<py::object(const Tensor&)>& hook) {
            const auto call = [held = hook.ptr()](const Tensor& leaf) {
              const PythonLocked locked;
              const py::object result = object_of(held)(leaf);
              dlprim::require<ocl::AutogradError>(
                  result.is_none(), "Tensor post accumulate grad hooks should return None, got ",
                  shown(result));
            };
            return ocl::register_post_accumulate_grad_hook(t, call, foreign(hook));
          },
          py::arg("hook"),
          "Calls hook(tensor) with this leaf as soon as a backward pass has added all there is to its grad.")
      .def("detach", &Tensor::detach)
      .def(
          "backward",
          [](const Tensor& t, const std::optional<Tensor>& gradient, std::optional<bool> retain_graph,
             bool create_graph, const std::optional<ocl::TensorList>& inputs) {
            ocl::backward({t}, {gradient.value_or(Tensor())}, retain_graph, create_graph,
                          inputs.value_or(ocl::TensorList()));
          },
          py::arg("gradient") = py::none(), py::arg("retain_graph") = py::none(),
          py::arg("create_graph") = false, py::arg("inputs") = py::none(), WithoutLock());
}

/** A view of all of a tensor, for an object of another class. */
Tensor alias_of(const Tensor& tensor) {
  ocl::Shape in_order;
  for (int d = 0; d < tensor.dim(); ++d) in_order.push_back(d);
  return ocl::permute(tensor, in_order);
}

/** The class given for objects of its own. Throws TypeError if it is no class of tensors. */
PyTypeObject* tensor_class(const char* function, const py::object& given) {
  const bool fits = PyType_Check(given.ptr()) &&
                    PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(given.ptr()),
                                     reinterpret_cast<PyTypeObject*>(py::type::of<Tensor>().ptr()));
  dlprim::require<ocl::TypeError>(fits, function, ": expected a subclass of Tensor, got ", shown(given));
  return reinterpret_cast<PyTypeObject*>(given.ptr());
}

/** Tensor(...) takes nothing, a tensor to alias, sizes, or data that becomes float32. */
Tensor constructed(const py::args& given, const std::optional<ocl::Device>& device) {
  if (given.empty()) return ocl::empty({0}, DType::float32, device_or_default(device));
  const py::object first = given[0];
  if (given.size() == 1 && py::isinstance<Tensor>(first)) return alias_of(first.cast<const Tensor&>());
  if (PyLong_Check(first.ptr()))
    return ocl::empty(shape_of(given), DType::float32, device_or_default(device));
  dlprim::require<ocl::TypeError>(given.size() == 1,
                                  "Tensor(): expected one tensor, one sequence, or sizes, got ", given.size(),
                                  " arguments");
  return tensor_of(first, DType::float32, device);
}

/** The functions with which ocl.copying takes tensors apart and puts them together. */
void bind_storage(py::module_& m) {
  m.def("_storage_key",
        [](const Tensor& t) { return reinterpret_cast<std::intptr_t>(t.data().storage.get()); });
  m.def(
      "_whole_storage",
      [](const Tensor& t, std::optional<DType> dtype) {
        dlprim::Tensor memory = t.data();
        memory.dtype = dtype.value_or(memory.dtype);
        const auto elements = static_cast<std::int64_t>(memory.storage->bytes() / size_of(memory.dtype));
        return Tensor(memory.restrided("_whole_storage", {elements}, {1}, 0));
      },
      py::arg("tensor"), py::arg("dtype") = py::none(),
      "All the memory that a tensor lies in, as elements of a dtype, which is the tensor's by default.");
  m.def("_restrided",
        [](const Tensor& memory, const ocl::Shape& shape, const ocl::Shape& stride, std::int64_t offset) {
          return Tensor(memory.data().restrided("_restrided", ocl::Dims(shape), ocl::Dims(stride), offset));
        });
  m.def("_to_bytes", [](const Tensor& t) {
    std::vector<char> bytes;
    {
      const PythonUnlocked unlocked;
      bytes = t.to_bytes();
    }
    return py::bytes(bytes.data(), bytes.size());
  });
  m.def("_from_bytes", [](const py::bytes& bytes, DType dtype, const ocl::Device& device) {
    const std::string_view elements = bytes;
    const auto count = static_cast<std::int64_t>(elements.size() / size_of(dtype));
    return ocl::from_bytes(elements.data(), {count}, dtype, device);
  });
}

void bind_classes(py::module_& m, py::class_<Tensor>& tensor) {
  tensor
      .def_static(
          "__new__",
          [](const py::object& cls, const py::args& data, const std::optional<ocl::Device>& device) {
            return new_object(tensor_class("Tensor.__new__", cls), constructed(data, device));
          },
          py::arg("cls"), py::kw_only(), py::arg("device") = py::none())
      .def_static(
          "_make_subclass",
          [](const py::object& cls, const Tensor& data, bool require_grad) {
            return new_object(tensor_class("_make_subclass", cls),
                              data.detach().requires_grad_(require_grad));
          },
          py::arg("cls"), py::arg("data"), py::arg("require_grad") = false,
          "A leaf of a class derived from Tensor, over the memory of `data`.")
      .def(
          "as_subclass",
          [](const Tensor& t, const py::object& cls) {
            return new_object(tensor_class("as_subclass", cls), alias_of(t));
          },
          py::arg("cls"), "A view of the whole tensor, as an object of a class derived from Tensor.");
  m.def("_set_parameter_type", &set_parameter_type, py::arg("type"));
}

}  // namespace

void bind_tensor(py::module_& m) {
  bind_dtypes(m);
  bind_memory_formats(m);
  py::class_<ocl::HookHandle>(m, "HookHandle", "What register_hook returns.")
      .def("remove", &ocl::HookHandle::remove, "Ends the hook.");
  py::class_<Tensor> tensor(m, "Tensor", "A tensor on an OpenCL device, with autograd; torch.Tensor's names.",
                            plain_class(), py::custom_type_setup(&set_up_tensor));
  set_tensor_type(tensor);
  bind_creation(m);
  bind_classes(m, tensor);
  bind_storage(m);
  bind_tape(tensor);
  bind_to(tensor);
  bind_reading(m, tensor);
  tensor
      .def_property_readonly("T",
                             [](const Tensor& t) {
                               ocl::Shape reversed;
                               for (int d = t.dim(); d-- > 0;) reversed.push_back(d);
                               return ocl::permute(t, reversed);
                             })
      .def_property_readonly("mT",
                             [](const Tensor& t) {
                               dlprim::require(
                                   t.dim() >= 2,
                                   "tensor.mT is only supported on matrices or batches of matrices. Got ",
                                   t.dim(), "-D tensor.");
                               return ocl::transpose(t, -2, -1);
                             })
      .def(
          "new_tensor",
          [](const Tensor& like, const py::object& data, const std::optional<DType>& dtype,
             const std::optional<ocl::Device>& device, bool requires_grad) {
            return tensor_of(data, dtype.value_or(like.dtype()), device.value_or(like.device()))
                .requires_grad_(requires_grad);
          },
          py::arg("data"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
          py::arg("requires_grad") = false,
          "As ocl.tensor, with this tensor's dtype and device where none is given.")
      .def(
          "cpu",
          [](const Tensor& t) {
            const PythonUnlocked unlocked;
            return t.device()->info().is_cpu ? t : t.to(ocl::Device("cpu"));
          },
          "On a CPU: itself if it is on one, else a copy on the first OpenCL device of that type. numpy(), "
          "item() "
          "and tolist() need no such copy. Raises DeviceError where no OpenCL device is a CPU.")
      .def(
          "type",
          [](const Tensor& t, const std::optional<DType>& dtype) -> py::object {
            return dtype ? py::cast(t.to(*dtype)) : py::object(py::str(type_name(t.dtype())));
          },
          py::arg("dtype") = py::none(), "The name of its type, or the tensor in another dtype.");
  tensor.attr("__array_priority__") = 1000;  // NumPy's operators give way to ours
  bind_autograd(m);
  bind_calls(m);
  bind_operators(m, tensor);
}
