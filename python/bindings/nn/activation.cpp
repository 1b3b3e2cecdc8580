#include "module_class.h"

namespace {

using ocl::Scalar;

/** A bound activation, with its parameters as attributes. */
template <class M>
ModuleClass<M, Activation> bind_activation(py::module_& m, const char* name,
                                           const std::vector<const char*>& parameters = {}) {
  ModuleClass<M, Activation> bound(m, name);
  for (const char* parameter : parameters)
    bound.def_property(
        parameter, [parameter](M& self) { return self.parameter(parameter); },
        [parameter](M& self, const Scalar& value) { self.parameter(parameter) = value; });
  return bound;
}

void bind_table(py::module_& m) {
#define ACTIVATION(Class, function) bind_activation<Class>(m, #Class).def(py::init<>());
#define ACTIVATION_INPLACE(Class, function, shown) \
  bind_activation<Class>(m, #Class).def(py::init<bool>(), py::arg("inplace") = false);
#define ACTIVATION_P_INPLACE(Class, function, p, p0) \
  bind_activation<Class>(m, #Class, {#p})            \
      .def(py::init<const Scalar&, bool>(), py::arg(#p) = p0, py::arg("inplace") = false);
#include "nn/modules/activations.def"
  bind_activation<Softplus>(m, "Softplus", {"beta", "threshold"})
      .def(py::init<const Scalar&, const Scalar&>(), py::arg("beta") = 1.0, py::arg("threshold") = 20.0);
  bind_activation<Hardtanh>(m, "Hardtanh", {"min_val", "max_val"})
      .def(py::init<const Scalar&, const Scalar&, bool>(), py::arg("min_val") = -1.0,
           py::arg("max_val") = 1.0, py::arg("inplace") = false);
  bind_activation<Threshold>(m, "Threshold", {"threshold", "value"})
      .def(py::init<const Scalar&, const Scalar&, bool>(), py::arg("threshold"), py::arg("value"),
           py::arg("inplace") = false);
}

// What torch.nn.functional takes beyond torch itself: inplace.
void bind_functional(py::module_& parent) {
  py::module_ m = parent.def_submodule("_functional", "Functions that take inplace.");
#define ACTIVATION(Class, function)
#define ACTIVATION_INPLACE(Class, function, shown)                                 \
  m.def(                                                                           \
      #function,                                                                   \
      [](const Tensor& input, bool inplace) {                                      \
        return ocl::activate(dlprim::pointwise_op(#function), input, {}, inplace); \
      },                                                                           \
      py::arg("input"), py::arg("inplace") = false, WithoutLock(),                 \
      dlprim::pointwise_op(#function).documentation.c_str());
#define ACTIVATION_P_INPLACE(Class, function, p, p0)                                 \
  m.def(                                                                             \
      #function,                                                                     \
      [](const Tensor& input, const Scalar& p, bool inplace) {                       \
        return ocl::activate(dlprim::pointwise_op(#function), input, {p}, inplace);  \
      },                                                                             \
      py::arg("input"), py::arg(#p) = p0, py::arg("inplace") = false, WithoutLock(), \
      dlprim::pointwise_op(#function).documentation.c_str());
#include "nn/modules/activations.def"
  const auto bind_two = [&m](const char* name, const auto& first, const auto& second, const auto& check) {
    m.def(
        name,
        [name, check](const Tensor& input, const Scalar& p, const Scalar& q, bool inplace) {
          check(p, q);
          return ocl::activate(dlprim::pointwise_op(name), input, {p, q}, inplace);
        },
        py::arg("input"), first, second, py::arg("inplace") = false, WithoutLock(),
        dlprim::pointwise_op(name).documentation.c_str());
  };
  bind_two("hardtanh", py::arg("min_val") = -1.0, py::arg("max_val") = 1.0,
           [](const Scalar& min_val, const Scalar& max_val) {
             dlprim::require(!(min_val.real() > max_val.real()),
                             "hardtanh: min_val cannot be greater than max_val, got ", min_val.real(),
                             " and ", max_val.real());
           });
  bind_two("threshold", py::arg("threshold"), py::arg("value"), [](const Scalar&, const Scalar&) {});
}

}  // namespace

void bind_activation_modules(py::module_& m) {
  ModuleClass<Activation>(m, "Activation", "Base of the activations that are pointwise operators.")
      .def_readwrite("inplace", &Activation::inplace, "Whether the result is written over the input.");
  bind_table(m);
  // PyTorch derives it from Hardtanh.
  m.attr("ReLU6").attr("min_val") = 0.0;
  m.attr("ReLU6").attr("max_val") = 6.0;
  bind_functional(m);
  ModuleClass<GELU>(m, "GELU")
      .def(py::init<std::string>(), py::arg("approximate") = "none")
      .def_property_readonly("approximate", &GELU::approximate);
  ModuleClass<PReLU>(m, "PReLU",
                     "The slope where negative is learned, for all channels together or one each.")
      .def(py::init<std::int64_t, double>(), py::arg("num_parameters") = 1, py::arg("init") = 0.25)
      .def_property_readonly("num_parameters", &PReLU::num_parameters)
      .def_property_readonly("init", &PReLU::init);
  ModuleClass<GLU>(m, "GLU", "The first half of dim times the sigmoid of the second.")
      .def(py::init<std::int64_t>(), py::arg("dim") = -1)
      .def_readwrite("dim", &GLU::dim);
  ModuleClass<Softmax>(m, "Softmax")
      .def(py::init<std::int64_t>(), py::arg("dim"))
      .def_readwrite("dim", &Softmax::dim);
  ModuleClass<Softmin>(m, "Softmin")
      .def(py::init<std::int64_t>(), py::arg("dim"))
      .def_readwrite("dim", &Softmin::dim);
  ModuleClass<LogSoftmax>(m, "LogSoftmax")
      .def(py::init<std::int64_t>(), py::arg("dim"))
      .def_readwrite("dim", &LogSoftmax::dim);
}
