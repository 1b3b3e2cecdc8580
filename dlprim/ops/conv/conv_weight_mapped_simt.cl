// The gradient of a convolution by its weight on Hopper, for windows one element wide, whose rows lie alike in dy and
// x: its copy engine brings neighbours in a row, rounded, what is outside as zeros. A tile's columns are COLUMNS_OF_TAP
// channels of a tap, then of the next, the channels padded.
#include "ops/conv/conv_shared.h"
#define LEFT_BY_DEPTH 1
#define RIGHT_BY_DEPTH 1
#define LEFT_BY_VECTORS 0
#define TENSOR_MAPS 1
#include "ops/gemm/product.cl"
#include "ops/gemm/tensor_map_shared.h"

#define TAPS (TILE_COLUMNS / COLUMNS_OF_TAP)

typedef struct {
  int h[TAPS], channel[TAPS];  // of the tile: where the tap's window begins, and the first of its channels
} Taps;

// The next box of the depth: neighbours in a row of an image.
typedef struct {
  int box, h, image;
} Walk;

inline void fetch(Walk *walk, const Taps *taps, const ConvMappedWeight s, __global const uint *dy,
                  __global const uint *x, const int row, __local float *left_to, __local float *right_to,
                  __local ulong *arrived) {
  const int w = walk->box * (TILE_DEPTH * NUMBERS_IN_WORD);
  bring_box(left_to, dy, w, walk->h, row, walk->image, arrived);
  UNROLL for (int t = 0; t < TAPS; ++t)
      bring_box(right_to + t * COLUMNS_OF_TAP * TILE_DEPTH, x, w + s.start_w, walk->h * s.step_h + taps->h[t],
                taps->channel[t], walk->image, arrived);
  if (++walk->box < s.boxes) return;
  walk->box = 0;
  if (++walk->h < s.out_h) return;
  walk->h = 0;
  ++walk->image;
}

inline int tap_of(const ConvMappedWeight s, const int column) { return REMAINDER(column / COLUMNS_OF_TAP, s.taps); }
inline int channel_of(const ConvMappedWeight s, const int column) {
  return column / COLUMNS_OF_TAP / s.taps * COLUMNS_OF_TAP + column % COLUMNS_OF_TAP;
}

// sums [part][group][row][channel and tap]
__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void conv_weight_mapped(BUFFER(const uint, maps), BUFFER(REAL, sums), const ConvMappedWeight s) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), group = get_group_id(2) / s.parts, part = REMAINDER((int)get_group_id(2), s.parts);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;
  const int first = part * s.part_boxes, first_row = first / s.boxes;
  __global const uint *dy = maps_buffer + maps_start, *x = dy + TENSOR_MAP_BYTES / 4;
  Walk walk = {REMAINDER(first, s.boxes), REMAINDER(first_row, s.out_h), first_row / s.out_h};
  Taps taps;
  UNROLL for (int t = 0; t < TAPS; ++t) {
    const int column = block_column + t * COLUMNS_OF_TAP;
    taps.h[t] = s.start_h + tap_of(s, column) * s.tap_h;
    taps.channel[t] = group * s.channels + channel_of(s, column);
  }
  if (item == 0) {
    open_map(dy);
    open_map(x);
  }
  PRODUCT(min(s.part_boxes, s.boxes * s.out_h * s.images - first),
          fetch(&walk, &taps, s, dy, x, group * s.rows + block_row, left_to, right_to, has_arrived))

  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS), channel = channel_of(s, column);
  const int columns = s.channels * s.taps, place = channel * s.taps + tap_of(s, column);
  __global REAL *out = sums_buffer + sums_start + ((long)part * s.groups + group) * s.rows * columns;
  STORE_RESULTS(if (block_row + row < s.rows && channel < s.channels) out[(long)(block_row + row) * columns + place] =
                    value)
}
