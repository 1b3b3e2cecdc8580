// The common part of kernels of int8. Include it first.
#include "core/common.cl"
#include "ops/int8/int8_shared.h"

#pragma OPENCL FP_CONTRACT OFF  // each operation is rounded, as int8.h says

#define FAR 1048576.0f  // beyond all results, and exact in float32

inline char finished(const float t, const Int8Finish *f) {
  const int rounded = (int)rint(fmin(fmax(t, -FAR), FAR));
  return (char)clamp(rounded + f->y_zero, f->low, f->high);
}

inline char16 finished16(const float16 t, const Int8Finish *f) {
  const int16 rounded = convert_int16(rint(fmin(fmax(t, (float16)(-FAR)), (float16)(FAR))));
  return convert_char16(clamp(rounded + f->y_zero, (int16)(f->low), (int16)(f->high)));
}

inline float of_addend(const char a, const Int8Finish *f) { return (float)(a - f->addend_zero) * f->addend_ratio; }
inline float16 of_addend16(const char16 a, const Int8Finish *f) {
  return convert_float16(convert_int16(a) - f->addend_zero) * f->addend_ratio;
}
