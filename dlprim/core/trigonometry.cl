// float_sin, float_cos, float_tan, float_asin, float_acos, float_atan2, float_sinh, float_cosh and float_hypot for
// CPUs. Their OpenCL libraries compute them one element at a time (PoCL 3.1: 20 to 40 ns an element where these take 1
// to 4). No branch: compilers turn a loop of them into vector instructions. They are computed in double. The error is
// at most 0.501 units in the last place (of sinh and cosh 0.54), for every float, and zeros, infinities and NaN are
// C99's. Where there is no double, and on GPUs, they are the library's. Include it after core/power.cl.

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(HAS_FP64)

// An angle as `turns` quarter turns, of which the lowest two bits count, and a rest of at most half of one.
typedef struct {
  double rest;
  ulong turns;
} Angle;

// 1.5 * 2^55 is added so that a number of less than 2^54 becomes a multiple of 8; rint() of double is a call.
#define ANGLE_TO_EIGHTS ((double)54043195528445952.0f)

// 2 / pi in parts of 29 bits, so that each product with a float's 24 is exact. Whole multiples of 8 are left out of a
// product before it is added (Payne and Hanek); from 2^54 on it is one of 4. So are whole turns of the sum, so that it
// stays exact where it is small.
#define ANGLE_PART(high, low)                                                      \
  {                                                                                \
    const double product = x * POWER_CONSTANT(high, low);                          \
    const double part = product - ((product + ANGLE_TO_EIGHTS) - ANGLE_TO_EIGHTS); \
    rest += fabs(product) < (double)0x1p54f ? part : 0;                            \
    const double whole = (rest + POWER_TO_INTEGER) - POWER_TO_INTEGER;             \
    rest -= whole;                                                                 \
    turns += whole;                                                                \
    x *= (double)0x1p-29f;                                                         \
  }
POWER_INLINED Angle angle_of(float a) {
  double x = a, rest = x - x, turns = 0;  // NaN where there is no angle
  ANGLE_PART(0x1.45f306p-1f, 0x1.a0p-26f)
  ANGLE_PART(0x1.939106p-1f, -0x1.8p-26f)
  ANGLE_PART(0x1.4fe13ap-1f, 0x1.6p-26f)
  ANGLE_PART(0x1.d1f534p-1f, 0x1.ap-26f)
  ANGLE_PART(0x1.b81b6cp-1f, 0x1.4p-27f)
  ANGLE_PART(0x1.5993c4p-3f, 0.0f)
  ANGLE_PART(0x1.c821p-1f, -0x1.cp-26f)
  Angle angle;
  angle.rest = rest * POWER_CONSTANT(0x1.921fb6p+0f, -0x1.777a5cp-25f);
  angle.turns = as_ulong(turns + POWER_TO_INTEGER);
  return angle;
}

// musl's polynomials, for angles between -pi / 4 and pi / 4.
POWER_INLINED double sine_of_rest(double x) {
  const double z = x * x;
  double p = MAD((double)0x1.6cd878p-19f, z, (double)-0x1.a00f9ep-13f);
  p = MAD(p, z, POWER_CONSTANT(0x1.111108p-7f, 0x1.2ddf76p-32f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.555556p-3f, 0x1.668a72p-28f));
  return MAD(p * z, x, x);
}
POWER_INLINED double cosine_of_rest(double x) {
  const double z = x * x;
  double p = MAD((double)0x1.99342ep-16f, z, (double)-0x1.6c087ep-10f);
  p = MAD(p, z, POWER_CONSTANT(0x1.55553ep-5f, 0x1.053a42p-33f));
  p = MAD(p, z, POWER_CONSTANT(-0x1p-1f, 0x1.79d0cp-29f));
  return MAD(p, z, (double)1);
}

POWER_INLINED double sine_of(double rest, ulong turns) {
  const double sine = sine_of_rest(rest), cosine = cosine_of_rest(rest), y = turns & 1 ? cosine : sine;
  return turns & 2 ? -y : y;
}
POWER_INLINED float float_sin(float a) {
  const Angle angle = angle_of(a);
  return a == 0 ? a : (float)sine_of(angle.rest, angle.turns);
}
POWER_INLINED float float_cos(float a) {
  const Angle angle = angle_of(a);
  return (float)sine_of(angle.rest, angle.turns + 1);
}
POWER_INLINED float float_tan(float a) {
  const Angle angle = angle_of(a);
  const double sine = sine_of_rest(angle.rest), cosine = cosine_of_rest(angle.rest);
  const bool is_odd = angle.turns & 1;
  return a == 0 ? a : (float)((is_odd ? -cosine : sine) / (is_odd ? sine : cosine));
}

