// The gradient of a convolution by its weight on a GPU: products of dy and windows of x, summed over the pixels of all
// images in parts. Neighbouring items read neighbouring pixels, which lie side by side in both. With IMAGES_LAST both were packed
// before (operand_pack_simt.cl): [groups][channels][h][w][images], x with the zeros around it, so that a tap of some images is a
// vector wherever it lies; the sizes of x are then those of what is packed, without padding, its images in words, a multiple of 4.
#ifndef IMAGES_LAST
#define IMAGES_LAST 0
#endif
#define BOTH_ARE_ROUNDED IMAGES_LAST
#include "ops/conv/conv_shared.h"
#define LEFT_BY_DEPTH 1
#define RIGHT_BY_DEPTH 1
#define LEFT_BY_VECTORS 0
#include "ops/gemm/product.cl"

// COLUMNS_OF_TAP: a tile's columns are so many channels of a tap, then of the next, the channels padded; 0: tap after tap of
// each channel, for few channels. What the lines of one tap have in common is worked out once. With a RIGHT_WIDTH of 4 there is
// one tap and pixels lie alike in dy and x.

typedef struct {
  int oh, ow, left;      // this item's pixel in the next panel; and how many the part still has
  long image;
  int rows_on, columns_on;  // to the panel after it
} Walk;

#if IMAGES_LAST
inline Walk start_walk(const ConvShape s, const int first, const int left) {
  const int pixel = first / s.images, oh = pixel / s.out_w;
  const Walk walk = {oh, pixel - oh * s.out_w, left, first - pixel * s.images, 0, 0};
  return walk;
}

inline void walk_on(Walk *walk, const ConvShape s) {
  walk->left -= TILE_DEPTH;
  walk->image += TILE_DEPTH;
  while (walk->image >= s.images) {
    walk->image -= s.images;
    if (++walk->ow < s.out_w) continue;
    walk->ow = 0;
    ++walk->oh;
  }
}

// Elements from a pixel to the next one, and from the first channel's plane to what the walk has come to.
#define PIXELS_APART s.images
inline long place_of(const Walk *walk, const ConvShape s, const int channels, const int plane, const int pixel) {
  return (long)pixel * s.images + walk->image;
}
#else
inline Walk start_walk(const ConvShape s, const int first, const int left) {
  const int out_plane = s.out_h * s.out_w, image = first / out_plane, pixel = first - image * out_plane;
  const int oh = pixel / s.out_w, rows_on = TILE_DEPTH / s.out_w;
  const Walk walk = {oh, pixel - oh * s.out_w, left, image, rows_on, TILE_DEPTH - rows_on * s.out_w};
  return walk;
}

inline void walk_on(Walk *walk, const ConvShape s) {
  walk->left -= TILE_DEPTH;
  walk->oh += walk->rows_on;
  walk->ow += walk->columns_on;
  if (walk->ow >= s.out_w) {
    walk->ow -= s.out_w;
    ++walk->oh;
  }
  while (walk->oh >= s.out_h) {
    walk->oh -= s.out_h;
    ++walk->image;
  }
}

#define PIXELS_APART 1
inline long place_of(const Walk *walk, const ConvShape s, const int channels, const int plane, const int pixel) {
  return walk->image * s.groups * channels * plane + pixel;
}
#endif

#if COLUMNS_OF_TAP
#define TAPS (TILE_COLUMNS / COLUMNS_OF_TAP)
#else
#define TAPS RIGHT_PIECES
#endif
#define LINES_OF_TAP (RIGHT_PIECES / TAPS)

// Where this item's lines of the right operand begin: a channel's tap, from the window's corner.
typedef struct {
  int offset[TAPS], h[TAPS], w[TAPS];
  int channels[TAPS];  // from the first line's on: those beyond are 0
} Taps;

inline void set_tap(Taps *taps, const int t, const ConvShape s, const int tap, const int channel) {
  const int kh = tap / s.kernel_w;
  taps->h[t] = kh * s.dilation_h;
  taps->w[t] = (tap - kh * s.kernel_w) * s.dilation_w;
  taps->offset[t] = channel * s.height * s.width + taps->h[t] * s.width + taps->w[t];
  taps->channels[t] = s.in_channels - channel;
}

// Of a column of all tiles: neighbouring taps of the same channels stand in one tile, since they meet nearly the same elements,
// which come from the cache nearest to the unit.
inline int tap_of(const ConvShape s, const int column) {
  const int taps = s.kernel_h * s.kernel_w;
  return COLUMNS_OF_TAP ? REMAINDER(column / COLUMNS_OF_TAP, taps) : REMAINDER(column, taps);
}
inline int channel_of(const ConvShape s, const int column) {
  const int taps = s.kernel_h * s.kernel_w;
  return COLUMNS_OF_TAP ? column / COLUMNS_OF_TAP / taps * COLUMNS_OF_TAP + column % COLUMNS_OF_TAP : column / taps;
}

