// Convolutions of groups too narrow for a register tile (depthwise), on a CPU: vectors run along an output row, and
// every tap is one multiply-add. The phased input must be a copy with slack, since vectors run over the rows' ends.
#include "ops/conv/conv_cpu.cl"

// y, one item a stretch of planes. Weight of (row, channel, tap): base + row * w_row + channel * w_channel + tap strides.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void conv_direct(BUFFER(const STORAGE, weights), BUFFER(const REAL, x), BUFFER(const STORAGE, bias),
                          BUFFER(STORAGE, y), const Stencil stencil, const int has_bias, const long w_base,
                          const long w_group, const long w_row, const long w_channel, const long w_tap_h,
                          const long w_tap_w) {
  const Stencil s = stencil;
  const int taps_h = s.taps_h, taps_w = s.taps_w, channels = s.channels, out_w = s.out_w;
  const long planes = s.images * s.groups * s.rows, end = first_job(planes, get_group_id(0) + 1, get_num_groups(0));
  for (long plane = first_job(planes, get_group_id(0), get_num_groups(0)); plane < end; ++plane) {
    const long row = plane % s.rows, group = plane / s.rows % s.groups, image = plane / s.rows / s.groups;
    const long channel = group * s.rows + row;
    __global const STORAGE *w = weights_buffer + weights_start + w_base + group * w_group + row * w_row;
    __global const REAL *x = x_buffer + x_start + s.base + group * s.group_stride + image * s.image_stride;
    __global STORAGE *y = y_buffer + y_start + s.y_base + image * s.y_image + channel * s.y_channel;
    const VEC shift = (VEC)(has_bias ? LOAD(bias_buffer, bias_start + channel) : (REAL)0);
    for (int h = 0; h < s.out_h; ++h)
      for (int ow = 0; ow < out_w; ow += LANES) {
        VEC sum = shift;
        for (int c = 0; c < channels; ++c)
          for (int th = 0; th < taps_h; ++th)
            for (int tw = 0; tw < taps_w; ++tw) {
              const VEC weight = (VEC)(LOAD(w, c * w_channel + th * w_tap_h + tw * w_tap_w));
              const VEC pixels =
                  VLOAD(0, x + c * s.channel_stride + tap_offset(&s, th, tw) + h * s.row_length + ow);
              sum = MULTIPLY_ADD(weight, pixels, sum);
            }
        __global STORAGE *out = y + h * s.y_row + ow * s.y_column;
        REAL values[LANES];
        VSTORE(sum, 0, values);
        for (int i = 0; i < min(LANES, out_w - ow); ++i) STORE(out, i * s.y_column, values[i]);
      }
  }
}

inline REAL sum_of_lanes(const VEC v) {
  REAL lanes[LANES];
  VSTORE(v, 0, lanes);
#pragma unroll
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

// dw, one item a filter plane (output channel, channel). dy is read through scalars only at the rows' ends.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void weight_direct(BUFFER(const STORAGE, dy), BUFFER(const REAL, x), BUFFER(STORAGE, dw),
                            const Stencil stencil) {
  const Stencil s = stencil;
  const int out_w = s.out_w;
  const long filter = get_group_id(0), out_channel = filter / s.channels, channel = filter % s.channels;
  const long group = out_channel / s.rows, out_channels = s.groups * s.rows, plane = s.out_h * s.out_w;
  __global const REAL *x = x_buffer + x_start + s.base + group * s.group_stride + channel * s.channel_stride;
  __global STORAGE *to = dw_buffer + dw_start + filter * s.taps_h * s.taps_w;
  for (int th = 0; th < s.taps_h; ++th)
    for (int tw = 0; tw < s.taps_w; ++tw, ++to) {
      VEC total = (VEC)(0);
      for (long image = 0; image < s.images; ++image) {
        __global const STORAGE *gradient = dy_buffer + dy_start + (image * out_channels + out_channel) * plane;
        __global const REAL *pixels = x + image * s.image_stride + tap_offset(&s, th, tw);
        VEC sum = (VEC)(0);
        for (int h = 0; h < s.out_h; ++h, gradient += out_w, pixels += s.row_length) {
          int w = 0;
#if DIRECT
          for (; w + LANES <= out_w; w += LANES) sum = MULTIPLY_ADD(VLOAD(0, gradient + w), VLOAD(0, pixels + w), sum);
#endif
          for (; w < out_w; w += LANES) {
            REAL values[LANES];
            for (int i = 0; i < LANES; ++i) values[i] = w + i < out_w ? LOAD(gradient, w + i) : (REAL)0;
            sum = MULTIPLY_ADD(VLOAD(0, values), VLOAD(0, pixels + w), sum);
          }
        }
        total += sum;
      }
      STORE(to, 0, sum_of_lanes(total));
    }
}
