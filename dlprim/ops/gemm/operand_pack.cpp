#include "dlprim/ops/gemm/operand_pack.h"

#include "dlprim/core/checked.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/gemm/operand_pack_simt.cl";

}  // namespace

double pack_cost(const ProductTile& tile, DType source, double elements) {
  constexpr double of_element = 19,
                   of_byte = 5.25;  // 61, 51 and 40 on an H100: 32 to 32 bits, 32 to 16, 16 to 16
  const auto bytes = static_cast<double>(size_of(source) + size_of(tile.panel_dtype(source)));
  return (of_element + of_byte * bytes) * elements;
}

std::int64_t packed_words(const ProductTile& tile, std::int64_t planes, const OperandPack& p) {
  return product({planes, p.size_h, p.size_w, p.padded_lines / tile.numbers_in_word});
}

void pack_operand(Queue& queue, const ProductTile& tile, const Tensor& source, std::int64_t planes,
                  const OperandPack& p, const Tensor& packed) {
  constexpr int most_lines = 32;  // by a group
  const std::int64_t pixels = std::int64_t{p.size_h} * p.size_w;
  const int lines = p.padded_lines < most_lines ? tile.elements_of_vector() : most_lines;
  queue.launch(queue.kernel(file, "operand_pack", tile.word_defines(source.dtype).set("PACKED_LINES", lines)),
               Range::groups(OPERAND_PACK_ITEMS, planes * ceil_div(pixels, OPERAND_PACK_ELEMENTS / lines),
                             ceil_div(p.padded_lines, lines)),
               source, packed, p);
}

void round_operand(Queue& queue, const ProductTile& tile, const Tensor& source, const OperandRound& p,
                   const Tensor& packed) {
  const std::int64_t vectors = std::int64_t{p.padded_depth} / tile.elements_of_vector();
  constexpr int any_lines = 32;
  queue.launch(
      queue.kernel(file, "operand_round", tile.word_defines(source.dtype).set("PACKED_LINES", any_lines)),
      Range::linear(product({p.matrices, p.lines, vectors}), OPERAND_PACK_ITEMS), source, packed, p);
}

}  // namespace dlprim
