#pragma once

#include <array>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

/** The settings of `convolution`, which takes them beside its tensors; torch's names. */
struct Convolution {
  std::vector<std::int64_t> stride, padding, dilation;
  bool transposed = false;
  std::vector<std::int64_t> output_padding;
  std::int64_t groups = 1;
};

/** The gradients of `convolution` by its input, weight and bias, those that are wanted: for a tape that is
 * not ours (torch.ops.aten.convolution_backward). */
TensorList convolution_gradients(const Tensor& g, const Tensor& x, const Tensor& weight,
                                 const Convolution& settings, const std::array<bool, 3>& wanted);

}  // namespace ocl
