// y = x @ W^T + bias for few rows of activations on a GPU. A line of a work group has OUTPUTS lines of the weight
// and ROWS rows. Each of its work items takes four bytes of them in turn.
//   STORAGE, REAL, LOAD, STORE   of x, bias and y (dtype_defines)
//   SCALE, LOAD_SCALE            how scales and zeros are stored, and read
//   BITS, WEIGHT                 8 and char, or 4 and uchar (quantized_linear.h)
//   ROWS, OUTPUTS                of a line of a work group
//   ALIGNED                      1 where four bytes of the weight are a word
#include "core/common.cl"
#include "core/group.cl"
#include "core/multiply_add.cl"
#include "ops/quantized/quantized_shared.h"

#define UNROLL _Pragma("unroll")
#define FOR_ROWS(r) UNROLL for (int r = 0; r < ROWS; ++r)
#define FOR_OUTPUTS(o) UNROLL for (int o = 0; o < OUTPUTS; ++o)
#define VALUES (ROWS * OUTPUTS)
#define HALF_BLOCK (QUANTIZED_BLOCK / 2)

// Four bytes from `at` on, of which those from `end` on are 0; the first in the lowest bits.
inline uint word_of(__global const WEIGHT *line, const int at, const int end) {
#if ALIGNED
  return *(__global const uint *)(line + at);
#else
  uint word = 0;
  UNROLL for (int i = 0; i < 4; ++i) word |= (at + i < end ? (uint)(uchar)line[at + i] : 0u) << (8 * i);
  return word;
#endif
}

__kernel void quantized_linear(BUFFER(const STORAGE, x), BUFFER(const WEIGHT, weight), BUFFER(const SCALE, scales),
                               BUFFER(const SCALE, zeros), BUFFER(const STORAGE, bias), const QuantizedShape s,
                               const int rows, const int has_bias, BUFFER(STORAGE, y), __local REAL *shared) {
  BIND(const STORAGE, x);
  BIND(const WEIGHT, weight);
  BIND(const SCALE, scales);
  BIND(STORAGE, y);
  const int lid = get_local_id(0), size = get_local_size(0), bytes = (int)((long)s.in * BITS / 8);
  const long first_line = ROW_OF_LINE * OUTPUTS;
  const int first_row = get_group_id(1) * ROWS;
  __global const STORAGE *a[ROWS];
  __global const WEIGHT *w[OUTPUTS];
  long line[OUTPUTS];
  REAL totals[ROWS][OUTPUTS];
  FOR_ROWS(r) a[r] = x + (long)min(first_row + r, rows - 1) * s.in;
  FOR_OUTPUTS(o) {
    line[o] = min(first_line + o, (long)s.out - 1);
    w[o] = weight + line[o] * bytes;
    FOR_ROWS(r) totals[r][o] = 0;
  }
  for (int at = 4 * lid; at < bytes; at += 4 * size) {
    uint words[OUTPUTS];
    FOR_OUTPUTS(o) words[o] = word_of(w[o], at, bytes);
#if BITS == 8
    UNROLL for (int i = 0; i < 4; ++i)
      FOR_ROWS(r) {
        const REAL left = at + i < s.in ? (REAL)LOAD(a[r], at + i) : (REAL)0;
        FOR_OUTPUTS(o) totals[r][o] = MAD(left, (REAL)(char)(words[o] >> (8 * i)), totals[r][o]);
      }
#else
    const int k = at / HALF_BLOCK * QUANTIZED_BLOCK + at % HALF_BLOCK;
    REAL scale[OUTPUTS], zero[OUTPUTS];
    FOR_OUTPUTS(o) {
      const long place = line[o] * s.groups + (k >> s.group_shift);
      scale[o] = (REAL)LOAD_SCALE(scales, place);
      zero[o] = (REAL)LOAD_SCALE(zeros_buffer, zeros_start + place);
    }
    UNROLL for (int i = 0; i < 4; ++i) {
      REAL low[OUTPUTS], high[OUTPUTS];
      FOR_OUTPUTS(o) {
        const int byte = words[o] >> (8 * i) & 255;
        low[o] = MAD((REAL)((byte & 15) - 8), scale[o], zero[o]);
        high[o] = MAD((REAL)((byte >> 4) - 8), scale[o], zero[o]);
      }
      FOR_ROWS(r) {
        const REAL left = LOAD(a[r], k + i), right = LOAD(a[r], k + HALF_BLOCK + i);
        FOR_OUTPUTS(o) totals[r][o] = MAD(right, high[o], MAD(left, low[o], totals[r][o]));
      }
    }
#endif
  }
  // Value v of the line's items lies in OF_LINE(shared) + v * (items of the group).
  const int items = size * get_local_size(1);
  shared = OF_LINE(shared);
  FOR_ROWS(r) FOR_OUTPUTS(o) shared[(r * OUTPUTS + o) * items + lid] = totals[r][o];
  for (int width = size / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < width) UNROLL for (int v = 0; v < VALUES; ++v) shared[v * items + lid] += shared[v * items + lid + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int v = lid; v < VALUES; v += size) {
    const int row = first_row + v / OUTPUTS;
    const long output = first_line + v % OUTPUTS;
    if (row >= rows || output >= s.out) continue;
    REAL sum = shared[v * items];
#if BITS == 8
    sum *= (REAL)LOAD_SCALE(scales, output);
#endif
    if (has_bias) sum += (REAL)LOAD(bias_buffer + bias_start, output);
    STORE(y, row * (long)s.out + output, sum);
  }
}
