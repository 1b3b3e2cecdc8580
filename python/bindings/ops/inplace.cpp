#include "operator_binder.h"

using ocl::Operand;
using ocl::Scalar;
using ocl::Tensor;

void bind_inplace(const OperatorBinder& bind) {
  bind.method(
      "add_", [](Tensor& t, const Operand& other, const Scalar& alpha) { return t.add_(other, alpha); },
      py::arg("other"), py::kw_only(), py::arg("alpha") = 1);
  bind.method(
      "sub_", [](Tensor& t, const Operand& other) { return t.add_(other, -1); }, py::arg("other"));
  bind.method(
      "mul_", [](Tensor& t, const Operand& other) { return t.mul_(other); }, py::arg("other"));
  bind.method(
      "copy_", [](Tensor& t, const Tensor& source) { return t.copy_(source); }, py::arg("src"));
  bind.method(
      "fill_", [](Tensor& t, const Scalar& value) { return t.fill_(value); }, py::arg("value"));
  bind.method("zero_", [](Tensor& t) { return t.zero_(); });
}
