// Convolutions of groups too narrow for a tile of products (depthwise) on a GPU: one item a result, or one work group a
// filter. INDEX counts results: 32 bits where they do, since a GPU divides those much faster.
#include "core/common.cl"
#include "ops/conv/conv_shared.h"
#include "ops/gemm/remainder.cl"

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
  const int oh = s.stride_h == 1 ? h : h / s.stride_h, ow = s.stride_w == 1 ? w : w / s.stride_w;
  const bool hit = h >= 0 && w >= 0 && oh * s.stride_h == h && ow * s.stride_w == w;
  return hit && oh < s.out_h && ow < s.out_w ? LOAD(plane, oh * s.out_w + ow) : (REAL)0;
}

__kernel void direct_forward(BUFFER(const STORAGE, x), BUFFER(const STORAGE, weight), BUFFER(const STORAGE, bias),
                             BUFFER(STORAGE, y), const ConvShape s, const int has_bias, const long count) {
  const INDEX at = get_global_id(0);
  if (at >= count) return;
  const INDEX out_row = at / s.out_w, plane = out_row / s.out_h;
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
  const INDEX at = get_global_id(0);
  if (at >= count) return;
  const INDEX in_row = at / s.width, plane = in_row / s.height, all_groups = plane / s.in_channels;
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

// partials [part][filter][tap]: a part is a stretch of the pixels of all images. A work group sums CONV_WEIGHT_TAPS
// taps of one filter at once, which share each dy and lie side by side in x.
__attribute__((reqd_work_group_size(CONV_WEIGHT_ITEMS, 1, 1)))
__kernel void direct_weight(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(REAL, partials),
                            const ConvShape s, const int parts) {
  __local REAL sums[CONV_WEIGHT_ITEMS];
  const int taps = s.kernel_h * s.kernel_w, blocks = (taps + CONV_WEIGHT_TAPS - 1) / CONV_WEIGHT_TAPS;
  const int filter = get_group_id(0) / blocks, first_tap = REMAINDER((int)get_group_id(0), blocks) * CONV_WEIGHT_TAPS;
  const int item = get_local_id(0), part = get_group_id(1), out_channel = filter / s.in_channels;
  const int group = out_channel / s.out_channels, out_plane = s.out_h * s.out_w, in_plane = s.height * s.width;
  const long channel = (long)group * s.in_channels + REMAINDER(filter, s.in_channels);
  const int pixels = s.images * out_plane, end = (int)((long)pixels * (part + 1) / parts);
  int dh[CONV_WEIGHT_TAPS], dw[CONV_WEIGHT_TAPS];
  REAL sum[CONV_WEIGHT_TAPS];
  for (int t = 0; t < CONV_WEIGHT_TAPS; ++t) {
    const int kh = (first_tap + t) / s.kernel_w;
    dh[t] = kh * s.dilation_h - s.pad_h;
    dw[t] = REMAINDER(first_tap + t, s.kernel_w) * s.dilation_w - s.pad_w;
    sum[t] = 0;
  }
  for (int k = (int)((long)pixels * part / parts) + item; k < end; k += CONV_WEIGHT_ITEMS) {
    const int image = k / out_plane, pixel = REMAINDER(k, out_plane), oh = pixel / s.out_w;
    const int h0 = oh * s.stride_h, w0 = REMAINDER(pixel, s.out_w) * s.stride_w;
    const REAL gradient =
        LOAD(dy_buffer, dy_start + ((long)image * s.groups * s.out_channels + out_channel) * out_plane + pixel);
    __global const STORAGE *plane =
        x_buffer + x_start + ((long)image * s.groups * s.in_channels + channel) * in_plane;
    for (int t = 0; t < CONV_WEIGHT_TAPS; ++t) {
      const int h = h0 + dh[t], w = w0 + dw[t];
      if ((uint)h < (uint)s.height && (uint)w < (uint)s.width)
        sum[t] = mad(gradient, (REAL)LOAD(plane, h * s.width + w), sum[t]);
    }
  }
  const int filters = s.groups * s.out_channels * s.in_channels;
  for (int t = 0; t < CONV_WEIGHT_TAPS; ++t) {
    sums[item] = sum[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = CONV_WEIGHT_ITEMS / 2; width > 0; width /= 2) {
      if (item < width) sums[item] += sums[item + width];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0 && first_tap + t < taps)
      partials_buffer[partials_start + ((long)part * filters + filter) * taps + first_tap + t] = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
