// The gradient of a convolution by its weight on a GPU: products of dy and windows of x, summed over the pixels of all
// images in parts. Neighbouring items read neighbouring pixels, which lie side by side in both. With IMAGES_LAST both
// were packed before (operand_pack_simt.cl): [groups][channels][h][w][images], x with the zeros around it, so that a
// tap of some images is a vector wherever it lies; the sizes of x are then those of what is packed, without padding,
// its images in words, a multiple of 4.
#ifndef IMAGES_LAST
#define IMAGES_LAST 0
#endif
#define BOTH_ARE_ROUNDED IMAGES_LAST
#include "ops/conv/conv_shared.h"
#define LEFT_BY_DEPTH 1
#define RIGHT_BY_DEPTH 1
#define LEFT_BY_VECTORS 0
#include "ops/gemm/product.cl"

// COLUMNS_OF_TAP: a tile's columns are so many channels of a tap, then of the next, the channels padded; 0: tap after
// tap of each channel, for few channels. The common part of the lines of one tap is worked out once. With a RIGHT_WIDTH
// of 4 there is one tap and pixels lie alike in dy and x.

// Where an item is among the pixels: what it meets in the next panel. Places are carried from panel to panel: to work
// each out anew took as many instructions as a fifth of the multiply-adds.
typedef struct {
  int left;  // pixels of the part from this one on
  int h, w;  // the window's corner, of an image; IMAGES_LAST: w alone, in results
  int image;  // IMAGES_LAST: the first of those that it brings
  __global const BROUGHT *gradient, *window;  // the pixel of dy, the corner in x, of the first line
} Walk;

// From one panel to the next; and what is added behind a row's last result and behind an image's.
typedef struct {
  int h, w, end_h, end_w;
  long window, window_of_row, window_of_image, gradient_of_image;
} Steps;

#if IMAGES_LAST
#define PIXELS_APART s.images

inline Steps steps_of(const ConvShape s) {
  const Steps steps = {0, 0, 0, s.out_w, (long)(s.stride_w - 1) * s.images,
                       (long)(s.stride_h * s.width - s.out_w * s.stride_w) * s.images, 0, 0};
  return steps;
}

inline Walk start_walk(const ConvShape s, const int first, const int left, __global const BROUGHT *gradients,
                       __global const BROUGHT *planes) {
  const int pixel = first / s.images, oh = pixel / s.out_w, ow = pixel - oh * s.out_w, image = first - pixel * s.images;
  const Walk walk = {
      left,
      0,
      ow,
      image,
      gradients + first,
      planes + ((long)(oh * s.stride_h - s.pad_h) * s.width + ow * s.stride_w - s.pad_w) * s.images + image};
  return walk;
}

inline void walk_on(Walk *walk, const Steps steps, const ConvShape s) {
  walk->left -= TILE_DEPTH;
  walk->image += TILE_DEPTH;
  walk->gradient += TILE_DEPTH;
  walk->window += TILE_DEPTH;
  while (walk->image >= s.images) {
    walk->image -= s.images;
    walk->window += steps.window;
    if (++walk->w < steps.end_w) continue;
    walk->w = 0;
    walk->window += steps.window_of_row;
  }
}
#else
#define PIXELS_APART 1

inline Steps steps_of(const ConvShape s) {
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const int rows = TILE_DEPTH / s.out_w, h = rows * s.stride_h, w = (TILE_DEPTH - rows * s.out_w) * s.stride_w;
  const Steps steps = {h,
                       w,
                       s.out_h * s.stride_h - s.pad_h,
                       s.out_w * s.stride_w - s.pad_w,
                       (long)h * s.width + w,
                       (long)s.stride_h * s.width - s.out_w * s.stride_w,
                       (long)s.groups * s.in_channels * in_plane - (long)s.out_h * s.stride_h * s.width,
                       ((long)s.groups * s.out_channels - 1) * out_plane};
  return steps;
}

inline Walk start_walk(const ConvShape s, const int first, const int left, __global const BROUGHT *gradients,
                       __global const BROUGHT *planes) {
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const int image = first / out_plane, pixel = first - image * out_plane, oh = pixel / s.out_w;
  const int h = oh * s.stride_h - s.pad_h, w = (pixel - oh * s.out_w) * s.stride_w - s.pad_w;
  const Walk walk = {left, h, w, 0, gradients + (long)image * s.groups * s.out_channels * out_plane + pixel,
                     planes + (long)image * s.groups * s.in_channels * in_plane + (long)h * s.width + w};
  return walk;
}

