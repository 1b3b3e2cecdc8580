// float_power(a, b) and double_power(a, b): pow() of C99 for CPUs, zeros, infinities and NaN included. Their OpenCL
// libraries compute it one element at a time (PoCL 5: 100 ns an element where these take 1 and 4). No branch: compilers
// turn a loop of it into vector instructions. The error is at most 0.55 units in the last place, in double 0.75.
//
// |a|^b = 2^(b log2 |a|), where |a| = 2^e m, m lies between sqrt(1/2) and sqrt(2), and log m is a series of
// (m - 1) / (m + 1). POWER_OF(REAL) is the one of REAL; elsewhere pow(). float_log2(a), float_log10(a) and
// float_exp2(a) come with them. Include it after core/common.cl.
#include "core/multiply_add.cl"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(HAS_FP64)
#define POWER_INLINED static inline __attribute__((always_inline))

// A double in programs whose constants are all float (-cl-single-precision-constant).
#define POWER_CONSTANT(high, low) ((double)(high) + (low))
// 1.5 * 2^52: it is added so that a number's lowest bits are its integer. 2^52: so that lowest bits become a number.
#define POWER_TO_INTEGER ((double)6755399441055744.0f)
#define POWER_FROM_INTEGER ((double)4503599627370496.0f)

// The biased exponent of the power of two that leaves `bits`, of a positive normal number, between sqrt(1/2) and
// sqrt(2).
POWER_INLINED ulong power_exponent(ulong bits) { return (bits + 0x00095f619980c433UL) >> 52; }
POWER_INLINED double power_mantissa(ulong bits, ulong exponent) {
  return as_double(bits - (exponent << 52) + 0x3ff0000000000000UL);
}
POWER_INLINED double power_number(ulong exponent) {
  return as_double(exponent | as_ulong(POWER_FROM_INTEGER)) - POWER_FROM_INTEGER;
}

// The result's sign and NaN, which 2^(b log2 |a|) does not give. `product` is the exponent b log2 |a|.
#define POWER_RESULT(REAL, a, b, product, magnitude)                                                             \
  const REAL half_b = b * (REAL)0.5f;                                                                            \
  const bool is_whole = rint(b) == b, is_odd = is_whole && rint(half_b) != half_b;                               \
  const bool is_undefined = (a < 0 && a > -INFINITY && !is_whole) || isnan(product);                             \
  return is_undefined ? (REAL)NAN : is_odd ? copysign(magnitude, a) : magnitude;

// log2(x) of a positive number or infinity; -infinity of 0. The logarithm of numbers that are floats, which are
// normal in double. `near` is (x - 1) / (x + 1), taken where x lies between sqrt(1/2) and sqrt(2): near 1 it has the
// digits that x has lost.
POWER_INLINED double binary_log_near(double x, double near) {
  const ulong bits = as_ulong(x), exponent = power_exponent(bits);
  const double m = power_mantissa(bits, exponent), s = exponent == 1023 ? near : (m - 1) / (m + 1), u = s * s;
  double log = MAD((double)0.340725541f, u, (double)0.41167298f);
  log = MAD(log, u, (double)0.577083588f);
  log = MAD(log, u, POWER_CONSTANT(0.961796701f, -2.75864611e-08f));
  log = MAD(log, u, POWER_CONSTANT(2.88539004f, 3.85313932e-08f));
  log = MAD(log, s, power_number(exponent) - 1023);
  return x > 0 && x < INFINITY ? log : x == 0 ? -(double)INFINITY : x;
}
POWER_INLINED double binary_log(double x) { return binary_log_near(x, (x - 1) / (x + 1)); }

POWER_INLINED float float_log2(float a) { return a < 0 ? NAN : (float)binary_log(a); }
POWER_INLINED float float_log10(float a) {
  return a < 0 ? NAN : (float)(binary_log(a) * POWER_CONSTANT(0x1.344136p-2f, -0x1.ec10cp-27f));
}

