// float_asinh, float_acosh, float_atanh and float_erfc for CPUs. Like those of trigonometry.cl they are computed in
// double, without a branch. The error is at most 0.501 units in the last place. Include it after core/power.cl.

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(HAS_FP64)
#define LOG_OF_2 POWER_CONSTANT(0x1.62e43p-1f, -0x1.05c61p-29f)

// The logarithms of a + sqrt(a a + 1), of a + sqrt(a a - 1) and, halved, of (1 + a) / (1 - a).
POWER_INLINED float float_asinh(float a) {
  const double x = fabs(a), root = sqrt(x * x + 1);
  return copysign((float)(LOG_OF_2 * binary_log_near(x + root, x / (1 + root))), a);
}
POWER_INLINED float float_acosh(float a) {
  const double x = a;
  return a < 1 ? NAN : (float)(LOG_OF_2 * binary_log(x + sqrt((x - 1) * (x + 1))));
}
POWER_INLINED float float_atanh(float a) {
  const double x = a, log = LOG_OF_2 * (double)0.5f * binary_log_near((1 + x) / (1 - x), x);
  return a == 0 ? a : fabs(a) > 1 ? NAN : (float)log;
}

// A polynomial of (x - 3.5) / (x + 3.5) gives erfc(x) exp(x x) (1 + 2 x): M. Shepherd and J. Laframboise, "Chebyshev
// approximation of (1 + 2x)exp(x^2)erfc x in 0 <= x < inf", 1981. Beyond 10.6 erfc rounds to 0.
POWER_INLINED float float_erfc(float a) {
  const double x = fabs(a) < 10.6f ? fabs(a) : 10.6f, t = (x - (double)3.5f) / (x + (double)3.5f);
  double p = MAD((double)-0x1.17cbd6p-14f, t, (double)-0x1.d857acp-14f);
  p = MAD(p, t, (double)0x1.32d788p-11f);
  p = MAD(p, t, (double)-0x1.3a9ea6p-12f);
  p = MAD(p, t, POWER_CONSTANT(-0x1.14af0cp-8f, 0x1.47c1d4p-33f));
  p = MAD(p, t, POWER_CONSTANT(0x1.38e5ccp-6f, -0x1.78bcfp-31f));
  p = MAD(p, t, POWER_CONSTANT(-0x1.8ff3a8p-5f, 0x1.f07b4cp-30f));
  p = MAD(p, t, POWER_CONSTANT(0x1.68614ep-4f, 0x1.47ac04p-34f));
  p = MAD(p, t, POWER_CONSTANT(-0x1.d76848p-4f, 0x1.be312p-31f));
  p = MAD(p, t, POWER_CONSTANT(0x1.8f702ap-4f, 0x1.7a5b14p-30f));
  p = MAD(p, t, POWER_CONSTANT(-0x1.59e2bcp-7f, -0x1.1b6598p-32f));
  p = MAD(p, t, POWER_CONSTANT(-0x1.1ebd22p-3f, -0x1.6fbd48p-33f));
  p = MAD(p, t, POWER_CONSTANT(0x1.3e0a9ap+0f, -0x1.7c8d38p-26f));
  const double far = p / (1 + 2 * x) * binary_exponential(-x * x * POWER_CONSTANT(0x1.715476p+0f, 0x1.4ae0cp-26f));
  return isnan(a) ? a : (float)(a < 0 ? 2 - far : far);
}
#else
#define float_asinh asinh
#define float_acosh acosh
#define float_atanh atanh
#define float_erfc erfc
#endif
