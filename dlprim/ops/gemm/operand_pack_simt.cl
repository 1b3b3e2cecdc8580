// Lays an operand of a product out along its depth for warp groups: [planes][pixels][lines] from planes of lines, the depth; a line
// are the pixels of a channel or an image, or a row of a matrix. 0 outside of the source and beyond its lines; rounded to TF32.
#include "core/common.cl"
#include "ops/gemm/remainder.cl"
#include "ops/gemm/operand_pack_shared.h"
#define UNROLL _Pragma("unroll")
#define TILE_STAGES_AHEAD 0
#include "ops/gemm/product_copies.cl"

// A group packs PACKED_PIXELS pixels of PACKED_LINES lines, through local memory, so that it reads and writes what lies side by
// side.
#define PACKED_PIXELS (OPERAND_PACK_ELEMENTS / PACKED_LINES)
#define PIXELS_AT_ONCE (PACKED_PIXELS < OPERAND_PACK_ITEMS ? PACKED_PIXELS : OPERAND_PACK_ITEMS)
#define LINES_AT_ONCE (OPERAND_PACK_ITEMS / PIXELS_AT_ONCE)
#define VECTORS (PACKED_LINES / 4)
__attribute__((reqd_work_group_size(OPERAND_PACK_ITEMS, 1, 1)))
__kernel void operand_pack(BUFFER(const float, source), BUFFER(float, packed), const OperandPack p) {
  __local float pixels[PACKED_LINES][PACKED_PIXELS + 1];
  const int item = get_local_id(0), size = p.size_h * p.size_w;
  const int blocks = (size + PACKED_PIXELS - 1) / PACKED_PIXELS, plane = get_group_id(0) / blocks;
  const int first = REMAINDER((int)get_group_id(0), blocks) * PACKED_PIXELS, first_line = get_group_id(1) * PACKED_LINES;
  __global const float *from = source_buffer + source_start + plane * p.plane_stride + first_line * p.line_stride;
  UNROLL for (int n = 0; n < PACKED_PIXELS; n += PIXELS_AT_ONCE) {
    const int pixel = n + item % PIXELS_AT_ONCE, at = first + pixel;
    const int h = p.first_h + at / p.size_w * p.step_h, w = p.first_w + REMAINDER(at, p.size_w) * p.step_w;
    const bool inside = at < size && (uint)h < (uint)p.source_h && (uint)w < (uint)p.source_w;
    __global const float *element = from + (long)h * p.source_w + w;
    UNROLL for (int i = 0; i < PACKED_LINES; i += LINES_AT_ONCE) {
      const int line = i + item / PIXELS_AT_ONCE;
      uint value = inside && first_line + line < p.lines ? as_uint(element[line * p.line_stride]) : 0;
      round_to_tf32(&value, 1);
      pixels[line][pixel] = as_float(value);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int line = item % VECTORS * 4;
  if (first_line + line >= p.padded_lines) return;
  __global float *to = packed_buffer + packed_start + ((long)plane * size + first) * p.padded_lines + first_line + line;
  UNROLL for (int i = 0; i < PACKED_PIXELS; i += OPERAND_PACK_ITEMS / VECTORS) {
    const int pixel = i + item / VECTORS;
    if (first + pixel < size)
      *(__global float4 *)(to + (long)pixel * p.padded_lines) =
          (float4)(pixels[line][pixel], pixels[line + 1][pixel], pixels[line + 2][pixel], pixels[line + 3][pixel]);
  }
}