// 2^y of a number between -200 and 200, to what a float needs.
POWER_INLINED double binary_exponential(double y) {
  const double t = y + POWER_TO_INTEGER, r = y - (t - POWER_TO_INTEGER);
  double p = MAD((double)0.000154758964f, r, (double)0.00134002836f);
  p = MAD(p, r, (double)0.00961800572f);
  p = MAD(p, r, (double)0.055503279f);
  p = MAD(p, r, POWER_CONSTANT(0.240226507f, 6.13720808e-09f));
  p = MAD(p, r, POWER_CONSTANT(0.693147182f, 2.38243274e-08f));
  p = MAD(p, r, (double)1);
  return as_double(as_ulong(p) + (as_ulong(t) << 52));
}

POWER_INLINED float float_exp2(float a) {
  const double y = a < -200 ? -200 : a > 200 ? 200 : a;
  return isnan(a) ? a : (float)binary_exponential(y);
}

// In double: a float's 24 bits, those of its exponent and a few more fit into its 53.
POWER_INLINED float float_power(float a, float b) {
  const double log = binary_log(fabs(a));
  const double product = log == 0 || b == 0 ? 0 : (double)b * log;
  const double y = product < -200 ? -200 : product > 200 ? 200 : product;
  const float magnitude = (float)binary_exponential(y);
  POWER_RESULT(float, a, b, product, magnitude)
}

// Twice as precise: a number is the sum of two, the second of which is less than a unit in the last place of the first.
typedef struct {
  double high, low;
} PowerSum;

// The product without rounding: by fma() where the device has it, else by halves (Dekker 1971).
POWER_INLINED PowerSum power_product(double a, double b) {
  PowerSum y;
  y.high = a * b;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  y.low = fma(a, b, -y.high);
#else
  const double a_high = as_double(as_ulong(a) & 0xfffffffff8000000UL), a_low = a - a_high;
  const double b_high = as_double(as_ulong(b) & 0xfffffffff8000000UL), b_low = b - b_high;
  y.low = a_low * b_low - (((y.high - a_high * b_high) - a_low * b_high) - a_high * b_low);
#endif
  return y;
}
// One step of a polynomial. A function, since programs of float have no constants of double.
POWER_INLINED double power_step(double a, double b, double c) { return MAD(a, b, c); }
// The sum without rounding, where |a| >= |b| or a is 0.
POWER_INLINED PowerSum power_sum(double a, double b) {
  PowerSum y;
  y.high = a + b;
  y.low = b - (y.high - a);
  return y;
}

