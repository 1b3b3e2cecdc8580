// y = x @ W^T + bias for few rows of activations on a CPU: each weight comes from memory once, and is unpacked
// for ROWS rows. A work item has a range of tiles, OUTPUTS lines of the weight each.
//   STORAGE, REAL, LOAD, STORE   of x, bias and y (dtype_defines)
//   SCALE, LOAD_SCALE            how scales and zeros are stored, and read
//   BITS, WEIGHT                 8 and char, or 4 and uchar (quantized_linear.h)
//   IS_FLOAT                     1 where REAL is float
//   ROWS, OUTPUTS                the tile: its sums stay in registers
#include "core/common.cl"
#include "core/multiply_add.cl"
#include "core/vectors.cl"
#include "ops/quantized/quantized_shared.h"
#include "ops/quantized/unpack.cl"

#define UNROLL _Pragma("unroll")
#define FOR_ROWS(r) UNROLL for (int r = 0; r < ROWS; ++r)
#define FOR_OUTPUTS(o) UNROLL for (int o = 0; o < OUTPUTS; ++o)
#define CHAIN 4096  // products of a result in one go, in sixteen chains of additions: for the accuracy of long sums

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void quantized_linear(BUFFER(const STORAGE, x), BUFFER(const WEIGHT, weight), BUFFER(const SCALE, scales),
                               BUFFER(const SCALE, zeros), BUFFER(const STORAGE, bias), const QuantizedShape s,
                               const int rows, const int has_bias, BUFFER(STORAGE, y)) {
  BIND(const STORAGE, x);
  BIND(const WEIGHT, weight);
  BIND(const SCALE, scales);
  BIND(STORAGE, y);
  const long tiles = (s.out + OUTPUTS - 1) / OUTPUTS, bytes = (long)s.in * BITS / 8;
  const int last_tile = tiles * (get_group_id(0) + 1) / get_num_groups(0);
  for (int tile = tiles * get_group_id(0) / get_num_groups(0); tile < last_tile; ++tile)
    for (int first_row = 0; first_row < rows; first_row += ROWS) {
      __global const STORAGE *a[ROWS];
      __global const WEIGHT *w[OUTPUTS];
      int line[OUTPUTS];
      FOR_ROWS(r) a[r] = x + (long)min(first_row + r, rows - 1) * s.in;
      FOR_OUTPUTS(o) {
        line[o] = min(tile * OUTPUTS + o, s.out - 1);
        w[o] = weight + line[o] * bytes;
      }
      REAL16 totals[ROWS][OUTPUTS];
      FOR_ROWS(r) FOR_OUTPUTS(o) totals[r][o] = (REAL16)(0);
      for (int begin = 0; begin < s.in; begin += CHAIN) {
        const int end = min(s.in, begin + CHAIN);
        REAL16 sums[ROWS][OUTPUTS];
        FOR_ROWS(r) FOR_OUTPUTS(o) sums[r][o] = (REAL16)(0);
        int k = begin;
        for (; k + QUANTIZED_BLOCK <= end; k += QUANTIZED_BLOCK) {
          REAL16 low[OUTPUTS], high[OUTPUTS];
          FOR_OUTPUTS(o) {
#if BITS == 8
            low[o] = weights_of(vload16(0, w[o] + k));
            high[o] = weights_of(vload16(0, w[o] + k + 16));
#else
            const long place = (long)line[o] * s.groups + (k >> s.group_shift);
            const REAL16 scale = (REAL)LOAD_SCALE(scales, place);
            const REAL16 zero = (REAL)LOAD_SCALE(zeros_buffer, zeros_start + place);
            const uchar16 packed = vload16(0, w[o] + k / 2);
            UNPACK(low[o], high[o], packed, scale, zero)
#endif
          }
          FOR_ROWS(r) {
            const REAL16 left = LOAD16(a[r], k), right = LOAD16(a[r], k + 16);
            FOR_OUTPUTS(o) sums[r][o] = MAD(right, high[o], MAD(left, low[o], sums[r][o]));
          }
        }
#if BITS == 8
        for (; k < end; ++k)
          FOR_ROWS(r) FOR_OUTPUTS(o) sums[r][o].s0 += LOAD(a[r], k) * (REAL)w[o][k];
#endif
        FOR_ROWS(r) FOR_OUTPUTS(o) totals[r][o] += sums[r][o];
      }
      for (int r = 0; r < min(ROWS, rows - first_row); ++r)
        for (int o = 0; o < min(OUTPUTS, s.out - tile * OUTPUTS); ++o) {
          REAL sum = sum16(totals[r][o]);
#if BITS == 8
          sum *= (REAL)LOAD_SCALE(scales, line[o]);
#endif
          if (has_bias) sum += (REAL)LOAD(bias_buffer + bias_start, line[o]);
          STORE(y, (long)(first_row + r) * s.out + line[o], sum);
        }
    }
}
