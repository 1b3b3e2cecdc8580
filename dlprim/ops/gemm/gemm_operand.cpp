#include "dlprim/ops/gemm/gemm_operand.h"

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/operand_pack.h"

namespace dlprim {

int gemm_dimension(std::int64_t n) {
  return kernel_int(n, "gemm", "a dimension");
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

bool GemmOperand::can_pack() const {
  return (lies_along_depth() || line_stride == 1) &&
         packed() * static_cast<double>(size_of(panel_dtype())) <= static_cast<double>(most_packed_bytes);
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