POWER_INLINED double double_power(double a, double b) {
  const double x = fabs(a);
  const bool is_tiny = as_ulong(x) < 0x0010000000000000UL;  // below the normal numbers, whose exponents the bits tell
  const ulong bits = as_ulong(is_tiny ? x * 18014398509481984.0 : x), exponent = power_exponent(bits);
  const double m = power_mantissa(bits, exponent), e = power_number(exponent) - (is_tiny ? 1077 : 1023);

  // s + s_low = (m - 1) / (m + 1); m - 1 is exact
  const PowerSum below = power_sum(m > 1 ? m : 1, m > 1 ? 1 : m);
  const double above = m - 1, s = above / below.high;
  const PowerSum back = power_product(s, below.high);
  const double s_low = ((above - back.high) - back.low - s * below.low) / below.high;
  // log m = 2 s + s^3 (2/3 + s^2 (2/5 + …))
  PowerSum u = power_product(s, s);
  u.low += 2 * s * s_low;
  const double v = u.high;
  double tail = power_step(2.0 / 29.0, v, 2.0 / 27.0);
  tail = power_step(tail, v, 2.0 / 25.0);
  tail = power_step(tail, v, 2.0 / 23.0);
  tail = power_step(tail, v, 2.0 / 21.0);
  tail = power_step(tail, v, 2.0 / 19.0);
  tail = power_step(tail, v, 2.0 / 17.0);
  tail = power_step(tail, v, 2.0 / 15.0);
  tail = power_step(tail, v, 2.0 / 13.0);
  tail = power_step(tail, v, 2.0 / 11.0);
  tail = power_step(tail, v, 2.0 / 9.0);
  tail = power_step(tail, v, 2.0 / 7.0);
  const PowerSum third = power_sum(0.4, power_step(tail, v, 2.2204460492503132e-17));
  PowerSum inner = power_product(u.high, third.high);
  inner.low += u.high * third.low + u.low * third.high;
  const PowerSum factor = power_sum(0.66666666666666663, inner.high);
  const double factor_low = factor.low + (inner.low + 3.7007434154171886e-17);
  PowerSum cube = power_product(s, u.high);
  cube.low += s * u.low + s_low * u.high;
  PowerSum rest = power_product(cube.high, factor.high);
  rest.low += cube.high * factor_low + cube.low * factor.high;
  // log x = e log 2 + 2 s + rest, where e times the first part of log 2 is exact
  const double of_e = e * 0.693147180559890330187045037746429443359375;
  const PowerSum most = power_sum(of_e, 2 * s), whole = power_sum(most.high, rest.high);
  const PowerSum log = power_sum(whole.high, whole.low + most.low + (rest.low + 2 * s_low + e * 5.497923018708371e-14));

  const bool is_plain = x > 0 && x < INFINITY;
  const double high = is_plain ? log.high : x == 0 ? -(double)INFINITY : x;
  PowerSum y = power_product(b, log.high);
  const double product = high == 0 || b == 0 ? 0 : b * high;
  const bool is_finite = is_plain && fabs(product) < 1000;  // of 2^1074 and less the logarithm is less than 745
  const double held = product < -800 ? -800 : product > 800 ? 800 : product;
  y.low = is_finite && product != 0 ? y.low + b * log.low : 0;
  // 2^j exp(r + r_low)
  const double t = power_step(held, 1.4426950408889634, POWER_TO_INTEGER), j = t - POWER_TO_INTEGER;
  const PowerSum r = power_sum(power_step(j, -0.693147180559890330187045037746429443359375, held),
                               power_step(j, -5.497923018708371e-14, y.low));
  double p = power_step(1.0 / 87178291200.0, r.high, 1.0 / 6227020800.0);
  p = power_step(p, r.high, 1.0 / 479001600.0);
  p = power_step(p, r.high, 1.0 / 39916800.0);
  p = power_step(p, r.high, 1.0 / 3628800.0);
  p = power_step(p, r.high, 1.0 / 362880.0);
  p = power_step(p, r.high, 1.0 / 40320.0);
  p = power_step(p, r.high, 1.0 / 5040.0);
  p = power_step(p, r.high, 1.0 / 720.0);
  p = power_step(p, r.high, 1.0 / 120.0);
  p = power_step(p, r.high, 1.0 / 24.0);
  p = power_step(p, r.high, 1.0 / 6.0);
  p = power_step(p, r.high, 0.5);
  const PowerSum most_of_p = power_sum(1, r.high);
  p = most_of_p.high + (most_of_p.low + (r.low + MAD(p, r.high * r.high, r.high * r.low)));
  // In two factors: it may be less than the least normal number.
  const long exponent_of_two = as_long(t) - as_long(POWER_TO_INTEGER), part = exponent_of_two / 2;
  const double magnitude = p * as_double((part + 1023) << 52) * as_double((exponent_of_two - part + 1023) << 52);
  POWER_RESULT(double, a, b, product, magnitude)
}
#define POWER_OF(REAL) JOIN(REAL, _power)
#else
#define float_exp2 exp2
#define float_log2 log2
#define float_log10 log10
#define POWER_OF(REAL) pow
#endif
