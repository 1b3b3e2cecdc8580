// Elementary functions of the compute type T that compilers turn into vector instructions. OpenCL libraries for CPUs
// compute them one element at a time (PoCL 3.1's erf: 23 ns an element where these take 1), and OpenCL allows an error
// of 16 units for erf. In float the error is at most 1.1 units in the last place, whether MAD() fuses or not. In double
// they are the library's.
//
// Polynomials and reductions of arguments: N. Juffa's minimax approximations (forums.developer.nvidia.com, 2015 to
// 2023). No branch: both sides are computed, what holds is chosen.

#include "core/exponential.cl"
#include "core/power.cl"
#include "core/gamma.cl"
#include "core/logarithms.cl"
#include "core/remainder.cl"
#include "core/trigonometry.cl"

// A call that is left in a loop keeps it from being vectorised.
#define INLINED static inline __attribute__((always_inline))

// A multiple of 2^23 to take from the bits of a number so that what is left lies within a factor of two from `least`.
INLINED int exponent_above(float a, float least) { return (as_int(a) - as_int(least)) & (int)0xff800000u; }
#define PER_EXPONENT 1.1920929e-7f  // 2^-23

// The polynomial is that of Cephes' tanhf; beyond it 1 is taken from, so that what rounds is the small part.
INLINED float float_tanh(float a) {
  const float e = float_exp(-2 * fabs(a)), s = a * a;
  float r = MAD(-5.70498872745e-3f, s, 2.06390887954e-2f);
  r = MAD(r, s, -5.37397155531e-2f);
  r = MAD(r, s, 1.33314422036e-1f);
  r = MAD(r, s, -3.33332819422e-1f);
  return fabs(a) < 0.625f ? MAD(r * s, a, a) : copysign(1 - 2 * e / (1 + e), a);
}

// GPUs have an instruction for most of these.
#if defined(__x86_64__) || defined(__aarch64__)
#define FLOAT_EXP float_exp
#define FLOAT_TANH float_tanh
#else
#define FLOAT_EXP exp
#define FLOAT_TANH tanh
#endif

INLINED float float_erf(float a) {
  const float t = fabs(a), s = a * a;
  float far = MAD(MAD(-1.72853470e-5f, t, 3.83197126e-4f), s, MAD(-3.88396438e-3f, t, 2.42546219e-2f));
  far = MAD(far, t, -1.06777877e-1f);
  far = MAD(far, t, -6.34846687e-1f);
  far = MAD(far, t, -1.28717512e-1f);
  far = 1 - FLOAT_EXP(MAD(far, t, -t));
  float near = MAD(-5.96761703e-4f, s, 4.99119423e-3f);
  near = MAD(near, s, -2.67681349e-2f);
  near = MAD(near, s, 1.12819925e-1f);
  near = MAD(near, s, -3.76125336e-1f);
  near = MAD(near, s, 1.28379166e-1f);
  return t > 0.927734375f ? copysign(far, a) : MAD(near, a, a);
}

INLINED float float_log(float a) {
  const bool tiny = a < 1.17549435e-38f;  // below the normal numbers, whose exponents the bits tell
  const float b = tiny ? a * 8388608 : a;
  const int e = exponent_above(b, 2.0f / 3);
  const float f = as_float(as_int(b) - e) - 1, s = f * f;
  float r = MAD(-0.130310059f, s, -0.121483512f), t = MAD(0.140869141f, s, 0.139814854f);
  r = MAD(r, s, -0.166846126f);
  t = MAD(t, s, 0.200120345f);
  r = MAD(t, f, MAD(r, s, -0.249996200f));
  r = MAD(r, f, 0.333331972f);
  r = MAD(MAD(r, f, -0.5f), s, f);
  r = MAD(MAD((float)e, PER_EXPONENT, tiny ? -23.0f : 0.0f), 0.693147182f, r);
  return a > 0 && a < INFINITY ? r : a == 0 ? -INFINITY : a < 0 ? NAN : a;
}

INLINED float float_log1p(float a) {
  const int e = exponent_above(a + 1, 0.75f);
  const float m = as_float(as_int(a) - e) + MAD(0.25f, as_float(as_int(4.0f) - e), -1.0f),
              s = m * m;  // (1 + a) / 2^e - 1
  float r = MAD(-4.54559326e-2f, s, -1.32279763e-1f), t = MAD(1.05529785e-1f, s, 1.44911826e-1f);
  r = MAD(r, s, -1.66416913e-1f);
  t = MAD(t, s, 1.99886635e-1f);
  r = MAD(t, m, MAD(r, s, -2.50001878e-1f));
  r = MAD(r, m, 3.33335280e-1f);
  r = MAD(MAD(r, m, -0.5f), s, m);
  r = MAD((float)e * PER_EXPONENT, 0.693147182f, r);
  return a == 0 ? a : a > -1 && a < INFINITY ? r : a == -1 ? -INFINITY : a < -1 ? NAN : a;
}

