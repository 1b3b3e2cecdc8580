#include "dlprim/ops/gemm/gemm_operand.h"

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/operand_pack.h"

namespace dlprim {

int gemm_dimension(std::int64_t n) {
  return kernel_int(n, "gemm", "a dimension");
}

std::int64_t ProductSlabs::count(const GemmProblem& p) const {
  return ceil_div(p.batches, batches) * ceil_div(p.m, rows);
}

GemmProblem ProductSlabs::first(GemmProblem p) const {
  return p.part(p.a, p.b, p.c, batches, rows);
}

std::optional<ProductSlabs> product_slabs(const GemmProblem& p, const GemmOperand& left, bool packs_left,
                                          const GemmOperand& right, bool packs_right) {
  constexpr auto most = static_cast<double>(most_packed_bytes);
  const double left_matrix = packs_left ? left.packed_line() * static_cast<double>(left.lines) : 0;
  const double right_matrix = packs_right ? right.packed_line() * static_cast<double>(right.lines) : 0;
  if (right_matrix > most) return std::nullopt;
  ProductSlabs slabs{p.batches, p.m};
  if (left_matrix > most) {
    slabs = {1, static_cast<std::int64_t>(most / left.packed_line()) / left.tile.rows * left.tile.rows};
    if (slabs.rows == 0) return std::nullopt;
    return slabs;
  }
  const double of_batch =
      std::max(left.matrices() > 1 ? left_matrix : 0, right.matrices() > 1 ? right_matrix : 0);
  if (of_batch > 0) slabs.batches = std::min(p.batches, static_cast<std::int64_t>(most / of_batch));
  return slabs;
}

GemmOperand left_operand(const ProductTile& tile, const GemmProblem& p) {
  return {tile, p.a, p.k, p.m, p.batches, p.a_column, p.a_row, p.a_batch};
}

GemmOperand right_operand(const ProductTile& tile, const GemmProblem& p) {
  return {tile, p.b, p.k, p.n, p.batches, p.b_row, p.b_column, p.b_batch};
}

std::int64_t GemmOperand::packed_depth() const {
  return round_up(depth, tile.elements_of_vector());
}

double GemmOperand::packed() const {
  return static_cast<double>(matrices() * lines) * static_cast<double>(packed_depth());
}

double GemmOperand::packed_line() const {
  return static_cast<double>(packed_depth()) * static_cast<double>(size_of(panel_dtype()));
}

double GemmOperand::cost_of_packing() const {
  return pack_cost(tile, tensor.dtype, packed()) + cost_per_launch;
}

Tensor GemmOperand::pack(Queue& queue) const {
  Tensor words = queue.scratch({product({matrices(), lines, packed_depth() / tile.numbers_in_word})});
  if (lies_along_depth())
    round_operand(queue, tile, tensor,
                  {batch_stride, line_stride, gemm_dimension(matrices()), gemm_dimension(lines),
                   gemm_dimension(depth), gemm_dimension(packed_depth())},
                  words);
  else
    pack_operand(queue, tile, tensor, matrices(),
                 {batch_stride, depth_stride, gemm_dimension(depth), gemm_dimension(packed_depth()), 1,
                  gemm_dimension(lines), 0, 0, 1, 1, 1, gemm_dimension(lines)},
                 words);
  return words;
}

}  // namespace dlprim
