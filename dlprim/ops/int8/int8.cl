// The common part of kernels of int8. Include it first.
#include "core/common.cl"
#include "ops/int8/int8_shared.h"

#pragma OPENCL FP_CONTRACT OFF  // each operation is rounded, as int8.h says

// Bounds are whole numbers, so that t is held before it is rounded. Adding 1.5 * 2^23 rounds, halves to the even, and
// leaves the whole number in the low bits. NaN becomes the lower bound.
#define ROUNDER 12582912.0f
#define BITS_OF_ROUNDER 0x4b400000

inline char finished(const float t, const Int8Finish *f) {
  const float low = f->low - f->y_zero, high = f->high - f->y_zero;
  const float from_low = t > low ? t : low, held = from_low < high ? from_low : high;
  return (char)(as_int(held + ROUNDER) - (BITS_OF_ROUNDER - f->y_zero));
}

inline char16 finished16(const float16 t, const Int8Finish *f) {
  const float16 low = (float16)(f->low - f->y_zero), high = (float16)(f->high - f->y_zero);
  const float16 from_low = t > low ? t : low, held = from_low < high ? from_low : high;
  return convert_char16(as_int16(held + ROUNDER) - (BITS_OF_ROUNDER - f->y_zero));
}

inline float of_addend(const char a, const Int8Finish *f) { return (float)(a - f->addend_zero) * f->addend_ratio; }
inline float16 of_addend16(const char16 a, const Int8Finish *f) {
  return convert_float16(convert_int16(a) - f->addend_zero) * f->addend_ratio;
}
