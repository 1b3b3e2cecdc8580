// Convolutions of narrow groups (depthwise) whose geometry the compiler knows: an item computes a block of results of a
// plane and loads each element of the window that they share once. Blocks are tall: neighbours in a row belong to
// neighbouring items, whose loads then lie side by side. All loops over a window are unrolled; what no tap meets is
// never loaded.
//
// IS_TRANSPOSED: the gradient by the input, whose source is the gradient of the output. Its blocks begin where the
// phase of the stride is 0 and have a multiple of it, so that the taps of each result are known as well.
#include "core/common.cl"
#include "ops/conv/conv_shared.h"
#include "ops/gemm/remainder.cl"

// The source offset j of a window meets result r of its block at the tap TAPS_BETWEEN(r, j, …) / dilation, if there is
// one. The offsets that some result of the block meets are those from BEGIN to before END; a block is AHEAD of the one
// before it.
#if IS_TRANSPOSED
#define TAPS_BETWEEN(r, j, stride) ((r) - (j) * (stride))
#define BEGIN(taps, stride, dilation) (-((taps)-1) * (dilation) / (stride))
#define END(results, taps, stride, dilation) (((results)-1) / (stride) + 1)
#define AHEAD(results, stride) ((results) / (stride))
#else
#define TAPS_BETWEEN(r, j, stride) ((j) - (r) * (stride))
#define BEGIN(taps, stride, dilation) 0
#define END(results, taps, stride, dilation) (((results)-1) * (stride) + ((taps)-1) * (dilation) + 1)
#define AHEAD(results, stride) ((results) * (stride))
#endif
#define ARE_MET(between, taps, dilation) \
  ((between) >= 0 && (between) % (dilation) == 0 && (between) / (dilation) < (taps))

#define UNROLLED(type, i, begin, end) _Pragma("unroll") for (type i = (begin); i < (end); ++i)
#define OFFSETS_H(j) \
  UNROLLED(int, j, BEGIN(TAPS_H, STRIDE_H, DILATION_H), END(STRIP_ROWS, TAPS_H, STRIDE_H, DILATION_H))
#define OFFSETS_W(i) \
  UNROLLED(int, i, BEGIN(TAPS_W, STRIDE_W, DILATION_W), END(STRIP_COLUMNS, TAPS_W, STRIDE_W, DILATION_W))
// For each result (r, q) of a block that meets the offset (j, i): `body`, which may use the number of the tap.
#define FOR_EACH_MEETING(j, i, body)                                                                        \
  UNROLLED(int, r, 0, STRIP_ROWS)                                                                           \
  UNROLLED(int, q, 0, STRIP_COLUMNS) {                                                                      \
    const int down = TAPS_BETWEEN(r, j, STRIDE_H), across = TAPS_BETWEEN(q, i, STRIDE_W);                   \
    if (ARE_MET(down, TAPS_H, DILATION_H) && ARE_MET(across, TAPS_W, DILATION_W)) {                         \
      const int tap = down / DILATION_H * TAPS_W + across / DILATION_W;                                     \
      body                                                                                                  \
    }                                                                                                       \
  }

#if IS_WEIGHT
// A group adds its items' sums of some taps at once, each by as many items.
#define TAPS_AT_ONCE 8
#define ADDERS (CONV_WEIGHT_ITEMS / TAPS_AT_ONCE)
#define DIVIDE_UP(a, b) (((a) + (b)-1) / (b))

