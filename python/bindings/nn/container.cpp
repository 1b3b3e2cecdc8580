#include "module_class.h"

namespace {

/** A module without options: it is made empty. */
template <class M>
struct ContainerClass : py::class_<M, Module, PythonModule<M>, py::smart_holder> {
  ContainerClass(py::handle scope, const char* name, const char* documentation)
      : py::class_<M, Module, PythonModule<M>, py::smart_holder>(scope, name, documentation,
                                                                 py::custom_type_setup(&follow_module)) {
    def_plain_construction<M>(*this);
  }
};

}  // namespace

// The list and dict manners of containers are Python's (ocl/nn/container.py).
void bind_container_modules(py::module_& m) {
  ContainerClass<Sequential>(m, "Sequential", "Each module's output is the next one's input.")
      .def(
          "forward",
          [](const py::object& self, py::object input) {
            for (const auto& [name, child] : children_of(self)) input = child(input);
            return input;
          },
          py::arg("input"));
  ContainerClass<ModuleList>(m, "ModuleList", "Modules by number.")
      .def("__repr__", [](const py::object& self) {
        std::vector<std::string> texts;
        self.cast<const ModuleList&>().require_no_cycle();
        for (const auto& [name, child] : children_of(self)) texts.push_back(py::repr(child));
        return module_list_repr(py::type::of(self).attr("__name__").cast<std::string>(), texts);
      });
  ContainerClass<ModuleDict>(m, "ModuleDict", "Modules by name.");
  ContainerClass<ParameterList>(m, "ParameterList", "Parameters by number.");
}
