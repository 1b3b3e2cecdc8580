// Sixteen elements at a time, for kernels that one work item runs over a long stretch. Include it after core/common.cl.
//   REAL2, REAL16                 two, sixteen values of REAL
//   LOAD16(p, i), STORE16(p, i, v)   p[i] … p[i + 15], in any floating storage; no alignment is asked
//   LOAD_UP_TO16(p, i, n, fill)      as LOAD16, with `fill` from the n-th value on and nothing read there
//   sum16(v), max16(v)         over the lanes, in pairs
//   EXP16(v), EXP1(v)          exp(), in vectors and of one
#include "core/exponential.cl"

#define REAL2 JOIN(REAL, 2)
#define REAL16 JOIN(REAL, 16)
#define EXP16 JOIN(EXP_OF_, REAL16)
#define EXP1 JOIN(EXP_OF_, REAL)
#define EXP_OF_float float_exp
#define EXP_OF_double exp
#define EXP_OF_float16 float16_exp
#define EXP_OF_double16 exp
#define LOAD16 JOIN(LOAD, _16)
#define STORE16 JOIN(STORE, _16)

#define LOAD_float32_16(p, i) vload16(0, (p) + (i))
#define LOAD_float64_16(p, i) vload16(0, (p) + (i))
#define LOAD_float16_16(p, i) vload_half16(0, (p) + (i))
#define LOAD_bfloat16_16(p, i) as_float16(convert_uint16(vload16(0, (p) + (i))) << 16)

#define STORE_float32_16(p, i, v) vstore16(v, 0, (p) + (i))
#define STORE_float64_16(p, i, v) vstore16(v, 0, (p) + (i))
#define STORE_float16_16(p, i, v) vstore_half16_rte(v, 0, (p) + (i))
#define STORE_bfloat16_16(p, i, v) vstore16(to_bfloat16_16(v), 0, (p) + (i))

VECTORS_TO_BFLOAT16(16)

// The values of up to sixteen elements that are `step` apart.
inline REAL16 load_apart16(const __global STORAGE *p, int n, int step, REAL fill) {
  REAL lanes[16];
  for (int lane = 0; lane < 16; ++lane) lanes[lane] = lane < n ? (REAL)LOAD(p, lane * step) : fill;
  return vload16(0, lanes);
}
#define LOAD_UP_TO16(p, i, n, fill) load_apart16((p) + (i), n, 1, fill)

inline void store_apart16(__global STORAGE *p, int n, int step, REAL16 value) {
  REAL lanes[16];
  vstore16(value, 0, lanes);
  for (int lane = 0; lane < n; ++lane) STORE(p, lane * step, lanes[lane]);
}
#define STORE_UP_TO16(p, i, n, v) store_apart16((p) + (i), n, 1, v)

inline REAL sum16(REAL16 v) {
  const JOIN(REAL, 8) a = v.lo + v.hi;
  const JOIN(REAL, 4) b = a.lo + a.hi;
  const JOIN(REAL, 2) c = b.lo + b.hi;
  return c.x + c.y;
}

inline REAL max16(REAL16 v) {
  const JOIN(REAL, 8) a = fmax(v.lo, v.hi);
  const JOIN(REAL, 4) b = fmax(a.lo, a.hi);
  const JOIN(REAL, 2) c = fmax(b.lo, b.hi);
  return fmax(c.x, c.y);
}
