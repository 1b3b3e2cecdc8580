// exp() of float and of vectors of it, for CPUs: OpenCL libraries compute it one element at a time (PoCL 5: silu at 1.5
// GB/s), or in twice the time (PoCL 3.1). The error is at most 1.2 units in the last place, whether MAD() fuses or not.
// N. Juffa's polynomial.
#include "core/multiply_add.cl"

// Below -104 it rounds to 0, above 89 it is infinite. 2^j comes in two factors: it may be less than the least normal
// number. 1.5 * 2^23 is added so that a number's lowest bits are its integer.
#define DEFINE_EXP(V, I)                                                                   \
  static inline __attribute__((always_inline)) V V##_exp(V a) {                            \
    const V least = -104.0f, most = 89.0f, to_integer = 12582912.0f;                       \
    const V b = a < least ? least : a > most ? most : a;                                   \
    const V t = MAD(b, (V)(1.442695f), to_integer), j = t - to_integer;                    \
    const V f = MAD(j, (V)(-1.42860677e-6f), MAD(j, (V)(-6.93145752e-1f), b));             \
    V r = MAD((V)(1.37805939e-3f), f, (V)(8.37312452e-3f));                                \
    r = MAD(r, f, (V)(4.16695364e-2f));                                                    \
    r = MAD(r, f, (V)(1.66664720e-1f));                                                    \
    r = MAD(r, f, (V)(4.99999851e-1f));                                                    \
    r = MAD(r, f, (V)(1.0f));                                                              \
    r = MAD(r, f, (V)(1.0f));                                                              \
    const I exponent = as_##I(t) - as_##I(to_integer), part = exponent >> 1;               \
    return r * as_##V((part + 127) << 23) * as_##V((exponent - part + 127) << 23);         \
  }
DEFINE_EXP(float, int)
DEFINE_EXP(float16, int16)

// The logistic function of `a`, a V, by exponentials EXP of it. No overflow on either side: they are only ever taken of
// negative numbers.
#if SHAPE_CPU
#define SIGMOID_QUOTIENT(a, b) (a) / (b)  // of vectors of sixteen too
#else
#include "core/quotient.cl"
#define SIGMOID_QUOTIENT near_quotient
#endif
#define SIGMOID_BODY(V, EXP)                            \
  {                                                     \
    const V e = EXP(-fabs(a));                          \
    return SIGMOID_QUOTIENT(a < 0 ? e : (V)(1), 1 + e); \
  }