// partials [part][filter][tap]: a part is a stretch of the blocks of all images; a work group sums all taps of one
// filter.
__attribute__((reqd_work_group_size(CONV_WEIGHT_ITEMS, 1, 1))) __kernel void strip_weight(
    BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(REAL, partials), const ConvStrip s, const int parts) {
  __local REAL sums[TAPS_AT_ONCE][CONV_WEIGHT_ITEMS], of_adders[TAPS_AT_ONCE][ADDERS];
  const int filter = get_group_id(0), item = get_local_id(0), part = get_group_id(1);
  const int row = filter / s.channels, group = row / s.rows, blocks = s.blocks_h * s.blocks_w;
  const long channel = (long)group * s.channels + REMAINDER(filter, s.channels), all = (long)s.images * blocks;
  const int source_plane = s.source_h * s.source_w, result_plane = s.result_h * s.result_w;
  const int end = (int)(all * (part + 1) / parts);
  REAL sum[TAPS_H * TAPS_W];
  UNROLLED(int, t, 0, TAPS_H * TAPS_W) sum[t] = 0;
  for (int at = (int)(all * part / parts) + item; at < end; at += CONV_WEIGHT_ITEMS) {
    const int image = at / blocks, block = REMAINDER(at, blocks), block_row = block / s.blocks_w;
    const int h0 = block_row * STRIP_ROWS, w0 = REMAINDER(block, s.blocks_w) * STRIP_COLUMNS;
    const int source_h0 = s.start_h + h0 * STRIDE_H, source_w0 = s.start_w + w0 * STRIDE_W;
    __global const STORAGE *gradients =
        dy_buffer + dy_start + ((long)image * s.groups * s.rows + row) * result_plane + h0 * s.result_w + w0;
    __global const STORAGE *plane = x_buffer + x_start + ((long)image * s.groups * s.channels + channel) * source_plane;
    // No product with what is not there: 0 times infinity would count.
    REAL gradient[STRIP_ROWS][STRIP_COLUMNS];
    bool is_there[STRIP_ROWS][STRIP_COLUMNS];
    UNROLLED(int, r, 0, STRIP_ROWS)
    UNROLLED(int, q, 0, STRIP_COLUMNS) {
      is_there[r][q] = h0 + r < s.result_h && w0 + q < s.result_w;
      gradient[r][q] = is_there[r][q] ? LOAD(gradients, r * s.result_w + q) : (REAL)0;
    }
    OFFSETS_H(j) OFFSETS_W(i) {
      const int h = source_h0 + j, w = source_w0 + i;
      const bool is_inside = (uint)h < (uint)s.source_h && (uint)w < (uint)s.source_w;
      const REAL value = is_inside ? LOAD(plane, h * s.source_w + w) : (REAL)0;
      FOR_EACH_MEETING(j, i, if (is_inside && is_there[r][q]) sum[tap] = mad(gradient[r][q], value, sum[tap]);)
    }
  }
  const int filters = s.groups * s.rows * s.channels;
  BIND(REAL, partials);
  partials += ((long)part * filters + filter) * TAPS_H * TAPS_W;
  UNROLLED(int, begin, 0, DIVIDE_UP(TAPS_H * TAPS_W, TAPS_AT_ONCE)) {
    const int first = begin * TAPS_AT_ONCE;
    UNROLLED(int, t, 0, TAPS_AT_ONCE) sums[t][item] = first + t < TAPS_H * TAPS_W ? sum[first + t] : (REAL)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int tap = item / ADDERS, adder = REMAINDER(item, ADDERS);
    REAL of_adder = 0;
    for (int k = adder; k < CONV_WEIGHT_ITEMS; k += ADDERS) of_adder += sums[tap][k];
    of_adders[tap][adder] = of_adder;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < TAPS_AT_ONCE && first + item < TAPS_H * TAPS_W) {
      REAL total = 0;
      for (int k = 0; k < ADDERS; ++k) total += of_adders[item][k];
      partials[first + item] = total;
    }
  }
}
#else
__kernel void conv_strip(BUFFER(const STORAGE, source), BUFFER(const STORAGE, weight), BUFFER(const STORAGE, bias),
                         BUFFER(STORAGE, result), const ConvStrip s, const int has_bias, const long count) {
  const INDEX at = get_global_id(0);
  if (at >= count) return;
  const INDEX block_row = at / s.blocks_w, plane = block_row / s.blocks_h, all_groups = plane / s.rows;
  const int block_w = REMAINDER(at, s.blocks_w), block_h = REMAINDER(block_row, s.blocks_h);
  const int row = REMAINDER(plane, s.rows), group = REMAINDER(all_groups, s.groups);
  const int h0 = s.first_h + block_h * STRIP_ROWS, w0 = s.first_w + block_w * STRIP_COLUMNS;
  const int source_h0 = s.start_h + block_h * AHEAD(STRIP_ROWS, STRIDE_H);
  const int source_w0 = s.start_w + block_w * AHEAD(STRIP_COLUMNS, STRIDE_W);
  __global const STORAGE *planes =
      source_buffer + source_start + (long)all_groups * s.channels * s.source_h * s.source_w;
  __global const STORAGE *filter = weight_buffer + weight_start +
      ((long)group * s.rows * s.channels + row * s.row_filters) * TAPS_H * TAPS_W;
  const REAL start = has_bias ? LOAD(bias_buffer, bias_start + group * s.rows + row) : (REAL)0;
  REAL sum[STRIP_ROWS][STRIP_COLUMNS];
  UNROLLED(int, r, 0, STRIP_ROWS) UNROLLED(int, q, 0, STRIP_COLUMNS) sum[r][q] = start;
  for (int c = 0; c < s.channels;
       ++c, planes += s.source_h * s.source_w, filter += s.channel_filters * TAPS_H * TAPS_W) {
    REAL taps[TAPS_H * TAPS_W];
    UNROLLED(int, t, 0, TAPS_H * TAPS_W) taps[t] = LOAD(filter, t);
    OFFSETS_H(j) OFFSETS_W(i) {
      const int h = source_h0 + j, w = source_w0 + i;
      const bool is_inside = (uint)h < (uint)s.source_h && (uint)w < (uint)s.source_w;
      const REAL value = is_inside ? LOAD(planes, h * s.source_w + w) : (REAL)0;
      FOR_EACH_MEETING(j, i, sum[r][q] = mad(taps[tap], value, sum[r][q]);)
    }
  }
  __global STORAGE *results = result_buffer + result_start + (long)plane * s.result_h * s.result_w;
  UNROLLED(int, r, 0, STRIP_ROWS)
  UNROLLED(int, q, 0, STRIP_COLUMNS) {
    const int h = h0 + r, w = w0 + q;
    if ((uint)h < (uint)s.result_h && (uint)w < (uint)s.result_w) STORE(results, h * s.result_w + w, sum[r][q]);
  }
}
#endif
