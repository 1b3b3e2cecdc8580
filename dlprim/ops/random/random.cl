// Random numbers and dropout; which element takes which word of which counter is fixed in random.h.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the result).
// Each kernel is written for one counter and the elements it serves; a work item of shape cpu does so for many runs of
// 16 counters, sixteen lanes at a time, and one of shape simt for one counter.
#include "core/common.cl"
#include "ops/random/philox.cl"
#include "ops/random/random_shared.h"

#pragma OPENCL FP_CONTRACT OFF  // the same roundings in every kernel shape

// Calls STEP(run, lane, bound check) with WORD(k) for each counter.
#if SHAPE_CPU
#define WORD(k) words[k][lane]
// Whole runs have no checks, so that they become vector code.
#define FOR_EACH_COUNTER(PER_COUNTER, STEP)                                                  \
  const ulong runs = (numel + RANDOM_RUN * PER_COUNTER - 1) / (RANDOM_RUN * PER_COUNTER);    \
  const ulong end = runs * (get_global_id(0) + 1) / get_global_size(0);                      \
  for (ulong run = runs * get_global_id(0) / get_global_size(0); run < end; ++run) {         \
    uint words[4][RANDOM_RUN];                                                               \
    random_words16(seed, offset + run * RANDOM_RUN, words);                                  \
    if ((run + 1) * (RANDOM_RUN * PER_COUNTER) <= numel) {                                   \
      for (int lane = 0; lane < RANDOM_RUN; ++lane) STEP(run, lane, ALWAYS);                 \
    } else {                                                                                 \
      for (int lane = 0; lane < RANDOM_RUN; ++lane) STEP(run, lane, WITHIN);                 \
    }                                                                                        \
  }
#else
#define WORD(k) words.s##k
#define FOR_EACH_COUNTER(PER_COUNTER, STEP)                                                  \
  const ulong run = get_global_id(0) / RANDOM_RUN;                                           \
  const int lane = get_global_id(0) % RANDOM_RUN;                                            \
  const uint4 words = random_words(seed, offset + run * RANDOM_RUN + lane);                  \
  STEP(run, lane, WITHIN);
#endif
#define ALWAYS(i) true
#define WITHIN(i) ((i) < numel)

// Downwards, to a number that is stored as it is: no rounding then reaches the upper end. CUT_BITS are those of float32
// that a dtype of 16 bits lacks.
#if !DOUBLE
inline float cut(const float value) {
  const uint bits = as_uint(value), rest = bits & CUT_BITS;
  return as_float(bits - rest + (value < 0 && rest != 0 ? CUT_BITS + 1u : 0u));
}
#endif

// Four elements from the words of one counter, each made by MAKE(word).
#define FOUR_FROM_WORDS(run, lane, HAS, MAKE)                       \
  {                                                                 \
    const ulong i = run * (4 * RANDOM_RUN) + lane;                  \
    if (HAS(i)) STORE(out, i, MAKE(WORD(0)));                       \
    if (HAS(i + 16)) STORE(out, i + 16, MAKE(WORD(1)));             \
    if (HAS(i + 32)) STORE(out, i + 32, MAKE(WORD(2)));             \
    if (HAS(i + 48)) STORE(out, i + 48, MAKE(WORD(3)));             \
  }

// Two elements, each made by MAKE(64 bits).
#define TWO_FROM_WORDS(run, lane, HAS, MAKE)                               \
  {                                                                        \
    const ulong i = run * (2 * RANDOM_RUN) + lane;                         \
    if (HAS(i)) STORE(out, i, MAKE(upsample(WORD(1), WORD(0))));           \
    if (HAS(i + 16)) STORE(out, i + 16, MAKE(upsample(WORD(3), WORD(2)))); \
  }

#define RANDOM_ARGS BUFFER(STORAGE, out), const ulong numel, const ulong seed, const ulong offset

// 1 with probability (1 - threshold 2^-32). `threshold` is 2^32 for "never".
__kernel void random_bernoulli(RANDOM_ARGS, const ulong threshold) {
  BIND(STORAGE, out);
#define MAKE(word) ((word) >= threshold ? 1 : 0)
#define STEP(run, lane, HAS) FOUR_FROM_WORDS(run, lane, HAS, MAKE)
  FOR_EACH_COUNTER(4, STEP)
#undef STEP
#undef MAKE
}

