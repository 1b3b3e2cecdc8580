#pragma once

#include <optional>

#include "dlprim/core/scalar.h"
#include "dlprim/ops/index/index.h"

namespace dlprim {

/**
 * target[o, index[o, j, i], i] += alpha * source[o, j, i], in an order that the index alone decides: blocked
 * sums over equal places. `target` is contiguous; source has its dtype and the shape of `index`. Places equal
 * to `left_out` (where given) get nothing. Throws ValueError for 2^31 index elements or places and more.
 * (torch.Tensor.index_add_, scatter_add_; the gradient of what reads by an index)
 */
void add_at_places(Queue& queue, const Tensor& source, const Tensor& index, const Tensor& target,
                   const Scalar& alpha, std::optional<std::int64_t> left_out, Negative negative,
                   DeviceCheck check);

/** How elements that go to one place are joined. */
enum class PlaceReduction { product, largest, least };

/**
 * Joins target[o, index[o, j, i], i] with source[o, j, i] in an order that the index alone decides; NaN is
 * larger and less than any number. Tensors and errors as those of add_at_places, but for complex dtypes
 * (TypeError). (torch.scatter_reduce, index_reduce)
 */
void reduce_at_places(Queue& queue, PlaceReduction reduction, const Tensor& source, const Tensor& index,
                      const Tensor& target, Negative negative, DeviceCheck check);

}  // namespace dlprim
