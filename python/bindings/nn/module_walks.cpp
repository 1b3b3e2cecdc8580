#include <sstream>

#include "module_binding.h"
#include "nn/walk.h"

namespace {

/** Module.to: a device, a dtype, both, or a tensor that has them; and a memory format. */
py::object moved(const py::object& self, const py::args& targets, const py::object& device,
                 const std::optional<ocl::DType>& dtype, bool,
                 const std::optional<ocl::MemoryFormat>& memory_format) {
  auto& module = self.cast<Module&>();
  const auto move = [&](const py::handle target) {
    if (py::isinstance<ocl::DType>(target)) {
      module.to(target.cast<ocl::DType>());
    } else if (py::isinstance<Tensor>(target)) {
      const auto like = target.cast<Tensor>();
      module.to(like.device());
      if (is_floating(like.dtype())) module.to(like.dtype());
    } else if (!target.is_none() && !PyBool_Check(target.ptr())) {
      module.to(device_of(target));
    }
  };
  for (const py::handle target : targets) move(target);
  move(device);
  if (dtype) module.to(*dtype);
  if (memory_format) module.to(*memory_format);
  return self;
}

template <class Entries>
py::iterator pairs(const Entries& entries) {
  py::list result;
  for (const auto& [name, value] : entries) result.append(py::make_tuple(name, value));
  return py::iter(result);
}

template <class Entries>
py::iterator values(const Entries& entries) {
  py::list result;
  for (const auto& [name, value] : entries) result.append(value);
  return py::iter(result);
}

/** self and the modules below it, as Module::named_modules. */
NamedObjects named_modules(const py::object& self, const std::string& prefix, bool remove_duplicate) {
  if (!remove_duplicate) self.cast<const Module&>().require_no_cycle();
  return listed(
      prefix, self, remove_duplicate, [](const py::object& module) { return module.ptr(); }, &children_of);
}

// The walks of Module, over Python halves: what an object or its class has in their place counts.
void train(const py::object& self, bool mode) {
  auto& module = self.cast<Module&>();
  const WalkLevel level(module);
  module.set_training(mode);
  for (const auto& [name, child] : distinct_children(self)) child.attr("train")(mode);
}

void apply(const py::object& self, const py::object& function) {
  const WalkLevel level(self.cast<const Module&>());
  for (const auto& [name, child] : distinct_children(self)) child.attr("apply")(function);
  function(self);
}

/** The object under a dotted name. */
py::object submodule(const py::object& self, const std::string& target) {
  (void)self.cast<const Module&>().get_submodule(target);  // AttributeError where nothing does
  py::object module = self;
  std::istringstream path(target);
  for (std::string name; std::getline(path, name, '.');)
    module = python_half(module, module.cast<const Module&>().own_module(name));
  return module;
}

}  // namespace

void bind_walks(ModuleBinding& module) {
  module
      .def(
          "parameters",
          [](const Module& self, bool recurse) { return py::iter(py::cast(self.parameters(recurse))); },
          py::arg("recurse") = true)
      .def(
          "named_parameters",
          [](const Module& self, const std::string& prefix, bool recurse, bool remove_duplicate) {
            return pairs(self.named_parameters(prefix, recurse, remove_duplicate));
          },
          py::arg("prefix") = "", py::arg("recurse") = true, py::arg("remove_duplicate") = true)
      .def(
          "buffers",
          [](const Module& self, bool recurse) { return py::iter(py::cast(self.buffers(recurse))); },
          py::arg("recurse") = true)
      .def(
          "named_buffers",
          [](const Module& self, const std::string& prefix, bool recurse, bool remove_duplicate) {
            return pairs(self.named_buffers(prefix, recurse, remove_duplicate));
          },
          py::arg("prefix") = "", py::arg("recurse") = true, py::arg("remove_duplicate") = true)
      .def("named_children", [](const py::object& self) { return pairs(distinct_children(self)); })
      .def("children", [](const py::object& self) { return values(distinct_children(self)); })
      .def(
          "named_modules",
          [](const py::object& self, const py::object&, const std::string& prefix, bool remove_duplicate) {
            return pairs(named_modules(self, prefix, remove_duplicate));
          },
          py::arg("memo") = py::none(), py::arg("prefix") = "", py::arg("remove_duplicate") = true)
      .def("modules", [](const py::object& self) { return values(named_modules(self, "", true)); })
      .def("get_submodule", &submodule, py::arg("target"), "What stands under a dotted name.")
      .def(
          "get_parameter",
          [](const Module& self, const std::string& target) {
            return tensor_or_none(self.get_parameter(target));
          },
          py::arg("target"))
      .def(
          "get_buffer",
          [](const Module& self, const std::string& target) {
            return tensor_or_none(self.get_buffer(target));
          },
          py::arg("target"))
      .def(
          "apply",
          [](const py::object& self, const py::function& function) {
            apply(self, function);
            return self;
          },
          py::arg("fn"), "Calls fn on every submodule, then on this module.")
      .def("__repr__",
           [](const py::object& self) {
             const WalkLevel level(self.cast<const Module&>());
             return module_repr(class_name(self), self.attr("extra_repr")().cast<std::string>(),
                                texts_of(entries_of(self)));
           })
      .def("__dir__",
           [](const py::object& self) {
             py::list names(py::module_::import("builtins").attr("object").attr("__dir__")(self));
             for (const char* kind : {"_parameters", "_buffers", "_modules"})
               for (const auto& [name, value] : self.attr("_entries")(kind).cast<py::dict>())
                 names.append(name);
             return names;
           })
      .def("extra_repr", &Module::extra_repr);
}

void bind_modes(ModuleBinding& module) {
  module.def_property("training", &Module::is_training, &Module::set_training)
      .def(
          "train",
          [](const py::object& self, bool mode) {
            train(self, mode);
            return self;
          },
          py::arg("mode") = true)
      .def("eval", [](const py::object& self) { return self.attr("train")(false); })
      .def("to", &moved, py::kw_only(), py::arg("device") = py::none(), py::arg("dtype") = py::none(),
           py::arg("non_blocking") = false, py::arg("memory_format") = py::none(),
           "Moves parameters and buffers to a device, a floating dtype, both, or those of a tensor; to a "
           "memory "
           "format those of four dimensions, or five. Between devices never waits for the uploads, which "
           "overlap with what the other device computes: non_blocking changes nothing.")
      .def(
          "cpu", [](const py::object& self) { return self.attr("to")("cpu"); },
          "Moves parameters and buffers to the first OpenCL device that is a CPU.")
      .def("zero_grad", &Module::zero_grad, py::arg("set_to_none") = true)
      .def(
          "requires_grad_",
          [](const py::object& self, bool on) {
            self.cast<Module&>().requires_grad_(on);
            return self;
          },
          py::arg("requires_grad") = true);
  const auto convert = [&](const char* name, ocl::DType dtype) {
    module.def(name, [dtype](const py::object& self) {
      self.cast<Module&>().to(dtype);
      return self;
    });
  };
  convert("float", ocl::DType::float32);
  convert("double", ocl::DType::float64);
  convert("half", ocl::DType::float16);
  convert("bfloat16", ocl::DType::bfloat16);
}
