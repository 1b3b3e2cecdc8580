#include "module_class.h"

void bind_basic_modules(py::module_& m) {
  using ocl::Scalar;
  ModuleClass<Linear>(m, "Linear", "[..., in_features] -> [..., out_features].")
      .def(py::init<std::int64_t, std::int64_t, bool>(), py::arg("in_features"), py::arg("out_features"),
           py::arg("bias") = true)
      .def_property_readonly("in_features", [](const Linear& self) { return self.weight.size(1); })
      .def_property_readonly("out_features", [](const Linear& self) { return self.weight.size(0); });
  ModuleClass<Dropout>(m, "Dropout",
                       "Zeroes elements with probability p and scales the rest, while training.")
      .def(py::init<const Scalar&, bool>(), py::arg("p") = 0.5, py::arg("inplace") = false)
      .def_readwrite("p", &Dropout::p)
      .def_readwrite("inplace", &Dropout::inplace);
  ModuleClass<Dropout2d>(m, "Dropout2d",
                         "Drops whole channels of x [N, C, ...] with probability p, while training.")
      .def(py::init<const ocl::Scalar&, bool>(), py::arg("p") = 0.5, py::arg("inplace") = false)
      .def_readwrite("p", &Dropout2d::p)
      .def_readwrite("inplace", &Dropout2d::inplace);
  ModuleClass<StochasticDepth>(
      m, "StochasticDepth",
      "Drops whole residual branches while training, as torchvision.ops.StochasticDepth.")
      .def(py::init<const Scalar&, std::string>(), py::arg("p"), py::arg("mode"))
      .def_readwrite("p", &StochasticDepth::p)
      .def_readwrite("mode", &StochasticDepth::mode);
  ModuleClass<Flatten>(m, "Flatten", "Joins dimensions start_dim to end_dim.")
      .def(py::init<std::int64_t, std::int64_t>(), py::arg("start_dim") = 1, py::arg("end_dim") = -1)
      .def_readwrite("start_dim", &Flatten::start_dim)
      .def_readwrite("end_dim", &Flatten::end_dim);
  ModuleClass<Unflatten>(m, "Unflatten",
                         "Splits dimension dim into unflattened_size, of which one may be -1.")
      .def(py::init<std::int64_t, std::vector<std::int64_t>>(), py::arg("dim"), py::arg("unflattened_size"))
      .def_readwrite("dim", &Unflatten::dim)
      .def_property_readonly("unflattened_size", [](const Unflatten& self) {
        return py::tuple(py::cast(self.unflattened_size));
      });
  ModuleClass<Identity>(m, "Identity",
                        "The input itself; arguments of the constructor are ignored, as PyTorch's.")
      .def(py::init([](const py::args&, const py::kwargs&) { return std::make_shared<Identity>(); }));
}
