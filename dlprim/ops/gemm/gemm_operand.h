#pragma once

#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** An operand of a matrix product that a tile takes with its lines along the depth, in words of its panels: a
 * matrix of each batch, or one for all. Strides are in elements. */
struct GemmOperand {
  const ProductTile& tile;
  const Tensor& tensor;
  std::int64_t depth, lines, batches;
  std::int64_t depth_stride, line_stride, batch_stride;

  std::int64_t matrices() const { return batch_stride == 0 ? 1 : batches; }
  bool lies_along_depth() const { return depth_stride == 1; }
  DType panel_dtype() const { return tile.panel_dtype(tensor.dtype); }
  bool has_numbers_of_panels() const { return panel_dtype() == tensor.dtype; }
  /** The length of a line that is laid out, in elements: whole vectors. */
  std::int64_t packed_depth() const;
  /** Elements that are laid out. */
  double packed() const;
  bool can_pack() const;
  /** In multiply-adds of the first of product_tiles that take as long. */
  double cost_of_packing() const;
  /** Lays it out: [matrices(), lines, packed_depth()] in words, with zeros behind the depth. */
  Tensor pack(Queue& queue) const;
};

GemmOperand left_operand(const ProductTile& tile, const GemmProblem& p);
GemmOperand right_operand(const ProductTile& tile, const GemmProblem& p);

/** A dimension as kernels count it. Throws ValueError for one that they do not. */
int gemm_dimension(std::int64_t n);

}  // namespace dlprim
