// Convolutions and linear layers of int8 on any device: an item has a range of results, one after another.
#include "ops/int8/int8.cl"

#define ITEM_RANGE(n)                                             \
  const long first = (n) * get_global_id(0) / get_global_size(0), \
             last = (n) * (get_global_id(0) + 1) / get_global_size(0)

inline char stored(const int sum, const Int8Finish *f, const float scale, const float bias, const char addend) {
  float t = (float)sum * (scale * f->ratio);
  if (f->has_bias) t += bias * f->inverse;
  if (f->has_addend) t += of_addend(addend, f);
  return finished(t, f);
}

__kernel void int8_conv(BUFFER(const char, weight), BUFFER(const char, x), BUFFER(const float, scales),
                        BUFFER(const float, bias), BUFFER(const char, addend), BUFFER(char, y), const Int8Conv c,
                        const Int8Finish finish) {
  const Int8Finish f = finish;
  const long pixels = (long)c.out_h * c.out_w, channels = c.groups * c.rows;
  ITEM_RANGE(c.images * channels * pixels);
  for (long i = first; i < last; ++i) {
    const int column = i % c.out_w, row = i / c.out_w % c.out_h, channel = i / pixels % channels;
    const long image = i / pixels / channels;
    __global const char *plane =
        x_buffer + x_start + (image * c.groups + channel / c.rows) * c.channels * c.height * c.width;
    __global const char *filter = weight_buffer + weight_start + (long)channel * c.channels * c.taps_h * c.taps_w;
    int sum = 0;
    for (int k = 0; k < c.channels; ++k, plane += c.height * c.width)
      for (int th = 0; th < c.taps_h; ++th)
        for (int tw = 0; tw < c.taps_w; ++tw, ++filter) {
          const int h = row * c.stride_h - c.pad_h + th * c.dilation_h,
                    w = column * c.stride_w - c.pad_w + tw * c.dilation_w;
          if (h >= 0 && h < c.height && w >= 0 && w < c.width) sum += (plane[h * c.width + w] - f.x_zero) * *filter;
        }
    y_buffer[y_start + i] =
        stored(sum, &f, scales_buffer[scales_start + channel], f.has_bias ? bias_buffer[bias_start + channel] : 0,
               f.has_addend ? addend_buffer[addend_start + i] : 0);
  }
}

__kernel void int8_linear(BUFFER(const char, weight), BUFFER(const char, x), BUFFER(const float, scales),
                          BUFFER(const float, bias), BUFFER(const char, addend), BUFFER(char, y), const long rows,
                          const int in, const int out, const Int8Finish finish) {
  const Int8Finish f = finish;
  ITEM_RANGE(rows * out);
  for (long i = first; i < last; ++i) {
    const int o = i % out;
    __global const char *left = x_buffer + x_start + i / out * in, *right = weight_buffer + weight_start + (long)o * in;
    int sum = 0;
    for (int k = 0; k < in; ++k) sum += (left[k] - f.x_zero) * right[k];
    y_buffer[y_start + i] =
        stored(sum, &f, scales_buffer[scales_start + o], f.has_bias ? bias_buffer[bias_start + o] : 0,
               f.has_addend ? addend_buffer[addend_start + i] : 0);
  }
}
