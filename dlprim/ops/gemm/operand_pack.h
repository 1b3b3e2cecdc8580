#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/operand_pack_shared.h"
#include "dlprim/ops/gemm/product_tile.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** In multiply-adds of the first of product_tiles that take as long: packing so many elements. */
double pack_cost(const ProductTile& tile, DType source, double elements);

/** Bytes that are packed at a time: more take memory that the operation itself would not. */
constexpr std::int64_t most_packed_bytes = 176 << 20;

/** Words of an operand that is packed for a tile: [planes, p.size_h, p.size_w, p.padded_lines]. */
std::int64_t packed_words(const ProductTile& tile, std::int64_t planes, const OperandPack& p);

/** Lays an operand out along the depth of a product in words of the tile's panels, rounded: `packed` from a
 * source of so many planes. */
void pack_operand(Queue& queue, const ProductTile& tile, const Tensor& source, std::int64_t planes,
                  const OperandPack& p, const Tensor& packed);

/** Rounds one that lies along the depth: [matrices, lines, padded_depth] in words. */
void round_operand(Queue& queue, const ProductTile& tile, const Tensor& source, const OperandRound& p,
                   const Tensor& packed);

}  // namespace dlprim