// low + (0 … range - 1); range 0 stands for 2^64. The bias is below range 2^-64.
__kernel void random_integers(RANDOM_ARGS, const long low, const ulong range) {
  BIND(STORAGE, out);
#define MAKE(bits) (low + (long)(range ? mul_hi((ulong)(bits), range) : (ulong)(bits)))
#define STEP(run, lane, HAS) TWO_FROM_WORDS(run, lane, HAS, MAKE)
  FOR_EACH_COUNTER(2, STEP)
#undef STEP
#undef MAKE
}

#if FLOATING

inline REAL below(REAL value, REAL low, REAL high) { return value < high ? value : low; }

// y = x * scale where kept.
#define DROPOUT_ARGS                                                                                           \
  BUFFER(const STORAGE, x), BUFFER(STORAGE, out), const DropoutRows d, const ulong seed, const ulong offset, \
      const ulong threshold, const REAL scale
#define DROP(i, word) STORE(out, i, (word) >= threshold ? LOAD(x, i) * scale : (REAL)0)
#define STEP(run, lane, HAS)                                           \
  {                                                                    \
    const long i = (run) * (4 * RANDOM_RUN) + (lane);                  \
    if (HAS(i)) DROP(i - shift, WORD(0));                              \
    if (HAS(i + 16)) DROP(i + 16 - shift, WORD(1));                    \
    if (HAS(i + 32)) DROP(i + 32 - shift, WORD(2));                    \
    if (HAS(i + 48)) DROP(i + 48 - shift, WORD(3));                    \
  }
#define IN_ROW(i) ((i) >= begin && (i) < end)
// The id-th run: the elements begin … end - 1 of its row, which stand `shift` elements earlier in memory.
#define ROW_OF_RUN(id)                                                                                \
  const long row = (id) / d.runs;                                                                     \
  const long begin = d.first + row / d.inner_rows * d.outer + row % d.inner_rows * d.inner;           \
  const long end = begin + d.length, shift = begin - row * d.length;                                  \
  const long run = begin / (4 * RANDOM_RUN) + (id) % d.runs

__kernel void dropout(DROPOUT_ARGS) {
  const __global STORAGE *x = x_buffer + x_start;  // may be `out`
  __global STORAGE *out = out_buffer + out_start;
#if SHAPE_CPU
  const long runs = d.rows * d.runs, last = runs * (get_global_id(0) + 1) / get_global_size(0);
  for (long id = runs * get_global_id(0) / get_global_size(0); id < last; ++id) {
    ROW_OF_RUN(id);
    if (run * (4 * RANDOM_RUN) >= end) continue;
    uint words[4][RANDOM_RUN];
    random_words16(seed, offset + run * RANDOM_RUN, words);
    if (run * (4 * RANDOM_RUN) >= begin && (run + 1) * (4 * RANDOM_RUN) <= end) {
      for (int lane = 0; lane < RANDOM_RUN; ++lane) STEP(run, lane, ALWAYS);
    } else {
      for (int lane = 0; lane < RANDOM_RUN; ++lane) STEP(run, lane, IN_ROW);
    }
  }
#else
  const int lane = get_global_id(0) % RANDOM_RUN;
  const long id = get_global_id(0) / RANDOM_RUN;
  if (id >= d.rows * d.runs) return;
  ROW_OF_RUN(id);
  const uint4 words = random_words(seed, offset + run * RANDOM_RUN + lane);
  STEP(run, lane, IN_ROW);
#endif
}
#undef STEP

#if DOUBLE

__kernel void random_uniform(RANDOM_ARGS, const REAL low, const REAL high) {
  BIND(STORAGE, out);
#define MAKE(bits) below(low + (high - low) * ((REAL)((bits) >> 11) * 0x1p-53), low, high)
#define STEP(run, lane, HAS) TWO_FROM_WORDS(run, lane, HAS, MAKE)
  FOR_EACH_COUNTER(2, STEP)
#undef STEP
#undef MAKE
}

