#include "operator_binder.h"

using ocl::Tensor;

void bind_linalg(const OperatorBinder& bind) {
  bind.both("mm", &ocl::mm, py::arg("mat2"));
  bind.both("bmm", &ocl::bmm, py::arg("mat2"));
  bind.both("matmul", &ocl::matmul, py::arg("other"));
  bind.tensor().def("__matmul__", &ocl::matmul, py::is_operator(), WithoutLock());
  bind.function(
      "linear",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
        return ocl::linear(input, weight, or_none(bias));
      },
      py::arg("weight"), py::arg("bias") = py::none());
}
