// Convolution of int8 with one input channel a group on a CPU. An item lays a plane out in its scratch as float32. Its
// sums are exact: INT8_TAPS products are below 2^24. Places run over the rows of the padded plane, as in
// int8_products_cpu.cl.
#include "ops/int8/int8.cl"

#define UNROLL _Pragma("unroll")
#define AT_ONCE 4  // vectors of places that share a weight

inline void lay_out(const Int8Conv *c, const Int8Planes *p, __global const char *x, const int zero,
                    __global float *to) {
  for (int a = 0; a < p->phases_h; ++a)
    for (int b = 0; b < p->phases_w; ++b) {
      const int begin = min(max(0, (c->pad_w - b + c->stride_w - 1) / c->stride_w), p->row_length);
      const int end = max(begin, min(max(0, (c->width + c->pad_w - b + c->stride_w - 1) / c->stride_w), p->row_length));
      for (int r = 0; r < p->rows; ++r, to += p->row_length) {
        const int row = r * c->stride_h + a - c->pad_h, is_inside = row >= 0 && row < c->height;
        __global const char *from = x + (is_inside ? row : 0) * c->width + b - c->pad_w;
        const int stop = is_inside ? end : begin;
        for (int j = 0; j < begin; ++j) to[j] = 0;
        if (c->stride_w == 1)
          for (int j = begin; j < stop; ++j) to[j] = (float)(from[j] - zero);
        else
          for (int j = begin; j < stop; ++j) to[j] = (float)(from[j * c->stride_w] - zero);
        for (int j = stop; j < p->row_length; ++j) to[j] = 0;
      }
    }
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void int8_depthwise(
    BUFFER(const char, weight), BUFFER(const char, x), BUFFER(const float, scales), BUFFER(const float, bias),
    BUFFER(const char, addend), BUFFER(char, y), BUFFER(float, scratch), const Int8Conv conv, const Int8Planes shape,
    const Int8Finish finish, const long slice) {
  const Int8Conv c = conv;
  const Int8Planes p = shape;
  const Int8Finish f = finish;
  const int taps = c.taps_h * c.taps_w, pixels = c.out_h * c.out_w, all = c.out_h * p.row_length;
  __global float *plane_at = scratch_buffer + scratch_start + get_group_id(0) * slice;
  __global char *results = (__global char *)(plane_at + p.plane + INT8_SLACK);
  int places[INT8_TAPS];
  for (int th = 0, t = 0; th < c.taps_h; ++th)
    for (int tw = 0; tw < c.taps_w; ++tw, ++t) {
      const int h = th * c.dilation_h, w = tw * c.dilation_w;
      places[t] = (h % c.stride_h * p.phases_w + w % c.stride_w) * (int)p.phase + h / c.stride_h * p.row_length +
                  w / c.stride_w;
    }
  for (int i = 0; i < INT8_SLACK; ++i) plane_at[p.plane + i] = 0;
  const long planes = (long)c.images * c.groups, last = planes * (get_group_id(0) + 1) / get_num_groups(0);
  for (long plane = planes * get_group_id(0) / get_num_groups(0); plane < last; ++plane) {
    lay_out(&c, &p, x_buffer + x_start + plane * c.height * c.width, f.x_zero, plane_at);
    for (int r = 0; r < c.rows; ++r) {
      const long channel = plane % c.groups * c.rows + r, at = (plane * c.rows + r) * pixels;
      __global const char *weights = weight_buffer + weight_start + channel * taps;
      __global const char *addend = addend_buffer + addend_start + at;
      __global char *y = y_buffer + y_start + at;
      const float scale = scales_buffer[scales_start + channel] * f.ratio;
      const float shift = f.has_bias ? bias_buffer[bias_start + channel] * f.inverse : 0.0f;
      float numbers[INT8_TAPS];
      for (int t = 0; t < taps; ++t) numbers[t] = weights[t];
      for (int n = 0; n < all; n += 16 * AT_ONCE) {
        float16 sums[AT_ONCE];
        UNROLL for (int v = 0; v < AT_ONCE; ++v) sums[v] = (float16)(0);
        for (int t = 0; t < taps; ++t)
          UNROLL for (int v = 0; v < AT_ONCE; ++v)
            sums[v] = fma((float16)(numbers[t]), vload16(v, plane_at + places[t] + n), sums[v]);
        UNROLL for (int v = 0; v < AT_ONCE; ++v) {
          float16 t = sums[v] * scale;
          t += shift;
          if (f.has_addend) {
            char lanes[16];
            for (int i = 0; i < 16; ++i) {
              const int place = n + 16 * v + i, h = place / p.row_length, w = place - h * p.row_length;
              lanes[i] = h < c.out_h && w < c.out_w ? addend[h * c.out_w + w] : 0;
            }
            t += of_addend16(vload16(0, lanes), &f);
          }
          vstore16(finished16(t, &f), v, results + n);
        }
      }
      if (p.row_length == c.out_w)
        for (int i = 0; i < pixels; ++i) y[i] = results[i];
      else
        for (int h = 0; h < c.out_h; ++h)
          for (int w = 0; w < c.out_w; ++w) y[h * c.out_w + w] = results[h * p.row_length + w];
    }
  }
}
