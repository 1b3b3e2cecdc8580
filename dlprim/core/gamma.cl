// float_lgamma(a): the logarithm of |gamma(a)| for CPUs. Their libraries compute it one element at a time (PoCL 3.1:
// 200 ns an element, where this takes 8). It is computed in double, without a branch, to 15 digits: near the roots that
// negative numbers have, terms of size 1 leave 1e-7. The error is at most 0.504 units in the last place above 1/2 and
// 0.57 below. The few numbers next to such a root are off by up to 300, where PyTorch's are by thousands. Include it
// after core/power.cl.

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(HAS_FP64)

// log(x) of a positive number that is normal in double, to 15 digits. `near` is (x - 1) / (x + 1), as in
// binary_log_near().
POWER_INLINED double gamma_log(double x, double near) {
  const ulong bits = as_ulong(x), exponent = power_exponent(bits);
  const double m = power_mantissa(bits, exponent), s = exponent == 1023 ? near : (m - 1) / (m + 1), u = s * s;
  double p = POWER_CONSTANT(0x1.2b584ap-3f, 0x1.5cf14ap-28f);
  p = MAD(p, u, POWER_CONSTANT(0x1.39fe6p-3f, 0x1.950b78p-29f));
  p = MAD(p, u, POWER_CONSTANT(0x1.7462b4p-3f, 0x1.565deep-28f));
  p = MAD(p, u, POWER_CONSTANT(0x1.c71c62p-3f, 0x1.cb0014p-28f));
  p = MAD(p, u, POWER_CONSTANT(0x1.24924ap-2f, -0x1.a41d6ep-27f));
  p = MAD(p, u, POWER_CONSTANT(0x1.99999ap-2f, -0x1.99ab48p-28f));
  p = MAD(p, u, POWER_CONSTANT(0x1.555556p-1f, -0x1.555554p-26f));
  return MAD(power_number(exponent) - 1023, POWER_CONSTANT(0x1.62e43p-1f, -0x1.05c61p-29f), MAD(p * u, s, 2 * s));
}

// log(gamma(2 + u)) / u for u between -1/2 and 1/2.
POWER_INLINED double gamma_near_2(double u) {
  double p = POWER_CONSTANT(0x1.41cc38p-20f, -0x1.48cdbp-46f);
  p = MAD(p, u, POWER_CONSTANT(-0x1.56ea32p-19f, 0x1.38a092p-46f));
  p = MAD(p, u, POWER_CONSTANT(0x1.1ea704p-18f, -0x1.0acdbp-43f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.3564e6p-17f, 0x1.d69566p-42f));
  p = MAD(p, u, POWER_CONSTANT(0x1.586dc6p-16f, 0x1.7194f8p-43f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.7943e2p-15f, 0x1.b6c412p-40f));
  p = MAD(p, u, POWER_CONSTANT(0x1.a124d8p-14f, 0x1.ee2fe8p-40f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.d3fa4ap-13f, 0x1.bad3aep-41f));
  p = MAD(p, u, POWER_CONSTANT(0x1.0b36b6p-11f, -0x1.4700d8p-36f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.38ac62p-10f, -0x1.623f52p-36f));
  p = MAD(p, u, POWER_CONSTANT(0x1.7add6ep-9f, 0x1.43fa48p-34f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.e404fcp-8f, -0x1.52871ep-36f));
  p = MAD(p, u, POWER_CONSTANT(0x1.51322ap-6f, 0x1.8fb984p-31f));
  p = MAD(p, u, POWER_CONSTANT(-0x1.13e002p-4f, 0x1.6a9906p-30f));
  p = MAD(p, u, POWER_CONSTANT(0x1.4a34ccp-2f, 0x1.2983eap-28f));
  p = MAD(p, u, POWER_CONSTANT(0x1.b0ee6p-2f, 0x1.c824f4p-28f));
  return p;
}

// |sin(pi r)| for r between -1/2 and 1/2.
POWER_INLINED double gamma_sine(double r) {
  const double z = r * r;
  double p = POWER_CONSTANT(-0x1.62903ep-16f, 0x1.fa89d6p-41f);
  p = MAD(p, z, POWER_CONSTANT(0x1.e89f7p-12f, -0x1.bb0184p-40f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.e30632p-8f, 0x1.082334p-34f));
  p = MAD(p, z, POWER_CONSTANT(0x1.507832p-4f, 0x1.c11a56p-30f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.32d2ccp-1f, -0x1.c3d428p-26f));
  p = MAD(p, z, POWER_CONSTANT(0x1.466bc6p+1f, 0x1.dd48bp-25f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.4abbcep+2f, -0x1.896f6p-24f));
  p = MAD(p, z, POWER_CONSTANT(0x1.921fb6p+1f, -0x1.777a5ep-24f));
  return fabs(p * r);
}

// One factor less: gamma(t) = (t - 1) gamma(t - 1).
#define GAMMA_STEP                           \
  {                                          \
    const bool is_above = t >= (double)2.5f; \
    t -= is_above ? 1 : 0;                   \
    product *= is_above ? t : 1;             \
  }

POWER_INLINED float float_lgamma(float a) {
  // Below 1/2: gamma(a) gamma(1 - a) = pi / sin(pi a).
  const bool is_reflected = a < 0.5f;
  const double x = is_reflected ? 1 - (double)a : (double)a;
  // Below 8 all factors down to a number near 2; below 1.5 one more than there are.
  double t = x, product = 1;
  GAMMA_STEP GAMMA_STEP GAMMA_STEP GAMMA_STEP GAMMA_STEP GAMMA_STEP
  const bool is_low = x < (double)1.5f, is_far = x >= (double)8;
  const double u = is_low ? x - 1 : t - 2, factor = is_low || is_far ? x : product;
  const double log = gamma_log(factor, (factor - 1) / (factor + 1));
  const double below = MAD(u, gamma_near_2(u), is_low ? -log : log);
  // Stirling's series.
  const double over = 1 / x, z = over * over;
  double p = MAD(z, (double)0x1.b951e2p-11f, (double)-0x1.381382p-11f);
  p = MAD(p, z, POWER_CONSTANT(0x1.a01a02p-11f, -0x1.7f97f9p-36f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.6c16c2p-9f, 0x1.f49f4ap-34f));
  p = MAD(p, z, POWER_CONSTANT(0x1.555556p-4f, -0x1.555554p-29f));
  const double far = MAD(x - (double)0.5f, log, MAD(p, over, POWER_CONSTANT(0x1.d67f1cp-1f, 0x1.9097c6p-27f) - x));
  const double right = is_far ? far : below;
  const double sine = gamma_sine((double)(a - rint(a)));
  const double left = gamma_log(POWER_CONSTANT(0x1.921fb6p+1f, -0x1.777a5cp-24f) / sine, 0) - right;
  const bool is_pole = a <= 0 && rint(a) == a;
  return isnan(a) ? a : is_pole || isinf(a) ? INFINITY : (float)(is_reflected ? left : right);
}
#else
#define float_lgamma lgamma
#endif
