// Numbers to int8 and back, and sums of two.
#include "ops/int8/int8.cl"

#define ITEM_RANGE(n)                                             \
  const long first = (n) * get_global_id(0) / get_global_size(0), \
             last = (n) * (get_global_id(0) + 1) / get_global_size(0)

__kernel void quantize(BUFFER(const float, x), const float inverse, const Int8Finish finish, const long n,
                       BUFFER(char, y)) {
  BIND(const float, x);
  BIND(char, y);
  const Int8Finish f = finish;
  ITEM_RANGE(n);
  long i = first;
  for (; i + 16 <= last; i += 16) vstore16(finished16(vload16(0, x + i) * inverse, &f), 0, y + i);
  for (; i < last; ++i) y[i] = finished(x[i] * inverse, &f);
}

__kernel void dequantize(BUFFER(const char, x), const float scale, const int zero, const long n, BUFFER(float, y)) {
  BIND(const char, x);
  BIND(float, y);
  ITEM_RANGE(n);
  for (long i = first; i < last; ++i) y[i] = (float)(x[i] - zero) * scale;
}

__kernel void add(BUFFER(const char, a), BUFFER(const char, b), const Int8Finish finish, const long n,
                  BUFFER(char, y)) {
  BIND(const char, a);
  BIND(const char, b);
  BIND(char, y);
  const Int8Finish f = finish;
  ITEM_RANGE(n);
  long i = first;
  for (; i + 16 <= last; i += 16) {
    float16 t = convert_float16(convert_int16(vload16(0, a + i)) - f.x_zero) * f.ratio;
    if (f.has_addend) t += of_addend16(vload16(0, b + i), &f);
    vstore16(finished16(t, &f), 0, y + i);
  }
  for (; i < last; ++i) {
    float t = (float)(a[i] - f.x_zero) * f.ratio;
    if (f.has_addend) t += of_addend(b[i], &f);
    y[i] = finished(t, &f);
  }
}
