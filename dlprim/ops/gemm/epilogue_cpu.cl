// The work of products and convolutions on a result before they store it, on a CPU: activated(result + addend). Include
// it after cpu_tile.cl. Macros: ACTIVATION, where there is one: an expression of the pointwise table over a
// (pointwise/epilogue.h).
#ifdef ACTIVATION
#include "core/vectors.cl"
#define DEFINE_ACTIVATED(V, EXP)                                                     \
  INLINE __attribute__((overloadable)) V SIGMOID(V a) SIGMOID_BODY(V, EXP)           \
  INLINE __attribute__((overloadable)) V activated(V a) { NOT_CONTRACTED return ACTIVATION; }
#define T REAL
DEFINE_ACTIVATED(REAL, EXP1)
#undef T
#define T VEC
DEFINE_ACTIVATED(VEC, EXP16)
#undef T
#else
#define activated(a) (a)
#endif

// `addend`: of those results, or null.
INLINE REAL finished(const REAL result, __global const STORAGE *addend) {
  return activated(addend ? result + LOAD(addend, 0) : result);
}
#if DIRECT
INLINE VEC finished_vector(const VEC result, __global const STORAGE *addend) {
  return activated(addend ? result + VLOAD(0, addend) : result);
}
#endif
