// Cross products of vectors of three elements. A vector times itself is exactly 0, so products are not contracted.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines), IS_COMPLEX.
#include "core/common.cl"
#include "ops/linalg/cross_shared.h"
#include "ops/sort/work.cl"

#pragma OPENCL FP_CONTRACT OFF

#if IS_COMPLEX
inline REAL times(REAL a, REAL b) {
  REAL product;
  product.x = a.x * b.x - a.y * b.y;
  product.y = a.x * b.y + a.y * b.x;
  return product;
}
#else
inline REAL times(REAL a, REAL b) { return a * b; }
#endif

inline long outer_of(long vector, const CrossShape *s) {
  if (s->inner == 1) return vector;
  if (s->outer * s->inner <= INT_MAX) return (uint)vector / (uint)s->inner;
  return vector / s->inner;
}

__kernel void cross_products(BUFFER(const STORAGE, a), BUFFER(const STORAGE, b), BUFFER(STORAGE, y),
                             const CrossShape s) {
  BIND(const STORAGE, a);
  BIND(const STORAGE, b);
  BIND(STORAGE, y);
  FOR_MY(vector, s.outer * s.inner) {
    const long o = outer_of(vector, &s), i = vector - o * s.inner;
    const long of_a = o * s.a[0] + i * s.a[2], of_b = o * s.b[0] + i * s.b[2], of_y = o * s.y[0] + i * s.y[2];
    const REAL a0 = LOAD(a, of_a), a1 = LOAD(a, of_a + s.a[1]), a2 = LOAD(a, of_a + 2 * s.a[1]);
    const REAL b0 = LOAD(b, of_b), b1 = LOAD(b, of_b + s.b[1]), b2 = LOAD(b, of_b + 2 * s.b[1]);
    STORE(y, of_y, times(a1, b2) - times(a2, b1));
    STORE(y, of_y + s.y[1], times(a2, b0) - times(a0, b2));
    STORE(y, of_y + 2 * s.y[1], times(a0, b1) - times(a1, b0));
  }
}