inline void walk_on(Walk *walk, const Steps steps, const ConvShape s) {
  walk->left -= TILE_DEPTH;
  walk->h += steps.h;
  walk->w += steps.w;
  walk->gradient += TILE_DEPTH;
  walk->window += steps.window;
  if (walk->w >= steps.end_w) {
    walk->w -= s.out_w * s.stride_w;
    walk->h += s.stride_h;
    walk->window += steps.window_of_row;
  }
  while (walk->h >= steps.end_h) {
    walk->h -= s.out_h * s.stride_h;
    walk->window += steps.window_of_image;
    walk->gradient += steps.gradient_of_image;
  }
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

// The tap of a column of all tiles. Neighbouring taps of the same channels stand in one tile, since they meet nearly
// the same elements, which come from the cache nearest to the unit.
inline int tap_of(const ConvShape s, const int column) {
  const int taps = s.kernel_h * s.kernel_w;
  return COLUMNS_OF_TAP ? REMAINDER(column / COLUMNS_OF_TAP, taps) : REMAINDER(column, taps);
}
inline int channel_of(const ConvShape s, const int column) {
  const int taps = s.kernel_h * s.kernel_w;
  return COLUMNS_OF_TAP ? column / COLUMNS_OF_TAP / taps * COLUMNS_OF_TAP + column % COLUMNS_OF_TAP : column / taps;
}

// Whether what a tap meets is an element of x.
inline bool is_inside(const Walk *walk, const Taps *taps, const int t, const ConvShape s) {
#if IMAGES_LAST
  return true;
#else
  return (uint)(walk->h + taps->h[t]) < (uint)s.height && (uint)(walk->w + taps->w[t]) < (uint)s.width;
#endif
}

// Pieces of more than one pixel lie within an image.
#define SAME_WALK (LEFT_WIDTH == RIGHT_WIDTH)

inline void fetch(Walk *left_walk, Walk *walk, const Steps steps, const Taps *taps, const ConvShape s, const int rows,
                  LEFT_PANEL left_to, RIGHT_PANEL right_to) {
  const int item = get_local_id(0), out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const int lines = left_walk->left > 0 ? rows : 0;
  UNROLL for (int i = 0; i < LEFT_PIECES; ++i)
    BRING_LEFT(i, i * LINES_APART(LEFT_WIDTH) < lines,
               left_walk->gradient + (long)(i * LINES_APART(LEFT_WIDTH)) * out_plane * PIXELS_APART);
  if (!SAME_WALK) walk_on(left_walk, steps, s);
  UNROLL for (int t = 0; t < TAPS; ++t) {
    const int channels = walk->left > 0 && is_inside(walk, taps, t, s) ? taps->channels[t] : 0;
    UNROLL for (int i = 0; i < LINES_OF_TAP; ++i) BRING_RIGHT(
        t * LINES_OF_TAP + i, i * LINES_APART(RIGHT_WIDTH) < channels,
        walk->window + ((long)taps->offset[t] + (long)(i * LINES_APART(RIGHT_WIDTH)) * in_plane) * PIXELS_APART);
  }
  walk_on(walk, steps, s);
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

  const int line = LINE_OF_PIECE(item, 0, LEFT_WIDTH);
  __global const BROUGHT *gradients =
      dy_buffer + dy_start + ((long)group * s.out_channels + block_row + line) * out_plane * PIXELS_APART;
  __global const BROUGHT *planes = x_buffer + x_start + (long)group * s.in_channels * in_plane * PIXELS_APART;
  const Steps steps = steps_of(s);
  const int at = PIECE_DEPTH_OF_ITEM(item, RIGHT_WIDTH);
  Walk walk = start_walk(s, begin + at, count - at, gradients, planes);
#if SAME_WALK
#define LEFT_WALK walk
#else
  const int left_at = PIECE_DEPTH_OF_ITEM(item, LEFT_WIDTH);
  Walk left_walk = start_walk(s, begin + left_at, count - left_at, gradients, planes);
#define LEFT_WALK left_walk
#endif
  Taps taps;
  UNROLL for (int t = 0; t < TAPS; ++t) {
    const int first = block_column + t * (TILE_COLUMNS / TAPS);  // of COLUMNS_OF_TAP lines, or of this item's
    const int column = LINE_OF_PIECE(item, 0, RIGHT_WIDTH);
#if COLUMNS_OF_TAP
    set_tap(&taps, t, s, tap_of(s, first), channel_of(s, first) + column);
#else
    set_tap(&taps, t, s, tap_of(s, first + column), channel_of(s, first + column));
#endif
  }
  PRODUCT((count + TILE_DEPTH - 1) / TILE_DEPTH,
          fetch(&LEFT_WALK, &walk, steps, &taps, s, s.out_channels - block_row - line, left_to, right_to))

  __global REAL *out = sums_buffer + sums_start + ((long)part * s.groups + group) * s.out_channels * columns;
  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS), tap = tap_of(s, column),
            channel = channel_of(s, column);
  const bool is_weight = channel < s.in_channels;
  const int place = channel * taps_of_channel + tap;
  STORE_RESULTS(if (block_row + row < s.out_channels && is_weight) out[(long)(block_row + row) * columns + place] =
                    value)
}
