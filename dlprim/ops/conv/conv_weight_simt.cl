// The gradient of a convolution by its weight on a GPU: products of dy and windows of x, summed over the pixels of all
// images in parts. Neighbouring items read neighbouring pixels, which lie side by side in both.
#include "ops/conv/conv_shared.h"
#define LEFT_BY_DEPTH 1
#define RIGHT_BY_DEPTH 1
#define LEFT_BY_VECTORS 0
#include "ops/gemm/product.cl"

typedef struct {
  int pixel, left;               // of this item in the next panel: within its image; and how many the part still has
  long image;
} Walk;

// This item's lines of the right operand: where a channel's tap lies, from the window's corner.
typedef struct {
  int offset[RIGHT_COUNT];
  int h[RIGHT_COUNT], w[RIGHT_COUNT];  // of a line outside: beyond any window
} Taps;

inline void fetch(Walk *walk, const Taps *taps, const ConvShape s, __global const STORAGE *gradients,
                  __global const STORAGE *planes, const int rows, PANEL left_to, PANEL right_to) {
  const int item = get_local_id(0), out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const bool inside = DEPTH_OF_ITEM(item) < walk->left;
  __global const STORAGE *gradient = gradients + walk->image * s.groups * s.out_channels * out_plane + walk->pixel;
  UNROLL for (int i = 0; i < LEFT_COUNT; ++i)
    BRING_LEFT(i, inside && LINE_OF_ELEMENT(item, i) < rows,
               gradient + (long)(i * (TILE_ITEMS / TILE_DEPTH)) * out_plane);
  const int oh = walk->pixel / s.out_w, h0 = oh * s.stride_h - s.pad_h;
  const int w0 = REMAINDER(walk->pixel, s.out_w) * s.stride_w - s.pad_w;
  __global const STORAGE *window =
      planes + walk->image * s.groups * s.in_channels * in_plane + (long)h0 * s.width + w0;
  UNROLL for (int i = 0; i < RIGHT_COUNT; ++i)
    BRING_RIGHT(i, inside && (uint)(h0 + taps->h[i]) < (uint)s.height && (uint)(w0 + taps->w[i]) < (uint)s.width,
                window + taps->offset[i]);
  walk->left -= TILE_DEPTH;
  walk->pixel += TILE_DEPTH;
  while (walk->pixel >= out_plane) {
    walk->pixel -= out_plane;
    ++walk->image;
  }
}

// partials [part][group][output channel][channel and tap]
__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void conv_weight(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(REAL, partials),
                          const ConvShape s, const int parts) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0);
  const int group = get_group_id(2) / parts, part = REMAINDER((int)get_group_id(2), parts);
  const int taps_of_channel = s.kernel_h * s.kernel_w, columns = s.in_channels * taps_of_channel;
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width, pixels = s.images * out_plane;
  const int begin = (int)((long)pixels * part / parts), end = (int)((long)pixels * (part + 1) / parts);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;

  const int first = begin + DEPTH_OF_ITEM(item);
  Walk walk = {REMAINDER(first, out_plane), end - begin, first / out_plane};
  Taps taps;
  UNROLL for (int i = 0; i < RIGHT_COUNT; ++i) {
    const int column = block_column + LINE_OF_ELEMENT(item, i), tap = REMAINDER(column, taps_of_channel);
    const int kh = tap / s.kernel_w;
    taps.h[i] = column < columns ? kh * s.dilation_h : INT_MAX / 2;
    taps.w[i] = REMAINDER(tap, s.kernel_w) * s.dilation_w;
    taps.offset[i] = column < columns ? column / taps_of_channel * in_plane + taps.h[i] * s.width + taps.w[i] : 0;
  }
  __global const STORAGE *gradients =
      dy_buffer + dy_start + ((long)group * s.out_channels + block_row + LINE_OF_ELEMENT(item, 0)) * out_plane;
  __global const STORAGE *planes = x_buffer + x_start + (long)group * s.in_channels * in_plane;
  PRODUCT((end - begin + TILE_DEPTH - 1) / TILE_DEPTH,
          fetch(&walk, &taps, s, gradients, planes, s.out_channels - block_row, left_to, right_to))

  __global REAL *out = partials_buffer + partials_start + ((long)part * s.groups + group) * s.out_channels * columns;
  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS);
  STORE_RESULTS(if (block_row + row < s.out_channels && column < columns) out[(long)(block_row + row) * columns + column] = value)
}
