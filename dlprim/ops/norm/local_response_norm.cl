// Local response normalisation of x [batch, channels, plane]: every element over a power of the mean square of its
// neighbours in the channels. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of x). On shape cpu a work item takes a
// range of elements.
#include "core/common.cl"
#include "core/power.cl"
#include "ops/norm/norm_shared.h"

#if SHAPE_CPU
#define FOR_MY_ELEMENTS(i)                                                       \
  const long end_element = e.elements * (get_global_id(0) + 1) / get_global_size(0); \
  for (long i = e.elements * get_global_id(0) / get_global_size(0); i < end_element; ++i)
#else
#define FOR_MY_ELEMENTS(i) \
  const long i = get_global_id(0); \
  if (i < e.elements)
#endif

// Sum of TERM(j) over the elements j of channels c - before … c + after at the place of element i.
#define SUM_NEIGHBOURS(sum, i, before, after, TERM)                     \
  {                                                                     \
    const int c = (int)(i / e.plane % e.channels);                      \
    const int first = max(-(before), -c), last = min(after, e.channels - 1 - c); \
    for (int step = first; step <= last; ++step) sum += TERM(i + (long)step * e.plane); \
  }

__kernel void local_response_norm_forward(BUFFER(const STORAGE, x), const LocalResponseExtents e,
                                          const LocalResponseOptions o, BUFFER(STORAGE, y), BUFFER(REAL, base)) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(REAL, base);
  FOR_MY_ELEMENTS(i) {
    REAL squares = 0;
#define SQUARE(j) (LOAD(x, j) * LOAD(x, j))
    SUM_NEIGHBOURS(squares, i, e.before, e.after, SQUARE)
    base[i] = fma(o.share, squares, o.k);
    STORE(y, i, LOAD(x, i) / POWER_OF(REAL)(base[i], o.beta));
  }
}

// The share that an element sends to its neighbours' gradients: dy x base^(-beta - 1).
__kernel void local_response_norm_shares(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(const REAL, base),
                                         const LocalResponseExtents e, const LocalResponseOptions o,
                                         BUFFER(REAL, shares)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, base);
  BIND(REAL, shares);
  // Two quotients: the product of base and its power may be infinite.
  FOR_MY_ELEMENTS(i) shares[i] = (LOAD(dy, i) / POWER_OF(REAL)(base[i], o.beta)) * (LOAD(x, i) / base[i]);
}

__kernel void local_response_norm_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x),
                                           BUFFER(const REAL, base), BUFFER(const REAL, shares),
                                           const LocalResponseExtents e, const LocalResponseOptions o,
                                           BUFFER(STORAGE, dx)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, base);
  BIND(const REAL, shares);
  BIND(STORAGE, dx);
  FOR_MY_ELEMENTS(i) {
    REAL sum = 0;
#define SHARE(j) shares[j]
    SUM_NEIGHBOURS(sum, i, e.after, e.before, SHARE)
    STORE(dx, i, LOAD(dy, i) / POWER_OF(REAL)(base[i], o.beta) - 2 * o.share * o.beta * LOAD(x, i) * sum);
  }
}
