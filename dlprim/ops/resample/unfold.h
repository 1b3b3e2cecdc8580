#pragma once

#include <array>

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Sliding blocks over the last two dimensions, {height, width}; names as in torch.nn.Unfold. */
struct BlockGeometry {
  std::array<int, 2> kernel_size, dilation{1, 1}, padding{0, 0}, stride{1, 1};
  FIELDS(kernel_size, dilation, padding, stride)
};

/** Number of blocks along height and width of a plane of that size. Throws ValueError, naming `op`, for what
 * PyTorch refuses. */
std::array<std::int64_t, 2> block_counts(const char* op, const std::array<std::int64_t, 2>& size,
                                         const BlockGeometry& geometry);

/** Shape of torch.nn.functional.unfold of an image [N, C, H, W] or [C, H, W], and of fold of columns [N, C KH
 * KW, blocks] or [C KH KW, blocks] to images {height, width}. Throw ValueError, naming `op`, for what PyTorch
 * refuses. */
Dims unfold_output_shape(const char* op, const Dims& image, const BlockGeometry& geometry);
Dims fold_output_shape(const char* op, const Dims& columns, const std::array<int, 2>& output_size,
                       const BlockGeometry& geometry);

/**
 * torch.nn.functional.unfold: `image` [..., H, W] to `columns` [..., KH * KW, blocks], where an element is
 * the image's under that tap of that block, 0 in the padding. Any floating dtype; also the gradient of fold.
 * Contiguous; precondition: no overlap; the leading dimensions multiply to the same. Throws ValueError,
 * TypeError.
 */
void unfold(Queue& queue, const Tensor& image, const BlockGeometry& geometry, const Tensor& columns);

/**
 * torch.nn.functional.fold: every element of `image` is the sum of the `columns` that lie on it, in a fixed
 * order. Shapes as in unfold, of which it is the gradient.
 */
void fold(Queue& queue, const Tensor& columns, const BlockGeometry& geometry, const Tensor& image);

}  // namespace dlprim
