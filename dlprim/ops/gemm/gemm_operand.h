#pragma once

#include <algorithm>
#include <optional>

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
  /** Bytes of a line that is laid out. */
  double packed_line() const;
  bool can_pack() const { return lies_along_depth() || line_stride == 1; }
  /** In multiply-adds of the first of product_tiles that take as long. */
  double cost_of_packing() const;
  /** Lays it out: [matrices(), lines, packed_depth()] in words, with zeros behind the depth. */
  Tensor pack(Queue& queue) const;
};

/** The parts in which a product is made whose operands are packed, so that no more than most_packed_bytes of
 * an operand are packed at a time: so many matrices, and of each so many rows. None where even a tile's rows,
 * or a right matrix, are more. */
struct ProductSlabs {
  std::int64_t batches, rows;

  std::int64_t count(const GemmProblem& p) const;
  /** The first, which no other is larger than. */
  GemmProblem first(GemmProblem p) const;
  /** Calls run(a part of p) for each. */
  template <class Run>
  void each(const GemmProblem& p, const Run& run) const {
    if (count(p) == 1) return run(p);
    for (std::int64_t batch = 0; batch < p.batches; batch += batches)
      for (std::int64_t row = 0; row < p.m; row += rows) {
        const Tensor a = moved(p.a, batch * p.a_batch + row * p.a_row), b = moved(p.b, batch * p.b_batch);
        const std::int64_t matrices = std::min(batches, p.batches - batch), lines = std::min(rows, p.m - row);
        Tensor c = moved(p.c, (batch * p.m + row) * p.n);
        c.shape = {matrices, lines, p.n}, c.strides = {lines * p.n, p.n, 1};
        run(p.part(a, b, c, matrices, lines));
      }
  }

 private:
  static Tensor moved(Tensor t, std::int64_t elements) {
    t.offset += elements;
    return t;
  }
};
std::optional<ProductSlabs> product_slabs(const GemmProblem& p, const GemmOperand& left, bool packs_left,
                                          const GemmOperand& right, bool packs_right);

GemmOperand left_operand(const ProductTile& tile, const GemmProblem& p);
GemmOperand right_operand(const ProductTile& tile, const GemmProblem& p);

/** A dimension as kernels count it. Throws ValueError for one that they do not. */
int gemm_dimension(std::int64_t n);

}  // namespace dlprim
