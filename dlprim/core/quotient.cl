// For kernels of shape simt. near_quotient(a, b), of float, double and vectors of four: a / b to a unit in the last
// place, for quotients and reciprocals of b that are normal numbers. near_quotient(a, b, reciprocal): the same where 1
// / b is known.
//
// A division as IEEE rounds it takes GPUs as long as an exponential, and more beside loads: its rare cases are a call,
// around which nothing is moved (the gradient of a norm and silu took 566 us for 392 with a step of Newton's in its
// place).
#define DEFINE_NEAR_QUOTIENT(V, QUOTIENT)                                                                        \
  static inline __attribute__((always_inline, overloadable)) V near_quotient(V a, V b, V reciprocal) {           \
    const V q = a * reciprocal;                                                                                  \
    return fma(fma(-q, b, a), reciprocal, q);                                                                    \
  }                                                                                                              \
  static inline __attribute__((always_inline, overloadable)) V near_quotient(V a, V b) { return QUOTIENT; }
DEFINE_NEAR_QUOTIENT(float, near_quotient(a, b, native_recip(b)))
DEFINE_NEAR_QUOTIENT(float4, near_quotient(a, b, native_recip(b)))
#if defined(HAS_FP64)
DEFINE_NEAR_QUOTIENT(double, a / b)
DEFINE_NEAR_QUOTIENT(double4, a / b)
#endif
