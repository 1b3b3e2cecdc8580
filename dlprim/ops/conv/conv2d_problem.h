#pragma once

#include <cstdint>

#include "dlprim/ops/conv/conv2d.h"

namespace dlprim {

/** Sizes of one convolution, shared by its three directions. */
struct ConvProblem {
  std::int64_t images, groups;
  std::int64_t in_channels, out_channels;  // of one group
  std::int64_t size[2], out_size[2], kernel[2];
  std::int64_t stride[2], padding[2], dilation[2];

  std::int64_t out_pixels() const { return out_size[0] * out_size[1]; }
  std::int64_t in_pixels() const { return size[0] * size[1]; }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
};

// Implementations for the two kernel shapes. Preconditions: checked, nothing empty.
void conv2d_forward_cpu(Queue& queue, const ConvProblem& p, const Tensor& x, const Tensor& weight,
                        const Tensor* bias, const Tensor& y);
void conv2d_backward_data_cpu(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& weight,
                              const Tensor& dx);
void conv2d_backward_weight_cpu(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& x,
                                const Tensor& dw);

void conv2d_forward_simt(Queue& queue, const ConvProblem& p, const Tensor& x, const Tensor& weight,
                         const Tensor* bias, const Tensor& y);
void conv2d_backward_data_simt(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& weight,
                               const Tensor& dx);
void conv2d_backward_weight_simt(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& x,
                                 const Tensor& dw);

}  // namespace dlprim
