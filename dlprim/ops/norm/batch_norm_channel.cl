// The numbers of a channel that kernels of batch normalisation read, and the activation behind it. Macros: STORAGE,
// REAL, LOAD, STORE (dtype_defines of x).
//
// ACTIVATION and ACTIVATION_GRADIENT, where they are defined: expressions of the pointwise table, over a, and over g, a
// and y, that are computed on what is normalised before it is stored (pointwise/epilogue.h).
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"
#include "ops/norm/moments.cl"
#include "ops/norm/norm_shared.h"

// dx = (dy - along_dy - (x - mean) along_x) * scale
typedef struct {
  REAL mean, scale, along_dy, along_x;
} input_gradient_t;

// The values that the elementwise pass needs of channel c; without coefficients mean and invstd are constants.
inline input_gradient_t input_gradient(int c, __global const REAL *mean, __global const REAL *invstd,
                                       __global const REAL *weight, __global const REAL *coefficients) {
  input_gradient_t g;
  g.mean = mean[c];
  g.scale = weight ? invstd[c] * weight[c] : invstd[c];
  g.along_dy = coefficients ? coefficients[2 * c] : 0;
  g.along_x = coefficients ? coefficients[2 * c + 1] : 0;
  return g;
}

// The normalised value of v: fma(v - mean, scale, shift).
typedef struct {
  REAL mean, scale, shift;
} affine_t;

inline affine_t affine_of(int c, __global const REAL *mean, __global const REAL *invstd, __global const REAL *weight,
                          __global const REAL *bias) {
  affine_t a;
  a.mean = mean[c];
  a.scale = weight ? invstd[c] * weight[c] : invstd[c];
  a.shift = bias ? bias[c] : 0;
  return a;
}

// V: REAL, or a vector of it.
#define NORMALISED(V, v, affine) fma((v) - (affine).mean, (V)((affine).scale), (V)((affine).shift))
#define INPUT_GRADIENT(V, g, dy, x) (fma((x) - (g).mean, (V)(-(g).along_x), (dy) - (g).along_dy) * (g).scale)

// activated(a), and activation_gradient(g, a, y) of y = activated(a), for V.
#ifdef ACTIVATION
#define OVERLOADED static inline __attribute__((always_inline, overloadable))
#define DEFINE_EPILOGUE(V, EXP)                      \
  OVERLOADED V SIGMOID(V a) SIGMOID_BODY(V, EXP)     \
  OVERLOADED V activated(V a) { NOT_CONTRACTED return ACTIVATION; } \
  OVERLOADED V activation_gradient(V g, V a, V y) { NOT_CONTRACTED return ACTIVATION_GRADIENT; }
#define T REAL
#if SHAPE_CPU
DEFINE_EPILOGUE(REAL, EXP1)
#undef T
#define T REAL16
DEFINE_EPILOGUE(REAL16, EXP16)
#else
DEFINE_EPILOGUE(REAL, exp)
#undef T
#define T VALUES
#if WIDTH > 1
DEFINE_EPILOGUE(VALUES, exp)
#endif
#endif
#undef T
// The gradient of the normalised value from that of the result: the value is made again from x, or the result is known.
#define GRADIENT_FROM_X(V, dy, x, affine) gradient_from_input(dy, NORMALISED(V, x, affine))
#define GRADIENT_FROM_Y(dy, y) activation_gradient(dy, y, y)
#define gradient_from_input(dy, a) activation_gradient(dy, a, activated(a))
// The gradient that the sums take for it; y and daddend, where the gradient goes, may be null together.
#define EPILOGUE_PARAMETERS                                                                                   \
  BUFFER(const REAL, invstd), BUFFER(const REAL, weight), BUFFER(const REAL, bias), BUFFER(const STORAGE, y), \
      BUFFER(STORAGE, daddend),
#define BIAS_PARAMETER BUFFER(const REAL, bias),
#else
#define activated(a) (a)
#define EPILOGUE_PARAMETERS
#define BIAS_PARAMETER
#endif

// Part `id` of `count`, of n things.
#define PART_FIRST(n, id, count) (int)((long)(n) * (id) / (count))

// The parameters of the kernels that go through the elements, whichever way they do.
#define MOMENTS_PARAMETERS \
  BUFFER(const STORAGE, x), const BatchNormExtents e, const int blocks, BUFFER(ACC, partials), BUFFER(int, counts)
#define BIND_MOMENTS      \
  BIND(const STORAGE, x); \
  BIND(ACC, partials);    \
  BIND(int, counts);
#define GRADIENT_SUMS_PARAMETERS                                                                   \
  BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e, const int blocks, \
      BUFFER(const REAL, mean), EPILOGUE_PARAMETERS BUFFER(ACC, partials)
#define BIND_GRADIENT_SUMS \
  BIND(const STORAGE, dy); \
  BIND(const STORAGE, x);  \
  BIND(const REAL, mean);  \
  BIND(ACC, partials);
#define FORWARD_PARAMETERS                                                                                  \
  BUFFER(const STORAGE, x), const BatchNormExtents e, BUFFER(const REAL, mean), BUFFER(const REAL, invstd), \
      BUFFER(const REAL, weight), BUFFER(const REAL, bias), BUFFER(const STORAGE, addend), BUFFER(STORAGE, y)
#define BIND_FORWARD        \
  BIND(const STORAGE, x);   \
  BIND(const REAL, mean);   \
  BIND(const REAL, invstd); \
  BIND(STORAGE, y);
#define INPUT_GRADIENT_PARAMETERS                                                                              \
  BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e, BUFFER(const REAL, mean),     \
      BUFFER(const REAL, invstd), BUFFER(const REAL, weight), BUFFER(const REAL, coefficients), BIAS_PARAMETER \
      BUFFER(STORAGE, dx)
#define BIND_INPUT_GRADIENT \
  BIND(const STORAGE, dy);  \
  BIND(const STORAGE, x);   \
  BIND(const REAL, mean);   \
  BIND(const REAL, invstd); \
  BIND(STORAGE, dx);
