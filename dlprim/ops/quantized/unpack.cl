// The weights in sixteen bytes as numbers. Include it after core/vectors.cl and core/multiply_add.cl.
//   BITS    8: a weight a byte; 4: two weights a byte (quantized_linear.h)
//   IS_FLOAT  1 where REAL is float
#define TO_REAL16 JOIN(convert_, REAL16)

#if BITS == 8
inline REAL16 weights_of(const char16 bytes) { return TO_REAL16(convert_int16(bytes)); }
#else
// With AVX-512 a weight looks its number up among the sixteen of its group, by the four low bits of its lane. That
// takes a third of the instructions: 4096 x 4096 weights take 0.91 ms for one row, was 1.61 (PoCL 3.1, 2 Zen 4
// cores).
#ifdef __has_builtin
#if defined(__AVX512F__) && IS_FLOAT && __has_builtin(__builtin_ia32_permvarsf512)
#define LOOK_UP(numbers, places) __builtin_ia32_permvarsf512(numbers, places)
#endif
#endif

// low, high: the elements of the block's halves. `scale` and `zero` are vectors of one number.
#ifdef LOOK_UP
#define UNPACK(low, high, bytes, scale, zero)                                                                        \
  {                                                                                                                  \
    const float16 numbers_ = MAD((float16)(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7), scale, zero);    \
    const int16 places_ = convert_int16(bytes);                                                                      \
    low = LOOK_UP(numbers_, places_);                                                                                \
    high = LOOK_UP(numbers_, places_ >> 4);                                                                          \
  }
#else
#define UNPACK(low, high, bytes, scale, zero)                                               \
  {                                                                                         \
    low = MAD(TO_REAL16(convert_int16((bytes) & (uchar16)(15)) - 8), scale, zero);          \
    high = MAD(TO_REAL16(convert_int16((bytes) >> (uchar16)(4)) - 8), scale, zero);         \
  }
#endif
#endif