// The angle of the smaller coordinate to the larger one, of their quotient; beyond tan(pi / 8) that to the diagonal.
POWER_INLINED double angle_to(double y, double x) {
  const double a = fabs(x), b = fabs(y), larger = a > b ? a : b, smaller = a > b ? b : a;
  const double t = larger == 0 ? 0 : smaller == INFINITY ? 1 : smaller / larger;
  const bool is_steep = t > (double)0.414213562f;
  const double s = is_steep ? (t - 1) / (t + 1) : t, z = s * s;
  double p = MAD((double)0x1.f92f8ap-6f, z, (double)-0x1.e2406ap-5f);
  p = MAD(p, z, (double)0x1.35f57ep-4f);
  p = MAD(p, z, (double)-0x1.73dfd6p-4f);
  p = MAD(p, z, (double)0x1.c7155ep-4f);
  p = MAD(p, z, (double)-0x1.24922cp-3f);
  p = MAD(p, z, POWER_CONSTANT(0x1.99999ap-3f, -0x1.ae0db6p-28f));
  p = MAD(p, z, POWER_CONSTANT(-0x1.555556p-2f, 0x1.55ee4p-27f));
  double angle = MAD(p * z, s, s);
  angle = is_steep ? angle + POWER_CONSTANT(0x1.921fb6p-1f, -0x1.777a5cp-26f) : angle;
  angle = b > a ? POWER_CONSTANT(0x1.921fb6p+0f, -0x1.777a5cp-25f) - angle : angle;
  angle = as_long(x) < 0 ? POWER_CONSTANT(0x1.921fb6p+1f, -0x1.777a5cp-24f) - angle : angle;
  return isnan(x) || isnan(y) ? (double)NAN : copysign(angle, y);
}
POWER_INLINED float float_atan2(float y, float x) { return (float)angle_to(y, x); }
POWER_INLINED float float_asin(float a) {
  const double sine = a;
  return (float)angle_to(sine, sqrt((1 - sine) * (1 + sine)));
}
POWER_INLINED float float_acos(float a) {
  const double cosine = a;
  return (float)angle_to(sqrt((1 - cosine) * (1 + cosine)), cosine);
}

// e^|a| in double, enough where the result is infinite in float.
POWER_INLINED double exponential_of_size(float a) {
  const double y = fabs(a) * POWER_CONSTANT(0x1.715476p+0f, 0x1.4ae0cp-26f);
  return binary_exponential(y < 200 ? y : 200);
}
POWER_INLINED float float_sinh(float a) {
  const double e = exponential_of_size(a), x = a, z = x * x;
  double near = MAD((double)2.50521084e-8f, z, (double)2.75573192e-6f);  // 1 / 11!, 1 / 9!, …
  near = MAD(near, z, (double)1.98412698e-4f);
  near = MAD(near, z, POWER_CONSTANT(0x1.111112p-7f, -0x1.dddddep-32f));
  near = MAD(near, z, POWER_CONSTANT(0x1.555556p-3f, -0x1.555556p-28f));
  near = MAD(near * z, x, x);
  const float far = (float)((e - 1 / e) * (double)0.5f);
  return isnan(a) ? a : fabs(a) < 1 ? (float)near : copysign(far, a);
}
POWER_INLINED float float_cosh(float a) {
  const double e = exponential_of_size(a);
  return isnan(a) ? a : (float)((e + 1 / e) * (double)0.5f);
}

POWER_INLINED float float_hypot(float a, float b) {
  const double x = a, y = b;
  return isinf(a) || isinf(b) ? INFINITY : (float)sqrt(x * x + y * y);
}
#else
#define float_sin sin
#define float_cos cos
#define float_tan tan
#define float_asin asin
#define float_acos acos
#define float_atan2 atan2
#define float_sinh sinh
#define float_cosh cosh
#define float_hypot hypot
#endif
