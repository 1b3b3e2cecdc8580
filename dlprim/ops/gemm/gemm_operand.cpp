#include "dlprim/ops/gemm/gemm_operand.h"

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/operand_pack.h"

namespace dlprim {
namespace {

int narrow(std::int64_t n) {
  return kernel_int(n, "gemm", "a dimension");
}

}  // namespace

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
    round_operand(
        queue, tile, tensor,
        {batch_stride, line_stride, narrow(matrices()), narrow(lines), narrow(depth), narrow(packed_depth())},
        words);
  else
    pack_operand(queue, tile, tensor, matrices(),
                 {batch_stride, depth_stride, narrow(depth), narrow(packed_depth()), 1, narrow(lines), 0, 0,
                  1, 1, 1, narrow(lines)},
                 words);
  return words;
}

}  // namespace dlprim
