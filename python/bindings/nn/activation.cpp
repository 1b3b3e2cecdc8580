#include "autograd/ops/operators.h"
#include "module_class.h"

namespace {

using ocl::Scalar;

// An argument that torch.nn.functional takes beyond torch itself: inplace.
void bind_functional(py::module_& parent) {
  py::module_ m = parent.def_submodule("_functional", "Functions that take inplace.");
#define ACTIVATION(Class, function)
#define ACTIVATION_INPLACE(Class, function, shown)                              \
  m.def(                                                                        \
      #function,                                                                \
      [](const Tensor& input, bool inplace) {                                   \
        static const dlprim::PointwiseOp& op = dlprim::pointwise_op(#function); \
        return ocl::activate(op, input, {}, inplace);                           \
      },                                                                        \
      py::arg("input"), py::arg("inplace") = false, WithoutLock(),              \
      dlprim::pointwise_op(#function).documentation.c_str());
#define ACTIVATION_P(Class, function, p, p0)
#define ACTIVATION_P_INPLACE(Class, function, p, p0)                                 \
  m.def(                                                                             \
      #function,                                                                     \
      [](const Tensor& input, const Scalar& p, bool inplace) {                       \
        static const dlprim::PointwiseOp& op = dlprim::pointwise_op(#function);      \
        return ocl::activate(op, input, {p}, inplace);                               \
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
  m.def(
      "rrelu",
      [](Tensor& input, double lower, double upper, bool training, bool inplace) {
        return inplace ? ocl::rrelu_(input, lower, upper, training)
                       : ocl::rrelu(input, lower, upper, training);
      },
      py::arg("input"), py::arg("lower") = 0.125, py::arg("upper") = 0.3333333333333333,
      py::arg("training") = false, py::arg("inplace") = false, WithoutLock(),
      ocl::operator_row("rrelu").documentation.c_str());
  bind_two("threshold", py::arg("threshold"), py::arg("value"), [](const Scalar&, const Scalar&) {});
}

}  // namespace

void bind_activation_modules(py::module_& m) {
#define ACTIVATION(Class, function) \
  LayerClass<Class>(m, #Class, dlprim::pointwise_op(#function).documentation);
#define ACTIVATION_INPLACE(Class, function, shown) \
  LayerClass<Class>(m, #Class, dlprim::pointwise_op(#function).documentation);
#define ACTIVATION_P(Class, function, p, p0) \
  LayerClass<Class>(m, #Class, dlprim::pointwise_op(#function).documentation);
#define ACTIVATION_P_INPLACE(Class, function, p, p0) \
  LayerClass<Class>(m, #Class, dlprim::pointwise_op(#function).documentation);
#include "nn/modules/activations.def"
  // PyTorch derives it from Hardtanh.
  m.attr("ReLU6").attr("min_val") = 0.0;
  m.attr("ReLU6").attr("max_val") = 6.0;
  bind_functional(m);
  LayerClass<Softplus>(m, "Softplus", dlprim::pointwise_op("softplus").documentation);
  LayerClass<Hardtanh>(m, "Hardtanh", dlprim::pointwise_op("hardtanh").documentation);
  LayerClass<Threshold>(m, "Threshold", dlprim::pointwise_op("threshold").documentation);
  LayerClass<GELU>(m, "GELU", dlprim::pointwise_op("gelu").documentation);
  LayerClass<PReLU>(m, "PReLU",
                    "The slope where negative is learned, for all channels together or one each.");
  LayerClass<RReLU>(m, "RReLU", "Slopes where negative that are drawn for each element while training.");
  LayerClass<Softmax2d>(m, "Softmax2d", "Softmax over the channels of [N, C, H, W].");
  LayerClass<GLU>(m, "GLU", "The first half of dim times the sigmoid of the second.");
  LayerClass<Softmax>(m, "Softmax", "Exponentials along dim, which add up to 1.");
  LayerClass<Softmin>(m, "Softmin", "Softmax of the negated input.");
  LayerClass<LogSoftmax>(m, "LogSoftmax", "The logarithm of softmax.");
}
