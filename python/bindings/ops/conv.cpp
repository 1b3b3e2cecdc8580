#include "operator_binder.h"

using ocl::Pair;
using ocl::Tensor;

void bind_conv(const OperatorBinder& bind) {
  bind.function(
      "conv2d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Pair stride, Pair padding,
         Pair dilation,
         int groups) { return ocl::conv2d(input, weight, or_none(bias), stride, padding, dilation, groups); },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = Pair(1),
      py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1), py::arg("groups") = 1);
}
