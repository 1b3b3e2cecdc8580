// Helpers of the pointwise table's expressions, for the compute type T (T_IS_FLOATING: 1 for float and double).

#if T_IS_FLOATING
#include "ops/pointwise/elementary.cl"

#define PI 3.14159265358979323846
#define ABS(x) fabs(x)
#define SIGN(x) ((T)((x) > 0) - (T)((x) < 0))
#define FLOOR(x) floor(x)
#define CEIL(x) ceil(x)
#define ROUND(x) rint(x)
#define TRUNC(x) trunc(x)
#define ISNAN(x) isnan(x)
#define ISINF(x) isinf(x)
#define ISFINITE(x) isfinite(x)
#define BITWISE_NOT(x) (x)

INLINED T POW(T a, T b) { return sizeof(T) == 8 ? (T)POWER_OF(double)(a, b) : (T)POWER_OF(float)(a, b); }

// PyTorch's floor division: the exact remainder decides, so that a quotient that rounds up is corrected.
INLINED T FLOOR_DIVIDE(T a, T b) {
  const T mod = FMOD(a, b), nearest = (a - mod) / b;
  const T quotient = mod != 0 && (b < 0) != (mod < 0) ? nearest - 1 : nearest, floored = floor(quotient);
  const T whole = quotient - floored > (T)0.5 ? floored + 1 : floored;
  return b == 0 ? a / b : quotient == 0 ? copysign((T)0, a / b) : whole;
}
INLINED T TRUNC_DIVIDE(T a, T b) { return trunc(a / b); }
INLINED T REMAINDER(T a, T b) {
  const T mod = FMOD(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}
// CPUs have no instruction for what is neither less, more nor unordered. PoCL 3.1 branches at each element of a loop
// that stores it, which takes 8 ns, where this takes 0.1.
#if SHAPE_CPU
INLINED bool float_equal(float a, float b) {
  return ((as_int(a) == as_int(b)) & (a == a)) | (((as_int(a) | as_int(b)) & 0x7fffffff) == 0);
}
#else
#define float_equal(a, b) ((a) == (b))
#endif
INLINED bool EQUAL(T a, T b) { return sizeof(T) == 8 ? a == b : float_equal(a, b); }
// NaN wins. A plain comparison takes the second where one is NaN; PoCL calls a function for fmax and fmin.
INLINED T MAXIMUM(T a, T b) {
  const T larger = a > b ? a : b;
  return a == a ? larger : a;
}
INLINED T MINIMUM(T a, T b) {
  const T smaller = a < b ? a : b;
  return a == a ? smaller : a;
}
INLINED T CLAMP(T a, T low, T high) { return MINIMUM(MAXIMUM(a, low), high); }

INLINED T SIGMOID(T a) SIGMOID_BODY(T, EXP)
INLINED T LOGSIGMOID(T a) { return fmin(a, (T)0) - LOG1P(EXP(-fabs(a))); }
// Equal infinities have no difference to take.
INLINED T LOGADDEXP(T a, T b) { return a == b ? a + (T)0.693147180559945309 : fmax(a, b) + LOG1P(EXP(-fabs(a - b))); }
INLINED T LOGADDEXP2(T a, T b) {
  return a == b ? a + 1 : fmax(a, b) + LOG1P(EXP2(-fabs(a - b))) * (T)1.442695040888963407;
}
INLINED T LOGIT(T a) { return LOG(a / (1 - a)); }
INLINED T XLOGY(T a, T b) { return isnan(b) ? b : a == 0 ? (T)0 : a * LOG(b); }
INLINED T XLOG1PY(T a, T b) { return isnan(b) ? b : a == 0 ? (T)0 : a * LOG1P(b); }
// With e = exp(a) and n = e (e + 2), tanh(log(1 + e)) is n / (n + 2): one rounded function instead of three.
INLINED T TANH_SOFTPLUS(T a) {
  const T e = EXP(a), n = e * (e + 2);
  return a > 20 ? (T)1 : n / (n + 2);
}
INLINED T MISH_SLOPE(T a) {
  const T e = EXP(a), n = e * (e + 2);
  return a > 20 ? (T)1 : (n * (n + 2) + 4 * (a * e) * (1 + e)) / ((n + 2) * (n + 2));
}
#define GELU_INNER(a) ((T)0.797884560802865356 * ((a) + (T)0.044715 * (a) * (a) * (a)))
#define GELU_INNER_SLOPE(a) ((T)0.797884560802865356 * (1 + (T)0.134145 * (a) * (a)))
// Exactly 1 where it rounds to 1: some devices' tanh is off by a unit there, and its derivative 1 - tanh^2 by
// everything.
INLINED T TANH(T a) {
  const T y = PLAIN_TANH(a), saturated = sizeof(T) == 8 ? (T)19.1 : (T)9.1;
  return fabs(a) > saturated || fabs(y) > 1 ? copysign((T)1, a) : y;
}
// A step of Newton's towards the inverse of erf at a.
INLINED T ERFINV_STEP(T y, T a) { return y - (ERF(y) - a) / ((T)1.128379167095512574 * EXP(-y * y)); }
// erfinv(a) / a by polynomials of w = -log(1 - a^2) and of its root (Giles, "Approximating the erfinv function", 2011).
// They are minimax fits, as precise as float32. Steps lead to float64, in no loop, as PoCL keeps loops.
INLINED T ERFINV(T a) {
  const T w = -LOG((1 - a) * (1 + a));
  const bool central = w < 5;
  const T u = central ? w : sqrt(w) - 3;
  T y = central ? (T)-8.7910192e-09 : (T)0;
  y = y * u + (central ? (T)2.21030557e-07 : (T)-0.000165430959);
  y = y * u + (central ? (T)-1.97646167e-06 : (T)8.61106295e-05);
  y = y * u + (central ? (T)3.98323994e-06 : (T)0.00130022815);
  y = y * u + (central ? (T)4.45652099e-05 : (T)-0.00366014024);
  y = y * u + (central ? (T)-0.000127481639 : (T)0.00576179781);
  y = y * u + (central ? (T)-0.00233429619 : (T)-0.00762530361);
  y = y * u + (central ? (T)0.0115486539 : (T)0.00943562265);
  y = y * u + (central ? (T)0.232013818 : (T)1.00167418);
  y = y * u + (central ? (T)0.88622692 : (T)2.83297699);
  y *= a;
  if (sizeof(T) == 8) y = ERFINV_STEP(ERFINV_STEP(y, a), a);
  return fabs(a) < 1 ? y : fabs(a) == 1 ? copysign((T)INFINITY, a) : (T)NAN;
}
// The derivative of sinc(a).
static T SINC_SLOPE(T a) {
  const T scaled = (T)PI * a;
  return scaled * a == 0 ? (T)0 : (scaled * cospi(a) - sinpi(a)) / (scaled * a);
}
// The logarithmic derivative of the gamma function. Its recurrence leads up to 10, from where on the asymptotic series
// is exact. The reflection of a negative number takes its distance from the nearest pole, which has all digits.
static T DIGAMMA(T a) {
  if (a == 0) return copysign((T)INFINITY, -a);
  T y = 0;
  if (a < 0) {
    const T distance = a - rint(a);
    if (distance == 0 || isinf(a)) return (T)NAN;
    y = -(T)PI / tan((T)PI * distance);
    a = 1 - a;
  }
  for (; a < 10; ++a) y -= 1 / a;
  const T z = 1 / (a * a);
  T series = (T)(1.0 / 12);
  series = series * z - (T)(691.0 / 32760);
  series = series * z + (T)(1.0 / 132);
  series = series * z - (T)(1.0 / 240);
  series = series * z + (T)(1.0 / 252);
  series = series * z - (T)(1.0 / 120);
  series = series * z + (T)(1.0 / 12);
  return y + LOG(a) - (T)0.5 / a - series * z;
}
// The derivative of DIGAMMA, in the same way. The series is as short as PyTorch's, with an error of up to 1e-9.
static T TRIGAMMA(T a) {
  const bool is_reflected = a < (T)0.5;
  const T sine = sinpi(a);
  if (is_reflected) a = 1 - a;
  T y = 0;
  for (int step = 0; step < 6; ++step, ++a) y += 1 / (a * a);
  const T z = 1 / (a * a);
  y += (1 + 1 / (2 * a) + z * ((T)(1.0 / 6) - z * ((T)(1.0 / 30) - z * (T)(1.0 / 42)))) / a;
  return is_reflected ? (T)(PI * PI) / (sine * sine) - y : y;
}
// The sum of (a + k)^-s over k = 0, 1, …: the first terms, and the rest by the formula of Euler and Maclaurin (Cephes'
// zeta).
static T HURWITZ_ZETA(T s, T a) {
  const T eps = sizeof(T) == 4 ? (T)1.1920929e-7f : (T)2.220446049250313e-16;
  const T factors[12] = {(T)12,           (T)-720,          (T)30240,           (T)-1209600,
                         (T)47900160,     (T)-1.8924375803183791606e9,  (T)7.47242496e10, (T)-2.950130727918164224e12,
                         (T)1.1646782814350067249e14, (T)-4.5979787224074726105e15,
                         (T)1.8152105401943546773e17, (T)-7.1661652561756670113e18};
  if (a <= 0 && a == floor(a)) return INFINITY;
  const T furthest = sizeof(T) == 4 ? (T)-1e3f : (T)-1e5;  // what lies beyond adds less than is rounded
  if (a < furthest) a = furthest + (a - floor(a));
  T sum = POW(a, -s), term = 0;
  for (int step = 0; step < 9 || a <= 9; ++step) {
    a += 1;
    term = POW(a, -s);
    sum += term;
    if (fabs(term) < eps * fabs(sum)) return sum;
  }
  sum += term * a / (s - 1) - term / 2;
  T rising = 1;
  for (int i = 0; i < 12; ++i) {
    rising *= s + 2 * i;
    term /= a;
    const T next = rising * term / factors[i];
    sum += next;
    if (fabs(next) < eps * fabs(sum)) break;
    rising *= s + 2 * i + 1;
    term /= a;
  }
  return sum;
}
// The derivative of DIGAMMA of the order n.
static T POLYGAMMA(T n, T a) {
  if (n == 0) return DIGAMMA(a);
  if (n == 1) return TRIGAMMA(a);
  T factorial = 1;
  for (T i = 2; i <= n && factorial < INFINITY; ++i) factorial *= i;
  return (fmod(n, 2) == 0 ? -factorial : factorial) * HURWITZ_ZETA(n + 1, a);
}
// It starts from the nearer of the two ends, so it is exact at both.
static T LERP(T a, T b, T weight) {
  return fabs(weight) < (T)0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}
static T INVERSE(T a) { return a == 0 ? (T)0 : 1 / a; }
#define SELU_ALPHA ((T)1.6732632423543772848170429916717)
#define SELU_SCALE ((T)1.0507009873554804934193349852946)

#else
#define EQUAL(a, b) ((a) == (b))
#define ABS(x) max(x, -(x))  // Oclgrind 21.10 does not know the intrinsic that a comparison becomes
#define SIGN(x) ((T)((x) > 0) - (T)((x) < 0))
#define FLOOR(x) (x)
#define CEIL(x) (x)
#define ROUND(x) (x)
#define TRUNC(x) (x)
#define ISNAN(x) 0
#define ISINF(x) 0
#define ISFINITE(x) 1
#define BITWISE_NOT(x) (is_bool ? (T) !(x) : ~(x))  // is_bool: a constant of every integer variant

// Division by zero has no defined result in OpenCL C and traps on CPUs; here it gives 0 and fails the check that the
// programs of these functions take (pointwise_source.cpp).
static T quotient_of(T a, T b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
static T remainder_of(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
static T floored_quotient_of(T a, T b) {
  const T quotient = quotient_of(a, b);
  return remainder_of(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
static T floored_remainder_of(T a, T b) {
  const T mod = remainder_of(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}
static T checked_divisor(T a, T b, CHECK_ARGS) {
  if (b == 0) FAIL(a);
  return b;
}
#define DIVISOR(a, b) checked_divisor(a, b, error_word, error_code)
#define TRUNC_DIVIDE(a, b) quotient_of(a, DIVISOR(a, b))
#define FMOD(a, b) remainder_of(a, DIVISOR(a, b))
#define FLOOR_DIVIDE(a, b) floored_quotient_of(a, DIVISOR(a, b))
#define REMAINDER(a, b) floored_remainder_of(a, DIVISOR(a, b))
static T MAXIMUM(T a, T b) { return max(a, b); }
static T MINIMUM(T a, T b) { return min(a, b); }
static T CLAMP(T a, T low, T high) { return min(max(a, low), high); }
static T POW(T a, T b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  T result = 1;
  for (; b > 0; b >>= 1, a *= a)
    if (b & 1) result *= a;
  return result;
}
#define LEFT_SHIFT(a, b) ((b) < 0 || (b) > 63 ? 0 : (a) << (b))
#define RIGHT_SHIFT(a, b) ((a) >> ((b) < 0 || (b) > 63 ? 63 : (b)))
#endif

#define TRUTH(x) ((x) != 0)
// The gradient that the larger of two numbers gets; equal ones share it, and both get it when one is NaN.
#define MAXIMUM_SHARE(g, a, b) ((a) < (b) ? (T)0 : (a) == (b) ? (g) / 2 : (g))
