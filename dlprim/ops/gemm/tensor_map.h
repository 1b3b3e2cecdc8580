#pragma once

#include <array>

#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/tensor_map_shared.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** A tensor of which Hopper's copy engine brings boxes to local memory by itself, with zeros where they reach
 * beyond: of float32, which it rounds to TF32, or of 16-bit elements. Sizes, the innermost dimension first,
 * whose elements lie side by side, and strides of the others, in elements. */
struct MappedTensor {
  DType dtype;           // of its elements; scratch memory may be a tensor of words
  const Tensor* tensor;  // null: scratch memory, which is made to be mapped
  std::array<std::int64_t, TENSOR_MAP_RANK> size;
  std::array<std::int64_t, TENSOR_MAP_RANK - 1> stride;

  /** Whether it can: everything begins at 16 bytes. */
  bool can_map() const;
};

/** The maps of two operands of a product, the left one's, then the right one's: [2,
 * TENSOR_MAP_BYTES / 4]. */
Tensor describe_operands(Queue& queue, const MappedTensor& left,
                         const std::array<int, TENSOR_MAP_RANK>& left_box, const MappedTensor& right,
                         const std::array<int, TENSOR_MAP_RANK>& right_box);

}  // namespace dlprim
