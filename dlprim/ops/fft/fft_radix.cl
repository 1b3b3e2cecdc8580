// Discrete Fourier transforms of 2, 3, 4, 5, 7, 8, 11 and 13 values in registers:
//   dft_R(re, im)   X[k] = sum over j of x[j] exp(-2 pi i j k / R), in place
//   VALUE           the type of a value: REAL or a vector of it, each lane by itself
#define ADD_AND_SUBTRACT(a, b)           \
  {                                      \
    const VALUE re_a = re[a], im_a = im[a]; \
    re[a] = re_a + re[b];                \
    im[a] = im_a + im[b];                \
    re[b] = re_a - re[b];                \
    im[b] = im_a - im[b];                \
  }
// x[a] times -i.
#define TURN(a)              \
  {                          \
    const VALUE re_a = re[a]; \
    re[a] = im[a];           \
    im[a] = -re_a;           \
  }
#define EXCHANGE(a, b)                      \
  {                                         \
    const VALUE re_a = re[a], im_a = im[a]; \
    re[a] = re[b];                          \
    im[a] = im[b];                          \
    re[b] = re_a;                           \
    im[b] = im_a;                           \
  }

inline void dft_2(VALUE *re, VALUE *im) { ADD_AND_SUBTRACT(0, 1) }

inline void dft_4(VALUE *re, VALUE *im) {
  ADD_AND_SUBTRACT(0, 2)
  ADD_AND_SUBTRACT(1, 3)
  TURN(3)
  ADD_AND_SUBTRACT(0, 1)
  ADD_AND_SUBTRACT(2, 3)
  EXCHANGE(1, 2)
}

inline void dft_8(VALUE *re, VALUE *im) {
  const REAL root_half = (REAL)0.70710678118654752440;
  ADD_AND_SUBTRACT(0, 4)
  ADD_AND_SUBTRACT(1, 5)
  ADD_AND_SUBTRACT(2, 6)
  ADD_AND_SUBTRACT(3, 7)
  const VALUE re_5 = re[5], re_7 = re[7];  // times exp(-i pi / 4), -i, exp(-3 i pi / 4)
  re[5] = (re_5 + im[5]) * root_half;
  im[5] = (im[5] - re_5) * root_half;
  TURN(6)
  re[7] = (im[7] - re_7) * root_half;
  im[7] = -(re_7 + im[7]) * root_half;
  ADD_AND_SUBTRACT(0, 2)
  ADD_AND_SUBTRACT(1, 3)
  TURN(3)
  ADD_AND_SUBTRACT(4, 6)
  ADD_AND_SUBTRACT(5, 7)
  TURN(7)
  ADD_AND_SUBTRACT(0, 1)
  ADD_AND_SUBTRACT(2, 3)
  ADD_AND_SUBTRACT(4, 5)
  ADD_AND_SUBTRACT(6, 7)
  EXCHANGE(1, 4)
  EXCHANGE(3, 6)
}

// The cosines and sines of 2 pi j / R for j = 0 … (R - 1) / 2, of odd lengths R.
__constant REAL turns_3[2][2] = {
    {1, -0.5},
    {0, 0.86602540378443864676}};
__constant REAL turns_5[2][3] = {
    {1, 0.3090169943749474241, -0.8090169943749474241},
    {0, 0.95105651629515357212, 0.58778525229247312917}};
__constant REAL turns_7[2][4] = {
    {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624},
    {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048}};
__constant REAL turns_11[2][6] = {
    {1, 0.84125353283118116886, 0.41541501300188642553, -0.14231483827328514044, -0.65486073394528506406,
    -0.95949297361449738989},
    {0, 0.54064081745559758211, 0.90963199535451837141, 0.98982144188093273238, 0.75574957435425828377,
    0.28173255684142969771}};
__constant REAL turns_13[2][7] = {
    {1, 0.8854560256532098959, 0.56806474673115580251, 0.12053668025532305335, -0.35460488704253562597,
    -0.74851074817110109863, -0.97094181742605202716},
    {0, 0.46472317204376854566, 0.82298386589365639458, 0.9927088740980539928, 0.93501624268541482344,
    0.66312265824079520238, 0.23931566428755776715}};

// An odd length. The factors of x[j] and x[R - j] are conjugates, so that both are taken together.
#define DFT_ODD(R)                                                                                             \
  inline void dft_##R(VALUE *re, VALUE *im) {                                                                  \
    VALUE re_sum[R / 2 + 1], im_sum[R / 2 + 1], re_apart[R / 2 + 1], im_apart[R / 2 + 1];                      \
    const VALUE re_0 = re[0], im_0 = im[0];                                                                    \
    _Pragma("unroll") for (int j = 1; j <= R / 2; ++j) {                                                       \
      re_sum[j] = re[j] + re[R - j], im_sum[j] = im[j] + im[R - j];                                            \
      re_apart[j] = re[j] - re[R - j], im_apart[j] = im[j] - im[R - j];                                        \
      re[0] += re_sum[j], im[0] += im_sum[j];                                                                  \
    }                                                                                                          \
    _Pragma("unroll") for (int k = 1; k <= R / 2; ++k) {                                                       \
      VALUE re_even = re_0, im_even = im_0, re_odd = 0, im_odd = 0;                                            \
      _Pragma("unroll") for (int j = 1; j <= R / 2; ++j) {                                                     \
        const int turns = j * k % R, is_late = turns > R / 2, angle = is_late ? R - turns : turns;             \
        const REAL cosine = turns_##R[0][angle], sine = is_late ? -turns_##R[1][angle] : turns_##R[1][angle];  \
        re_even += cosine * re_sum[j], im_even += cosine * im_sum[j];                                          \
        re_odd += sine * re_apart[j], im_odd += sine * im_apart[j];                                            \
      }                                                                                                        \
      re[k] = re_even + im_odd, im[k] = im_even - re_odd;                                                      \
      re[R - k] = re_even - im_odd, im[R - k] = im_even + re_odd;                                              \
    }                                                                                                          \
  }

DFT_ODD(3)
DFT_ODD(5)
DFT_ODD(7)
DFT_ODD(11)
DFT_ODD(13)
