// float_fmod(a, b): fmod() of C99, exact, for CPUs whose OpenCL library computes it one element at a time (PoCL 3.1:
// 23 ns an element where this takes 2). No branch: compilers turn a loop of it into vector instructions. Where there is
// no double or no fused multiplication, and on GPUs, it is the library's. Include it after core/power.cl.

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(HAS_FP64) && \
    (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
// Takes from `rest` the multiple of |b| 2^(50 k) that is nearest, or one beside it. The quotient has at most 51 bits,
// so that the difference, a multiple of b's last place, is exact.
#define REMAINDER_STEP(scale, inverse_scale)                                                            \
  {                                                                                                     \
    const double multiple = (rest * (inverse * (inverse_scale)) + POWER_TO_INTEGER) - POWER_TO_INTEGER; \
    rest = fma(-multiple, size * (scale), rest);                                                        \
  }
POWER_INLINED float float_fmod(float a, float b) {
  const double size = fabs(b), inverse = 1 / size;
  double rest = fabs(a);
  REMAINDER_STEP((double)0x1p125f * 0x1p125f, (double)0x1p-125f * 0x1p-125f)
  REMAINDER_STEP((double)0x1p100f * 0x1p100f, (double)0x1p-100f * 0x1p-100f)
  REMAINDER_STEP((double)0x1p75f * 0x1p75f, (double)0x1p-75f * 0x1p-75f)
  REMAINDER_STEP((double)0x1p50f * 0x1p50f, (double)0x1p-50f * 0x1p-50f)
  REMAINDER_STEP((double)0x1p50f, (double)0x1p-50f)
  REMAINDER_STEP((double)1, (double)1)
  rest = rest < 0 ? rest + size : rest;
  rest = rest >= size ? rest - size : rest;
  const bool is_whole = isinf(b) && fabs(a) < INFINITY;
  return is_whole ? a : copysign((float)rest, a);
}
#else
#define float_fmod fmod
#endif
