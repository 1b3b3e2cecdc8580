// Pooling of int8.
#include "ops/int8/int8.cl"

// An item has a range of the results' rows.
__kernel void max_pool(BUFFER(const char, x), const Int8Windows w, const long rows, BUFFER(char, y)) {
  const long first = rows * get_global_id(0) / get_global_size(0),
             last = rows * (get_global_id(0) + 1) / get_global_size(0);
  for (long i = first; i < last; ++i) {
    const int top = (int)(i % w.out_h) * w.stride_h - w.pad_h;
    __global const char *plane = x_buffer + x_start + i / w.out_h * w.height * w.width;
    __global char *y = y_buffer + y_start + i * w.out_w;
    for (int column = 0; column < w.out_w; ++column) {
      const int left = column * w.stride_w - w.pad_w;
      int greatest = -128;
      for (int kh = 0, h = top; kh < w.kernel_h; ++kh, h += w.dilation_h) {
        if (h < 0 || h >= w.height) continue;
        for (int kw = 0, v = left; kw < w.kernel_w; ++kw, v += w.dilation_w)
          if (v >= 0 && v < w.width) greatest = max(greatest, (int)plane[h * w.width + v]);
      }
      y[column] = (char)greatest;
    }
  }
}

__kernel void adaptive_avg_pool(BUFFER(const char, x), const Int8Windows w, const Int8Finish finish,
                                const long results, BUFFER(char, y)) {
  BIND(const char, x);
  BIND(char, y);
  const Int8Finish f = finish;
  const long first = results * get_global_id(0) / get_global_size(0),
             last = results * (get_global_id(0) + 1) / get_global_size(0);
  for (long i = first; i < last; ++i) {
    const int column = i % w.out_w, row = i / w.out_w % w.out_h;
    const int top = (long)row * w.height / w.out_h, bottom = ((long)(row + 1) * w.height + w.out_h - 1) / w.out_h;
    const int left = (long)column * w.width / w.out_w, right = ((long)(column + 1) * w.width + w.out_w - 1) / w.out_w;
    __global const char *plane = x + i / ((long)w.out_w * w.out_h) * w.height * w.width;
    int sum = 0;
    for (int h = top; h < bottom; ++h)
      for (int v = left; v < right; ++v) sum += plane[h * w.width + v] - f.x_zero;
    y[i] = finished((float)sum * (f.ratio / (float)((bottom - top) * (right - left))), &f);
  }
}
