// The three directions of a convolution on a GPU as implicit GEMMs over the tiled product of simt_tile.cl; nothing is
// copied or padded: operands are read where they lie and are zero outside. What depends on an item's column alone
// is worked out once, since an item always fills the same column of the right panel.
#include "ops/conv/conv_shared.h"
#include "ops/gemm/simt_tile.cl"

#define ITEM_COLUMN ((int)(get_group_id(0) * SIMT_TILE + get_local_id(0) % SIMT_TILE))

// The input that tap (kh, kw) of the window at (h0, w0) meets; 0 in the padding.
inline REAL window_element(__global const STORAGE *plane, const ConvShape s, const int h0, const int w0, const int kh,
                           const int kw) {
  const int h = h0 + kh * s.dilation_h, w = w0 + kw * s.dilation_w;
  return h >= 0 && h < s.height && w >= 0 && w < s.width ? LOAD(plane, h * s.width + w) : (REAL)0;
}

// The gradient of the result whose tap (kh, kw) met the input pixel (h0, w0) in padded coordinates; 0 if none did.
inline REAL transposed_element(__global const STORAGE *plane, const ConvShape s, const int h0, const int w0,
                               const int kh, const int kw) {
  const int h = h0 - kh * s.dilation_h, w = w0 - kw * s.dilation_w;
  const int oh = h / s.stride_h, ow = w / s.stride_w;
  const bool hit = h >= 0 && w >= 0 && oh * s.stride_h == h && ow * s.stride_w == w;
  return hit && oh < s.out_h && ow < s.out_w ? LOAD(plane, oh * s.out_w + ow) : (REAL)0;
}

// Right operand of the forward product: k is (channel, tap) and the window starts at (h0, w0).
inline REAL window_of(__global const STORAGE *planes, const ConvShape s, const int taps, const int plane_size,
                      const int h0, const int w0, const int k) {
  const int channel = k / taps, tap = REMAINDER(k, taps), kh = tap / s.kernel_w;
  return window_element(planes + (long)channel * plane_size, s, h0, w0, kh, REMAINDER(tap, s.kernel_w));
}

// Operands of the backward-data product: k is (output channel, tap).
inline REAL transposed_window_of(__global const STORAGE *planes, const ConvShape s, const int taps, const int plane_size,
                                 const int h0, const int w0, const int k) {
  const int channel = k / taps, tap = REMAINDER(k, taps), kh = tap / s.kernel_w;
  return transposed_element(planes + (long)channel * plane_size, s, h0, w0, kh, REMAINDER(tap, s.kernel_w));
}

inline REAL transposed_filter(__global const STORAGE *filters, const ConvShape s, const int taps, const int row,
                              const int k) {
  const int channel = k / taps;
  return LOAD(filters, ((long)channel * s.in_channels + row) * taps + REMAINDER(k, taps));
}

// Operands of the backward-weight product: k is a pixel of some image.
inline REAL gradient_of(__global const STORAGE *gradients, const long image_stride, const int plane_size, const int row,
                        const int k) {
  const int image = k / plane_size;
  return LOAD(gradients, image * image_stride + (long)row * plane_size + REMAINDER(k, plane_size));
}

inline REAL tap_input(__global const STORAGE *plane, const ConvShape s, const long image_stride, const int plane_size,
                      const int kh, const int kw, const int k) {
  const int image = k / plane_size, pixel = REMAINDER(k, plane_size), oh = pixel / s.out_w;
  return window_element(plane + image * image_stride, s, oh * s.stride_h - s.pad_h,
                        REMAINDER(pixel, s.out_w) * s.stride_w - s.pad_w, kh, kw);
}

__attribute__((reqd_work_group_size(SIMT_TILE_ITEMS, 1, 1)))
__kernel void conv_forward(BUFFER(const STORAGE, x), BUFFER(const STORAGE, weight), BUFFER(const STORAGE, bias),
                           BUFFER(STORAGE, y), const ConvShape s, const int has_bias) {
  __local REAL left_panel[STEP * PITCH], right_panel[STEP * PITCH];
  const int group = get_group_id(2), taps = s.kernel_h * s.kernel_w, depth = s.in_channels * taps;
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width, columns = s.images * out_plane;
  const int image = ITEM_COLUMN / out_plane, pixel = REMAINDER(ITEM_COLUMN, out_plane);
  const int h0 = pixel / s.out_w * s.stride_h - s.pad_h, w0 = REMAINDER(pixel, s.out_w) * s.stride_w - s.pad_w;
  __global const STORAGE *planes =
      x_buffer + x_start + ((long)image * s.groups + group) * s.in_channels * in_plane;
  __global const STORAGE *filters = weight_buffer + weight_start + (long)group * s.out_channels * depth;
#define FORWARD_LEFT(row, k) ((row) < s.out_channels ? LOAD(filters, (long)(row) * depth + (k)) : (REAL)0)
#define FORWARD_RIGHT(k, column) \
  ((column) < columns ? window_of(planes, s, taps, in_plane, h0, w0, k) : (REAL)0)
  SIMT_PRODUCT(FORWARD_LEFT, FORWARD_RIGHT, 0, depth)
  for (int j = 0; j < 4; ++j) {
    const int column = RESULT_COLUMN(j);
    if (column >= columns) continue;
    __global STORAGE *out =
        y_buffer + y_start +
        ((long)(column / out_plane) * s.groups + group) * s.out_channels * out_plane + REMAINDER(column, out_plane);
    for (int i = 0; i < 4; ++i) {
      const int row = RESULT_ROW(i);
      if (row >= s.out_channels) continue;
      REAL value = result[i][j];
      if (has_bias) value += LOAD(bias_buffer, bias_start + group * s.out_channels + row);
      STORE(out, (long)row * out_plane, value);
    }
  }
}

