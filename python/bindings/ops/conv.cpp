#include "autograd/ops/conv.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::EachDim;
using ocl::Tensor;

namespace {

/** A convolution over N dimensions. */
template <std::size_t N, class Function>
void bind_convolution(const OperatorBinder& bind, const char* name, Function function) {
  bind.function(
      name,
      [=](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, EachDim<N> stride,
          const ocl::PaddingOf<N>& padding, EachDim<N> dilation, std::int64_t groups) {
        return function(input, weight, or_none(bias), stride, padding, dilation, groups);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("groups") = 1);
}

template <std::size_t N, class Function>
void bind_transposed_convolution(const OperatorBinder& bind, const char* name, Function function) {
  bind.function(
      name,
      [=](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, EachDim<N> stride,
          EachDim<N> padding, EachDim<N> output_padding, std::int64_t groups, EachDim<N> dilation) {
        return function(input, weight, or_none(bias), stride, padding, output_padding, groups, dilation);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("output_padding") = 0, py::arg("groups") = 1, py::arg("dilation") = 1);
}

}  // namespace

void bind_conv(const OperatorBinder& bind) {
  bind.function(
      "conv1d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Single stride,
         const SinglePadding& padding, Single dilation, std::int64_t groups) {
        return ocl::conv1d(input, weight, or_none(bias), stride, padding_of(padding), dilation, groups);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("groups") = 1);
  bind_convolution<2>(bind, "conv2d", ocl::conv2d);
  bind_convolution<3>(bind, "conv3d", ocl::conv3d);
  bind.function(
      "conv_transpose1d",
      [](const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Single stride, Single padding,
         Single output_padding, std::int64_t groups, Single dilation) {
        return ocl::conv_transpose1d(input, weight, or_none(bias), stride, padding, output_padding, groups,
                                     dilation);
      },
      py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("output_padding") = 0, py::arg("groups") = 1, py::arg("dilation") = 1);
  bind_transposed_convolution<2>(bind, "conv_transpose2d", ocl::conv_transpose2d);
  bind_transposed_convolution<3>(bind, "conv_transpose3d", ocl::conv_transpose3d);
}
