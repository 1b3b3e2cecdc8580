#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/operand_pack_shared.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** In multiply-adds of the first of product_tiles that take as long: an element that is packed. */
constexpr double pack_cost_per_element = 61;

/** Bytes that are packed at a time: more take memory that the operation itself would not. */
constexpr std::int64_t most_packed_bytes = 176 << 20;

/** Elements of an operand that is packed: [planes, p.size_h, p.size_w, p.padded_lines]. */
std::int64_t packed_elements(std::int64_t planes, const OperandPack& p);

/** Lays an operand of float32 out along the depth of a product, rounded to TF32: `packed` from a source of so
 * many planes. */
void pack_operand(Queue& queue, const Tensor& source, std::int64_t planes, const OperandPack& p,
                  const Tensor& packed);

}  // namespace dlprim