// Pieces of more than one pixel lie within an image.
#define SAME_WALK (LEFT_WIDTH == RIGHT_WIDTH)

inline void fetch(Walk *left_walk, Walk *walk, const Taps *taps, const ConvShape s, __global const BROUGHT *gradients,
                  __global const BROUGHT *planes, const int rows, LEFT_PANEL left_to, RIGHT_PANEL right_to) {
  const int item = get_local_id(0), out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const bool has_gradient = PIECE_DEPTH_OF_ITEM(item, LEFT_WIDTH) < left_walk->left;
  __global const BROUGHT *gradient =
      gradients + place_of(left_walk, s, s.out_channels, out_plane, left_walk->oh * s.out_w + left_walk->ow);
  UNROLL for (int i = 0; i < LEFT_PIECES; ++i)
    BRING_LEFT(i, has_gradient && LINE_OF_PIECE(item, i, LEFT_WIDTH) < rows,
               gradient + (long)(i * LINES_APART(LEFT_WIDTH)) * out_plane * PIXELS_APART);
  if (!SAME_WALK) walk_on(left_walk, s);
  const bool inside = PIECE_DEPTH_OF_ITEM(item, RIGHT_WIDTH) < walk->left;
  const int h0 = walk->oh * s.stride_h - s.pad_h, w0 = walk->ow * s.stride_w - s.pad_w;
  __global const BROUGHT *window = planes + place_of(walk, s, s.in_channels, in_plane, h0 * s.width + w0);
  UNROLL for (int t = 0; t < TAPS; ++t) {
    const bool meets =
        inside && (IMAGES_LAST || ((uint)(h0 + taps->h[t]) < (uint)s.height && (uint)(w0 + taps->w[t]) < (uint)s.width));
    const int channels = meets ? taps->channels[t] : 0;
    UNROLL for (int i = 0; i < LINES_OF_TAP; ++i)
      BRING_RIGHT(t * LINES_OF_TAP + i, i * LINES_APART(RIGHT_WIDTH) < channels,
                  window + ((long)taps->offset[t] + (long)(i * LINES_APART(RIGHT_WIDTH)) * in_plane) * PIXELS_APART);
  }
  walk_on(walk, s);
}

// sums [part][group][output channel][channel and tap], each part over part_pixels
__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void conv_weight(BUFFER(const BROUGHT, dy), BUFFER(const BROUGHT, x), BUFFER(REAL, sums),
                          const ConvShape s, const int parts, const int part_pixels) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0);
  const int group = get_group_id(2) / parts, part = REMAINDER((int)get_group_id(2), parts);
  const int taps_of_channel = s.kernel_h * s.kernel_w, columns = s.in_channels * taps_of_channel;
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width, pixels = s.images * out_plane;
  const int begin = part * part_pixels, count = min(part_pixels, pixels - begin);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;

  Walk walk = start_walk(s, begin + PIECE_DEPTH_OF_ITEM(item, RIGHT_WIDTH), count);
#if SAME_WALK
#define LEFT_WALK walk
#else
  Walk left_walk = start_walk(s, begin + PIECE_DEPTH_OF_ITEM(item, LEFT_WIDTH), count);
#define LEFT_WALK left_walk
#endif
  Taps taps;
  UNROLL for (int t = 0; t < TAPS; ++t) {
    const int first = block_column + t * (TILE_COLUMNS / TAPS);  // of COLUMNS_OF_TAP lines, or of this item's
    const int line = LINE_OF_PIECE(item, 0, RIGHT_WIDTH);
#if COLUMNS_OF_TAP
    set_tap(&taps, t, s, tap_of(s, first), channel_of(s, first) + line);
#else
    set_tap(&taps, t, s, tap_of(s, first + line), channel_of(s, first + line));
#endif
  }
  const long first_line = (long)group * s.out_channels + block_row + LINE_OF_PIECE(item, 0, LEFT_WIDTH);
  __global const BROUGHT *gradients = dy_buffer + dy_start + first_line * out_plane * PIXELS_APART;
  __global const BROUGHT *planes = x_buffer + x_start + (long)group * s.in_channels * in_plane * PIXELS_APART;
  PRODUCT((count + TILE_DEPTH - 1) / TILE_DEPTH,
          fetch(&LEFT_WALK, &walk, &taps, s, gradients, planes, s.out_channels - block_row, left_to, right_to))

  __global REAL *out = sums_buffer + sums_start + ((long)part * s.groups + group) * s.out_channels * columns;
  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS), tap = tap_of(s, column), channel = channel_of(s, column);
  const bool is_weight = channel < s.in_channels;
  const int place = channel * taps_of_channel + tap;
  STORE_RESULTS(if (block_row + row < s.out_channels && is_weight) out[(long)(block_row + row) * columns + place] = value)
}