INLINED float float_expm1(float a) {
  const float b = a < -30 ? -30.0f : a > 89 ? 89.0f : a;  // -1 below, infinite above
  const float j = rint(b * 1.442695f), f = MAD(j, -1.42860677e-6f, MAD(j, -6.93145752e-1f, b)), s = f * f;
  float r = MAD(1.97350979e-4f, f, 1.39309070e-3f);
  r = MAD(r, f, 8.33343994e-3f);
  r = MAD(r, f, 4.16668020e-2f);
  r = MAD(r, f, 1.66666716e-1f);
  r = MAD(r, f, 4.99999970e-1f);
  const float v = MAD(r, s, j == 1 ? f + 0.5f : f);  // exp(f) - 1, half of exp(f + log 2) - 1 where j is 1
  const float scale = as_float(((int)j + 126) << 23), y = scale - 0.5f, x = scale - y - 0.5f;  // 2^j / 2
  const float whole = MAD(v, scale, x) + y;
  return a == 0 ? a : j == 0 ? v : j == 1 ? v + v : whole + whole;
}

INLINED T EXP(T a) { return sizeof(T) == 8 ? exp(a) : (T)FLOAT_EXP(a); }
INLINED T PLAIN_TANH(T a) { return sizeof(T) == 8 ? tanh(a) : (T)FLOAT_TANH(a); }
INLINED T ERF(T a) { return sizeof(T) == 8 ? erf(a) : (T)float_erf(a); }
INLINED T LOG(T a) { return sizeof(T) == 8 ? log(a) : (T)float_log(a); }
INLINED T LOG1P(T a) { return sizeof(T) == 8 ? log1p(a) : (T)float_log1p(a); }
INLINED T EXPM1(T a) { return sizeof(T) == 8 ? expm1(a) : (T)float_expm1(a); }
INLINED T LGAMMA(T a) { return sizeof(T) == 8 ? lgamma(a) : (T)float_lgamma(a); }
INLINED T LOG2(T a) { return sizeof(T) == 8 ? log2(a) : (T)float_log2(a); }
INLINED T LOG10(T a) { return sizeof(T) == 8 ? log10(a) : (T)float_log10(a); }
INLINED T SIN(T a) { return sizeof(T) == 8 ? sin(a) : (T)float_sin(a); }
INLINED T COS(T a) { return sizeof(T) == 8 ? cos(a) : (T)float_cos(a); }
INLINED T TAN(T a) { return sizeof(T) == 8 ? tan(a) : (T)float_tan(a); }
INLINED T ASIN(T a) { return sizeof(T) == 8 ? asin(a) : (T)float_asin(a); }
INLINED T ACOS(T a) { return sizeof(T) == 8 ? acos(a) : (T)float_acos(a); }
INLINED T SINH(T a) { return sizeof(T) == 8 ? sinh(a) : (T)float_sinh(a); }
INLINED T COSH(T a) { return sizeof(T) == 8 ? cosh(a) : (T)float_cosh(a); }
INLINED T ASINH(T a) { return sizeof(T) == 8 ? asinh(a) : (T)float_asinh(a); }
INLINED T ACOSH(T a) { return sizeof(T) == 8 ? acosh(a) : (T)float_acosh(a); }
INLINED T ATANH(T a) { return sizeof(T) == 8 ? atanh(a) : (T)float_atanh(a); }
INLINED T ERFC(T a) { return sizeof(T) == 8 ? erfc(a) : (T)float_erfc(a); }
INLINED T EXP2(T a) { return sizeof(T) == 8 ? exp2(a) : (T)float_exp2(a); }
INLINED T HYPOT(T a, T b) { return sizeof(T) == 8 ? hypot(a, b) : (T)float_hypot(a, b); }
INLINED T ATAN2(T a, T b) { return sizeof(T) == 8 ? atan2(a, b) : (T)float_atan2(a, b); }
INLINED T ATAN(T a) { return sizeof(T) == 8 ? atan(a) : (T)float_atan2(a, 1); }
INLINED T FMOD(T a, T b) { return sizeof(T) == 8 ? fmod(a, b) : (T)float_fmod(a, b); }