__kernel void random_normal(RANDOM_ARGS, const REAL mean, const REAL std) {
  BIND(STORAGE, out);
#define STEP(run, lane, HAS)                                                   \
  {                                                                            \
    const ulong i = run * (2 * RANDOM_RUN) + lane;                             \
    const REAL u = ((REAL)(upsample(WORD(1), WORD(0)) >> 11) + 1.0) * 0x1p-53; \
    const REAL turn = (REAL)(upsample(WORD(3), WORD(2)) >> 11) * 0x1p-53;      \
    const REAL radius = sqrt(-2.0 * log(u)) * std;                             \
    if (HAS(i)) STORE(out, i, mean + radius * cospi(2.0 * turn));              \
    if (HAS(i + 16)) STORE(out, i + 16, mean + radius * sinpi(2.0 * turn));    \
  }
  FOR_EACH_COUNTER(2, STEP)
#undef STEP
}

#else

__kernel void random_uniform(RANDOM_ARGS, const REAL low, const REAL high) {
  BIND(STORAGE, out);
#define MAKE(word) cut(below(low + (high - low) * ((REAL)((word) >> 8) * 0x1p-24f), low, high))
#define STEP(run, lane, HAS) FOUR_FROM_WORDS(run, lane, HAS, MAKE)
  FOR_EACH_COUNTER(4, STEP)
#undef STEP
#undef MAKE
}

// Logarithm, sine and cosine in plain arithmetic (Cephes' polynomials), since built-in ones differ between scalar and
// vector code and between devices.
inline float log_of(float u) {
  const int bits = as_int(u) - 0x3f3504f3;  // exponent counted from sqrt(1/2)
  const float exponent = (float)(bits >> 23);
  const float x = as_float((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  float y = 7.0376836292e-2f;
  y = fma(y, x, -1.1514610310e-1f);
  y = fma(y, x, 1.1676998740e-1f);
  y = fma(y, x, -1.2420140846e-1f);
  y = fma(y, x, 1.4249322787e-1f);
  y = fma(y, x, -1.6668057665e-1f);
  y = fma(y, x, 2.0000714765e-1f);
  y = fma(y, x, -2.4999993993e-1f);
  y = fma(y, x, 3.3333331174e-1f);
  const float z = x * x;
  y = fma(exponent, -2.12194440e-4f, y * (x * z));
  y = fma(z, -0.5f, y);
  return fma(exponent, 0.693359375f, x + y);
}

// Cosine and sine of 2 pi 2^-32 `turn`.
inline float2 direction(uint turn) {
  const uint quadrant = (turn + 0x20000000u) >> 30;
  const float angle = (float)(int)(turn - (quadrant << 30)) * 1.46291807926715968e-9f;
  const float z = angle * angle;
  float s = fma(fma(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f);
  s = fma(s * z, angle, angle);
  float c = fma(fma(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f);
  c = fma(c * z, z, fma(z, -0.5f, 1.0f));
  const float along = quadrant & 1u ? s : c, across = quadrant & 1u ? c : s;
  return (float2)(quadrant == 1u || quadrant == 2u ? -along : along, quadrant >= 2u ? -across : across);
}

inline float2 normal_pair(uint first, uint second) {
  const float u = fma((float)first, 0x1p-32f, 0x1p-33f);  // in (0, 1]
  return direction(second) * sqrt(-2.0f * log_of(u));
}

__kernel void random_normal(RANDOM_ARGS, const REAL mean, const REAL std) {
  BIND(STORAGE, out);
#define STEP(run, lane, HAS)                                                           \
  {                                                                                    \
    const ulong i = run * (4 * RANDOM_RUN) + lane;                                     \
    const float2 a = normal_pair(WORD(0), WORD(1)), b = normal_pair(WORD(2), WORD(3)); \
    if (HAS(i)) STORE(out, i, fma(a.x, std, mean));                                    \
    if (HAS(i + 16)) STORE(out, i + 16, fma(a.y, std, mean));                          \
    if (HAS(i + 32)) STORE(out, i + 32, fma(b.x, std, mean));                          \
    if (HAS(i + 48)) STORE(out, i + 48, fma(b.y, std, mean));                          \
  }
  FOR_EACH_COUNTER(4, STEP)
#undef STEP
}

#endif

#include "ops/random/multinomial.cl"

#endif
