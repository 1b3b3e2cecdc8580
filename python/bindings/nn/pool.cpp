#include "module_class.h"

void bind_pool_modules(py::module_& m) {
  ModuleClass<MaxPool2d>(m, "MaxPool2d")
      .def(py::init<Pair, std::optional<Pair>, Pair, Pair, bool>(), py::arg("kernel_size"),
           py::arg("stride") = py::none(), py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1),
           py::arg("ceil_mode") = false);
  ModuleClass<AvgPool2d>(m, "AvgPool2d")
      .def(py::init<Pair, std::optional<Pair>, Pair, bool, bool>(), py::arg("kernel_size"),
           py::arg("stride") = py::none(), py::arg("padding") = Pair(0), py::arg("ceil_mode") = false,
           py::arg("count_include_pad") = true);
  ModuleClass<AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d").def(py::init<Pair>(), py::arg("output_size"));
}
