#pragma once

#include "nn/models/composed.h"

/** \file What GoogLeNet and Inception3 share. */
namespace ocl::models {

struct BasicConv2dOptions {
  using Size = Extents<2>;
  BasicConv2dOptions() = default;
  BasicConv2dOptions(std::int64_t in_channels, std::int64_t out_channels, Size kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(Size, kernel_size);
  OPTION(Size, stride) = 1;
  OPTION(Size, padding) = 0;
  OPTION_LIST(3, in_channels_, out_channels_, kernel_size_, stride_, padding_)
};
/** torchvision's BasicConv2d: a convolution, batch norm and ReLU. */
class BasicConv2d : public Composed<BasicConv2d, BasicConv2dOptions> {
 public:
  explicit BasicConv2d(const BasicConv2dOptions& options = {});
  BasicConv2d(std::int64_t in_channels, std::int64_t out_channels, Extents<2> kernel_size)
      : BasicConv2d(BasicConv2dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x) override;

  Child<Conv2d> conv = child<Conv2d>("conv");
  Child<Module> bn = child<Module>("bn");
};

/** Pictures of torchvision's mean and deviation for each channel as those of mean 0.5 and deviation 0.5,
 * which the weights of both nets expect. */
Tensor with_inception_statistics(const Tensor& x);

/** A truncated normal for the weights of convolutions and linear layers. */
void init_inception(const Module& net, double std);

}  // namespace ocl::models
