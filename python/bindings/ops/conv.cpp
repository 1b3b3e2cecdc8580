#include "autograd/ops/conv.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::Padding2d;
using ocl::Pair;
using ocl::Tensor;

void bind_conv(const OperatorBinder& bind) {
  bind.function(
      "conv1d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Single stride,
         const SinglePadding& padding, Single dilation, std::int64_t groups) {
        return ocl::conv1d(input, weight, or_none(bias), stride, padding_of(padding), dilation, groups);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("groups") = 1);
  bind.function(
      "conv2d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Pair stride,
         const Padding2d& padding, Pair dilation, std::int64_t groups) {
        return ocl::conv2d(input, weight, or_none(bias), stride, padding, dilation, groups);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("groups") = 1);
  bind.function(
      "conv_transpose1d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Single stride, Single padding,
         Single output_padding, std::int64_t groups, Single dilation) {
        return ocl::conv_transpose1d(input, weight, or_none(bias), stride, padding, output_padding, groups,
                                     dilation);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("output_padding") = 0, py::arg("groups") = 1, py::arg("dilation") = 1);
  bind.function(
      "conv_transpose2d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Pair stride, Pair padding,
         Pair output_padding, std::int64_t groups, Pair dilation) {
        return ocl::conv_transpose2d(input, weight, or_none(bias), stride, padding, output_padding, groups,
                                     dilation);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("output_padding") = 0, py::arg("groups") = 1, py::arg("dilation") = 1);
}
