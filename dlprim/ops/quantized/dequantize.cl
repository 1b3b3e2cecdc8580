// Part of a stored weight as numbers, [lines, columns].
//   STORAGE, REAL, STORE   the result's dtype (dtype_defines)
//   SCALE, LOAD_SCALE      how scales and zeros are stored, and read
//   BITS, WEIGHT           8 and char, or 4 and uchar (quantized_linear.h)
//   IS_FLOAT               1 where REAL is float
#include "core/common.cl"
#include "core/multiply_add.cl"
#include "core/vectors.cl"
#include "ops/quantized/quantized_shared.h"
#include "ops/quantized/unpack.cl"

// A piece of a line is a vector of bytes on shape cpu, where a work item has a range of them, else one byte.
#if SHAPE_CPU
#define PIECE 16
#define FOR_MY_PIECES(p, pieces)                                                  \
  const long end_piece = (pieces) * (get_global_id(0) + 1) / get_global_size(0);  \
  for (long p = (pieces) * get_global_id(0) / get_global_size(0); p < end_piece; ++p)
#else
#define PIECE 1
#define FOR_MY_PIECES(p, pieces)   \
  const long p = get_global_id(0); \
  if (p < (pieces))
#endif

// Writes the weights of the piece that begins at `from`, of which `count` bytes belong to the line.
inline void write_piece(__global const WEIGHT *from, const int count, const REAL scale, const REAL zero,
                        __global STORAGE *to) {
#if BITS == 8
  if (PIECE == 1 || count < PIECE) {
    for (int i = 0; i < min(count, PIECE); ++i) STORE(to, i, from[i] * scale);
  } else {
    STORE16(to, 0, weights_of(vload16(0, from)) * scale);
  }
#elif SHAPE_CPU
  REAL16 low, high;
  const uchar16 bytes = vload16(0, from);
  UNPACK(low, high, bytes, (REAL16)(scale), (REAL16)(zero))
  STORE16(to, 0, low);
  STORE16(to, QUANTIZED_BLOCK / 2, high);
#else
  STORE(to, 0, MAD((REAL)((*from & 15) - 8), scale, zero));
  STORE(to, QUANTIZED_BLOCK / 2, MAD((REAL)((*from >> 4) - 8), scale, zero));
#endif
}

__kernel void dequantize(BUFFER(const WEIGHT, weight), BUFFER(const SCALE, scales), BUFFER(const SCALE, zeros),
                         const QuantizedShape s, const QuantizedPart part, BUFFER(STORAGE, result)) {
  BIND(const WEIGHT, weight);
  BIND(const SCALE, scales);
  BIND(STORAGE, result);
  const int bytes = part.columns * BITS / 8, pieces = (bytes + PIECE - 1) / PIECE;
  FOR_MY_PIECES(p, (long)part.lines * pieces) {
    const long row = p / pieces, line = part.first_line + row;
    const int byte = (int)(p - row * pieces) * PIECE;
#if BITS == 8
    const int column = byte;
    const long scale = line;
    const REAL zero = 0;
#else
    const int half_block = QUANTIZED_BLOCK / 2, column = byte / half_block * QUANTIZED_BLOCK + byte % half_block;
    const long scale = line * s.groups + ((part.first_column + column) >> s.group_shift);
    const REAL zero = (REAL)LOAD_SCALE(zeros_buffer, zeros_start + scale);
#endif
    write_piece(weight + (line * s.in + part.first_column) * BITS / 8 + byte, bytes - byte,
                (REAL)LOAD_SCALE(scales, scale), zero, result + row * part.columns + column);
  }
}