__attribute__((reqd_work_group_size(SIMT_TILE_ITEMS, 1, 1)))
__kernel void conv_backward_data(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, weight), BUFFER(STORAGE, dx),
                                 const ConvShape s) {
  __local REAL left_panel[STEP * PITCH], right_panel[STEP * PITCH];
  const int group = get_group_id(2), taps = s.kernel_h * s.kernel_w, depth = s.out_channels * taps;
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width, columns = s.images * in_plane;
  const int image = ITEM_COLUMN / in_plane, pixel = REMAINDER(ITEM_COLUMN, in_plane);
  const int h0 = pixel / s.width + s.pad_h, w0 = REMAINDER(pixel, s.width) + s.pad_w;
  __global const STORAGE *planes =
      dy_buffer + dy_start + ((long)image * s.groups + group) * s.out_channels * out_plane;
  __global const STORAGE *filters = weight_buffer + weight_start + (long)group * s.out_channels * s.in_channels * taps;
#define DATA_LEFT(row, k) ((row) < s.in_channels ? transposed_filter(filters, s, taps, row, k) : (REAL)0)
#define DATA_RIGHT(k, column) \
  ((column) < columns ? transposed_window_of(planes, s, taps, out_plane, h0, w0, k) : (REAL)0)
  SIMT_PRODUCT(DATA_LEFT, DATA_RIGHT, 0, depth)
  for (int j = 0; j < 4; ++j) {
    const int column = RESULT_COLUMN(j);
    if (column >= columns) continue;
    __global STORAGE *out = dx_buffer + dx_start +
                            ((long)(column / in_plane) * s.groups + group) * s.in_channels * in_plane + REMAINDER(column, in_plane);
    for (int i = 0; i < 4; ++i) {
      const int row = RESULT_ROW(i);
      if (row < s.in_channels) STORE(out, (long)row * in_plane, result[i][j]);
    }
  }
}

// partials [part][group][output channel][channel and tap]: a part is a stretch of the pixels of all images.
__attribute__((reqd_work_group_size(SIMT_TILE_ITEMS, 1, 1)))
__kernel void conv_weight_partials(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(REAL, partials),
                                   const ConvShape s, const int parts) {
  __local REAL left_panel[STEP * PITCH], right_panel[STEP * PITCH];
  const int group = get_group_id(2) / parts, part = REMAINDER((int)get_group_id(2), parts);
  const int taps = s.kernel_h * s.kernel_w, columns = s.in_channels * taps;
  const int out_plane = s.out_h * s.out_w, in_plane = s.height * s.width, pixels = s.images * out_plane;
  const int begin = (int)((long)pixels * part / parts), end = (int)((long)pixels * (part + 1) / parts);
  const int tap = REMAINDER(ITEM_COLUMN, taps), kh = tap / s.kernel_w, kw = REMAINDER(tap, s.kernel_w);
  const long in_image = (long)s.groups * s.in_channels * in_plane, out_image = (long)s.groups * s.out_channels * out_plane;
  __global const STORAGE *plane =
      x_buffer + x_start + ((long)group * s.in_channels + ITEM_COLUMN / taps) * in_plane;
  __global const STORAGE *gradients = dy_buffer + dy_start + (long)group * s.out_channels * out_plane;
#define WEIGHT_LEFT(row, k) ((row) < s.out_channels ? gradient_of(gradients, out_image, out_plane, row, k) : (REAL)0)
#define WEIGHT_RIGHT(k, column) \
  ((column) < columns ? tap_input(plane, s, in_image, out_plane, kh, kw, k) : (REAL)0)
  SIMT_PRODUCT(WEIGHT_LEFT, WEIGHT_RIGHT, begin, end)
  __global REAL *out =
      partials_buffer + partials_start + ((long)part * s.groups + group) * s.out_channels * columns;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (RESULT_ROW(i) < s.out_channels && RESULT_COLUMN(j) < columns)
        out[(long)RESULT_ROW(i) * columns + RESULT_COLUMN(j)] = result[i][j];
}

