// Lays an operand of a product out along its depth for tensor cores: [planes][pixels][lines] from planes of lines, the
// depth; a line are the pixels of a channel or an image, or a row of a matrix. 0 outside of the source and beyond its
// lines; rounded, in words of TF32 or of two NUMBERS.
#include "core/common.cl"
#include "ops/gemm/remainder.cl"
#include "ops/gemm/operand_pack_shared.h"
#define UNROLL _Pragma("unroll")
#define TILE_STAGES_AHEAD 0
#include "ops/gemm/product_copies.cl"

#define ELEMENTS_OF_VECTOR (4 * NUMBERS_IN_WORD)
inline float4 vector_of(const float *elements) {
  return (float4)(word_of(elements), word_of(elements + NUMBERS_IN_WORD), word_of(elements + 2 * NUMBERS_IN_WORD),
                  word_of(elements + 3 * NUMBERS_IN_WORD));
}

// A group packs PACKED_PIXELS pixels of PACKED_LINES lines, through local memory, so that it reads and writes what lies
// side by side.
#define PACKED_PIXELS (OPERAND_PACK_ELEMENTS / PACKED_LINES)
#define PIXELS_AT_ONCE (PACKED_PIXELS < OPERAND_PACK_ITEMS ? PACKED_PIXELS : OPERAND_PACK_ITEMS)
#define LINES_AT_ONCE (OPERAND_PACK_ITEMS / PIXELS_AT_ONCE)
#define VECTORS (PACKED_LINES / ELEMENTS_OF_VECTOR)
__attribute__((reqd_work_group_size(OPERAND_PACK_ITEMS, 1, 1)))
__kernel void operand_pack(BUFFER(const STORAGE, source), BUFFER(float, packed), const OperandPack p) {
  __local float pixels[PACKED_LINES][PACKED_PIXELS + 1];
  const int item = get_local_id(0), size = p.size_h * p.size_w;
  const int blocks = (size + PACKED_PIXELS - 1) / PACKED_PIXELS, plane = get_group_id(0) / blocks;
  const int first = REMAINDER((int)get_group_id(0), blocks) * PACKED_PIXELS,
            first_line = get_group_id(1) * PACKED_LINES;
  __global const STORAGE *from = source_buffer + source_start + plane * p.plane_stride + first_line * p.line_stride;
  UNROLL for (int n = 0; n < PACKED_PIXELS; n += PIXELS_AT_ONCE) {
    const int pixel = n + item % PIXELS_AT_ONCE, at = first + pixel;
    const int h = p.first_h + at / p.size_w * p.step_h, w = p.first_w + REMAINDER(at, p.size_w) * p.step_w;
    const bool inside = at < size && (uint)h < (uint)p.source_h && (uint)w < (uint)p.source_w;
    const long place = (long)h * p.source_w + w;
    UNROLL for (int i = 0; i < PACKED_LINES; i += LINES_AT_ONCE) {
      const int line = i + item / PIXELS_AT_ONCE;
      pixels[line][pixel] = inside && first_line + line < p.lines ? LOAD(from, line * p.line_stride + place) : 0;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int line = item % VECTORS * ELEMENTS_OF_VECTOR;
  if (first_line + line >= p.padded_lines) return;
  const int words = p.padded_lines / NUMBERS_IN_WORD;
  __global float *to =
      packed_buffer + packed_start + ((long)plane * size + first) * words + (first_line + line) / NUMBERS_IN_WORD;
  UNROLL for (int i = 0; i < PACKED_PIXELS; i += OPERAND_PACK_ITEMS / VECTORS) {
    const int pixel = i + item / VECTORS;
    if (first + pixel >= size) continue;
    float elements[ELEMENTS_OF_VECTOR];
    UNROLL for (int e = 0; e < ELEMENTS_OF_VECTOR; ++e) elements[e] = pixels[line + e][pixel];
    *(__global float4 *)(to + (long)pixel * words) = vector_of(elements);
  }
}

// Rounds lines that lie along the depth already: an item makes a vector of words.
__kernel void operand_round(BUFFER(const STORAGE, source), BUFFER(float, packed), const OperandRound p) {
  const long at = get_global_id(0), vectors = p.padded_depth / ELEMENTS_OF_VECTOR, line = at / vectors,
             matrix = line / p.lines;
  if (matrix >= p.matrices) return;
  const int first = (int)(at - line * vectors) * ELEMENTS_OF_VECTOR;
  __global const STORAGE *from =
      source_buffer + source_start + matrix * p.matrix_stride + (line - matrix * p.lines) * p.line_stride + first;
  float elements[ELEMENTS_OF_VECTOR];
  UNROLL for (int e = 0; e < ELEMENTS_OF_VECTOR; ++e) elements[e] = first + e < p.depth ? LOAD(from, e) : 0;
  *(__global float4 *)(packed_buffer + packed_start + 4 * at) = vector_of(elements);
}
