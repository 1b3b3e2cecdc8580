#pragma once

#include <ATen/ATen.h>

#include <array>

namespace torch_ocl {

/** What a convolution of volumes, [N, C, depth, height, width], is given beside its tensors. */
struct VolumeConvolution {
  c10::IntArrayRef stride, padding, dilation;
  bool is_transposed;
  c10::IntArrayRef output_padding;
  std::int64_t groups;
};

/** A convolution of volumes as the sum of one of planes for each plane of the weight. */
at::Tensor convolve_volumes(const at::Tensor& input, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const VolumeConvolution& by);
/** Its gradients by input, weight and bias. */
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolve_volumes_backward(const at::Tensor& grad,
                                                                         const at::Tensor& input,
                                                                         const at::Tensor& weight,
                                                                         const VolumeConvolution& by,
                                                                         std::array<bool, 3> wanted);

}  // namespace torch_ocl