__kernel void conv_weight_sum(BUFFER(const REAL, partials), BUFFER(STORAGE, dw), const int count, const int parts) {
  BIND(const REAL, partials);
  BIND(STORAGE, dw);
  const int at = get_global_id(0);
  if (at >= count) return;
  REAL sum = 0;
  for (int part = 0; part < parts; ++part) sum += partials[(long)part * count + at];
  STORE(dw, at, sum);
}

// Groups too narrow for a tile (depthwise): one item a result, or one work group a weight.
__kernel void direct_forward(BUFFER(const STORAGE, x), BUFFER(const STORAGE, weight), BUFFER(const STORAGE, bias),
                             BUFFER(STORAGE, y), const ConvShape s, const int has_bias, const long count) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long out_row = at / s.out_w, plane = out_row / s.out_h;
  const int ow = REMAINDER(at, s.out_w), oh = REMAINDER(out_row, s.out_h);
  const int channels = s.groups * s.out_channels, channel = REMAINDER(plane, channels), in_plane = s.height * s.width;
  const long image = plane / channels, taps = s.kernel_h * s.kernel_w;
  __global const STORAGE *planes =
      x_buffer + x_start + (image * s.groups + channel / s.out_channels) * s.in_channels * in_plane;
  __global const STORAGE *filter = weight_buffer + weight_start + channel * s.in_channels * taps;
  REAL sum = has_bias ? LOAD(bias_buffer, bias_start + channel) : (REAL)0;
  for (int c = 0; c < s.in_channels; ++c, planes += in_plane)
    for (int kh = 0; kh < s.kernel_h; ++kh)
      for (int kw = 0; kw < s.kernel_w; ++kw, ++filter)
        sum += LOAD(filter, 0) *
               window_element(planes, s, oh * s.stride_h - s.pad_h, ow * s.stride_w - s.pad_w, kh, kw);
  STORE(y_buffer, y_start + at, sum);
}

__kernel void direct_backward_data(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, weight), BUFFER(STORAGE, dx),
                                   const ConvShape s, const long count) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long in_row = at / s.width, plane = in_row / s.height, all_groups = plane / s.in_channels;
  const int w = REMAINDER(at, s.width), h = REMAINDER(in_row, s.height), out_plane = s.out_h * s.out_w;
  const long image = all_groups / s.groups;
  const int group = REMAINDER(all_groups, s.groups), channel = REMAINDER(plane, s.in_channels);
  const long taps = s.kernel_h * s.kernel_w;
  REAL sum = 0;
  for (int c = 0; c < s.out_channels; ++c) {
    const long out_channel = (long)group * s.out_channels + c;
    __global const STORAGE *filter = weight_buffer + weight_start + (out_channel * s.in_channels + channel) * taps;
    __global const STORAGE *gradient =
        dy_buffer + dy_start + (image * s.groups * s.out_channels + out_channel) * out_plane;
    for (int kh = 0; kh < s.kernel_h; ++kh)
      for (int kw = 0; kw < s.kernel_w; ++kw, ++filter)
        sum += LOAD(filter, 0) * transposed_element(gradient, s, h + s.pad_h, w + s.pad_w, kh, kw);
  }
  STORE(dx_buffer, dx_start + at, sum);
}

__attribute__((reqd_work_group_size(CONV_WEIGHT_ITEMS, 1, 1)))
__kernel void direct_weight(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(STORAGE, dw),
                            const ConvShape s) {
  __local REAL sums[CONV_WEIGHT_ITEMS];
  const int taps = s.kernel_h * s.kernel_w, out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const long at = get_group_id(0), filter = at / taps, out_channel = filter / s.in_channels;
  const int item = get_local_id(0), tap = REMAINDER(at, taps), group = out_channel / s.out_channels;
  const long channel = (long)group * s.in_channels + REMAINDER(filter, s.in_channels);
  const long pixels = (long)s.images * out_plane;
  REAL sum = 0;
  for (long k = item; k < pixels; k += CONV_WEIGHT_ITEMS) {
    const long image = k / out_plane;
    const int pixel = REMAINDER(k, out_plane);
    sum += LOAD(dy_buffer, dy_start + (image * s.groups * s.out_channels + out_channel) * out_plane + pixel) *
           window_element(x_buffer + x_start + (image * s.groups * s.in_channels + channel) * in_plane, s,
                          pixel / s.out_w * s.stride_h - s.pad_h, REMAINDER(pixel, s.out_w) * s.stride_w - s.pad_w,
                          tap / s.kernel_w, REMAINDER(tap, s.kernel_w));
  }
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = CONV_WEIGHT_ITEMS / 2; width > 0; width /= 2) {
    if (item < width) sums[item] += sums[item + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) STORE(dw_buffer, dw_start + at, sums[0]);
}
