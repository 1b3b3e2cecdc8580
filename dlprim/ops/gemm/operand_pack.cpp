#include "dlprim/ops/gemm/operand_pack.h"

#include "dlprim/core/checked.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {

std::int64_t packed_elements(std::int64_t planes, const OperandPack& p) {
  return product({planes, p.size_h, p.size_w, p.padded_lines});
}

void pack_operand(Queue& queue, const Tensor& source, std::int64_t planes, const OperandPack& p,
                  const Tensor& packed) {
  constexpr int most_lines = 32, fewest_lines = 4;  // by a group
  const std::int64_t pixels = std::int64_t{p.size_h} * p.size_w;
  const int lines = p.padded_lines < most_lines ? fewest_lines : most_lines;
  queue.launch(queue.kernel("ops/gemm/operand_pack_simt.cl", "operand_pack",
                            dtype_defines(DType::float32).set("PACKED_LINES", lines)),
               Range::groups(OPERAND_PACK_ITEMS, planes * ceil_div(pixels, OPERAND_PACK_ELEMENTS / lines),
                             ceil_div(p.padded_lines, lines)),
               source, packed, p);
}

}  // namespace dlprim
