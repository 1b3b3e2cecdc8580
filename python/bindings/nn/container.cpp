#include "module_class.h"

// The list and dict manners of containers are Python's (ocl/nn/container.py).
void bind_container_modules(py::module_& m) {
  ModuleClass<Sequential>(m, "Sequential", "Each module's output is the next one's input.")
      .def(py::init<>())
      .def(
          "forward",
          [](const py::object& self, py::object input) {
            for (const auto& [name, child] : children_of(self)) input = child(input);
            return input;
          },
          py::arg("input"));
  ModuleClass<ModuleList>(m, "ModuleList", "Modules by number.")
      .def(py::init<>())
      .def("__repr__", [](const py::object& self) {
        std::vector<std::string> texts;
        self.cast<const ModuleList&>().require_no_cycle();
        for (const auto& [name, child] : children_of(self)) texts.push_back(py::repr(child));
        return module_list_repr(py::type::of(self).attr("__name__").cast<std::string>(), texts);
      });
  ModuleClass<ModuleDict>(m, "ModuleDict", "Modules by name.").def(py::init<>());
  ModuleClass<ParameterList>(m, "ParameterList", "Parameters by number.").def(py::init<>());
}
