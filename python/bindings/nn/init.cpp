#include "module_class.h"

void bind_init(py::module_& parent) {
  py::module_ m = parent.def_submodule("_init", "Filling of parameters, in place.");
  m.def(
      "uniform_", [](Tensor t, double a, double b) { return init::uniform_(t, a, b); }, py::arg("tensor"),
      py::arg("a") = 0.0, py::arg("b") = 1.0);
  m.def(
      "normal_", [](Tensor t, double mean, double std) { return init::normal_(t, mean, std); },
      py::arg("tensor"), py::arg("mean") = 0.0, py::arg("std") = 1.0);
  m.def(
      "constant_", [](Tensor t, const ocl::Scalar& val) { return init::constant_(t, val); },
      py::arg("tensor"), py::arg("val"));
  m.def("zeros_", [](Tensor t) { return init::zeros_(t); }, py::arg("tensor"));
  m.def("ones_", [](Tensor t) { return init::ones_(t); }, py::arg("tensor"));
  m.def(
      "xavier_uniform_", [](Tensor t, double gain) { return init::xavier_uniform_(t, gain); },
      py::arg("tensor"), py::arg("gain") = 1.0);
  m.def(
      "xavier_normal_", [](Tensor t, double gain) { return init::xavier_normal_(t, gain); },
      py::arg("tensor"), py::arg("gain") = 1.0);
  const auto kaiming = [&](const char* name, Tensor& (*function)(Tensor&, double, bool, const std::string&)) {
    m.def(
        name,
        [function](Tensor t, double a, const std::string& mode, const std::string& nonlinearity) {
          dlprim::require(mode == "fan_in" || mode == "fan_out", "Mode ", mode,
                          " not supported, please use one of fan_in, fan_out");
          if (t.numel() == 0 && PyErr_WarnEx(PyExc_UserWarning, init::no_elements_warning, 1) != 0)
            throw py::error_already_set();
          return function(t, a, mode == "fan_out", nonlinearity);
        },
        py::arg("tensor"), py::arg("a") = 0.0, py::arg("mode") = "fan_in",
        py::arg("nonlinearity") = "leaky_relu");
  };
  m.def(
      "trunc_normal_",
      [](Tensor t, double mean, double std, double a, double b) {
        return init::trunc_normal_(t, mean, std, a, b);
      },
      py::arg("tensor"), py::arg("mean") = 0.0, py::arg("std") = 1.0, py::arg("a") = -2.0,
      py::arg("b") = 2.0);
  m.def("eye_", [](Tensor t) { return init::eye_(t); }, py::arg("tensor"));
  m.def("calculate_gain", &init::calculate_gain, py::arg("nonlinearity"), py::arg("param") = py::none());
  kaiming("kaiming_uniform_", &init::kaiming_uniform_);
  kaiming("kaiming_normal_", &init::kaiming_normal_);
}
