#pragma once

#include <vector>

#include "dlprim/core/tensor.h"

namespace dlprim {

/**
 * One iteration space over several operands: sizes from outermost to innermost and, for each operand, its
 * strides. Dimensions of size 1 are dropped and neighbours that every operand walks evenly are merged.
 */
struct Layout {
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> strides;  // [operand][dimension]

  std::int64_t numel() const;
  /** Whether every operand is walked with stride 1 (or is one element): flat indexing serves. */
  bool is_flat() const;
  /** Whether every index into every operand, and every element number, fits a 32-bit int. */
  bool fits_32_bits() const;
};

/** The layout of operands that share one shape. Precondition: equal shapes. */
Layout merged_layout(const Dims& shape, const std::vector<Dims>& operand_strides);
/** The layout for kernels that may take the elements in any order: the dimensions stand as they do in the
 * memory of the last operand, so that those which lie alike become one. */
Layout elementwise_layout(const Dims& shape, const std::vector<Dims>& operand_strides);

}  // namespace dlprim
