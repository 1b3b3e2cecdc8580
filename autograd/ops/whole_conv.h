#pragma once

#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

/** The numbers of a convolution, one for each dimension of its kernel. */
struct WholeGeometry {
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups = 1;
};

/** A convolution of whole numbers, which have no gradients: a product of matrices for each tap of the kernel.
 * Numbers wrap around as PyTorch's. x [N, C, sizes…], weight [O, C / groups, kernel…] -> `shape`. */
Tensor convolved_whole(const Tensor& x, const Tensor& weight, const WholeGeometry& geometry,
                       const Dims& shape);

/** A transposed one. x [N, C, sizes…], weight [C, O / groups, kernel…] -> `shape`. */
Tensor convolved_back_whole(const Tensor& x, const Tensor& weight, const WholeGeometry& geometry,
                            const Dims& shape);

}  // namespace ocl
