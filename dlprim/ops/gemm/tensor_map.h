#pragma once

#include <array>

#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/tensor_map_shared.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** A float32 tensor of which Hopper's copy engine brings boxes to local memory by itself, rounded to TF32,
 * with zeros where they reach beyond: sizes, the innermost dimension first, whose elements lie side by side,
 * and strides of the others, in elements. */
struct MappedTensor {
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
