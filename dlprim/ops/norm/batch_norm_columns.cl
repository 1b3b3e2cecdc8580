// Batch normalisation of rows of channels, x [batch, channels], on CPUs: what fully connected layers give, and the
// memory of channels-last images. A work item takes a range of the rows, sixteen channels at a time. The kernels take
// what those of batch_norm.cl with the same names do; its kernels join the partial results.
#include "ops/norm/batch_norm_channel.cl"

#define ROWS 256  // that one vector sums before its sums are joined

// Sixteen neighbours of a row, or the last `lanes` of it; other lanes read 0.
#define ROW16(p) (lanes == 16 ? LOAD16(p, 0) : LOAD_UP_TO16(p, 0, lanes, 0))
#define STORE_ROW16(p, v)       \
  if (lanes == 16)              \
    STORE16(p, 0, v);           \
  else                          \
    STORE_UP_TO16(p, 0, lanes, v)

// Values of sixteen channels.
inline REAL16 of_channels(const __global REAL *values, int lanes, REAL fill) {
  REAL some[16];
  for (int l = 0; l < 16; ++l) some[l] = values && l < lanes ? values[l] : fill;
  return vload16(0, some);
}

typedef struct {
  REAL16 mean, scale, shift;
} affine16_t;

inline affine16_t affine16_of(int c, int lanes, __global const REAL *mean, __global const REAL *invstd,
                              __global const REAL *weight, __global const REAL *bias) {
  affine16_t a;
  a.mean = of_channels(mean + c, lanes, 0);
  a.scale = of_channels(invstd + c, lanes, 0);
  if (weight) a.scale *= of_channels(weight + c, lanes, 0);
  a.shift = bias ? of_channels(bias + c, lanes, 0) : 0;
  return a;
}

// The rows of this work item, and its channels by sixteens: `blocks` of those times e.parts of the rows.
#define MY_SHARE                                                                                       \
  const int part = get_global_id(0) / blocks, block = get_global_id(0) - part * blocks;                \
  const int first = PART_FIRST(e.batch, part, e.parts), end = PART_FIRST(e.batch, part + 1, e.parts);  \
  const int sixteens = (e.channels + 15) / 16;                                                         \
  const int first_sixteen = PART_FIRST(sixteens, block, blocks), end_sixteen = PART_FIRST(sixteens, block + 1, blocks);
#define FOR_MY_CHANNELS(c) for (int c = 16 * first_sixteen; c < 16 * end_sixteen; c += 16)
#define LANES_FROM(c) const int lanes = min(16, e.channels - (c));

__kernel void batch_norm_moments(MOMENTS_PARAMETERS) {
  BIND_MOMENTS
  MY_SHARE
  FOR_MY_CHANNELS(c) {
    LANES_FROM(c)
    moments_t all[16];
    for (int l = 0; l < 16; ++l) all[l] = no_moments();
    for (int from = first; from < end; from += ROWS) {
      const int count = min(ROWS, end - from);
      const __global STORAGE *rows = x + (long)from * e.channels + c;
      REAL16 sum = 0, drift = 0, squares = 0;
      for (int n = 0; n < count; ++n) sum += ROW16(rows + (long)n * e.channels);
      const REAL16 mean = sum / (REAL)count;
      for (int n = 0; n < count; ++n) {
        const REAL16 d = ROW16(rows + (long)n * e.channels) - mean;
        drift += d;
        squares = fma(d, d, squares);
      }
      REAL means[16], drifts[16], all_squares[16];
      vstore16(mean, 0, means);
      vstore16(drift, 0, drifts);
      vstore16(squares, 0, all_squares);
      for (int l = 0; l < lanes; ++l) {
        moments_t some;
        const ACC correction = (ACC)drifts[l] / count;  // what rounding took from the mean
        some.mean = means[l] + correction;
        some.m2 = all_squares[l] - correction * correction * count;
        some.count = count;
        all[l] = joined(all[l], some);
      }
    }
    for (int l = 0; l < lanes; ++l) {
      const long id = (long)(c + l) * e.parts + part;
      partials[2 * id] = all[l].mean;
      partials[2 * id + 1] = all[l].m2;
      counts[id] = all[l].count;
    }
  }
}

__kernel void batch_norm_gradient_sums(GRADIENT_SUMS_PARAMETERS) {
  BIND_GRADIENT_SUMS
  MY_SHARE
  FOR_MY_CHANNELS(c) {
    LANES_FROM(c)
#ifdef ACTIVATION
    BIND(const REAL, invstd);
    const __global STORAGE *y = OPTIONAL(y);
    __global STORAGE *daddend = OPTIONAL(daddend);
    const affine16_t affine = affine16_of(c, lanes, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
#endif
    const REAL16 means = of_channels(mean + c, lanes, 0);
    ACC all[16], all_x[16];
    for (int l = 0; l < 16; ++l) all[l] = all_x[l] = 0;
    for (int from = first; from < end; from += ROWS) {
      REAL16 sum = 0, sum_x = 0;
      for (int n = from; n < min(from + ROWS, end); ++n) {
        const long at = (long)n * e.channels + c;
        const REAL16 value = ROW16(x + at);
        REAL16 g = ROW16(dy + at);
#ifdef ACTIVATION
        if (y) {
          g = GRADIENT_FROM_Y(g, ROW16(y + at));
          STORE_ROW16(daddend + at, g);
          g = ROW16(daddend + at);  // as it is stored
        } else {
          g = GRADIENT_FROM_X(REAL16, g, value, affine);
        }
#endif
        sum += g;
        sum_x = fma(g, value - means, sum_x);
      }
      REAL sums[16], sums_x[16];
      vstore16(sum, 0, sums);
      vstore16(sum_x, 0, sums_x);
      for (int l = 0; l < 16; ++l) all[l] += sums[l], all_x[l] += sums_x[l];
    }
    for (int l = 0; l < lanes; ++l) {
      const long id = (long)(c + l) * e.parts + part;
      partials[2 * id] = all[l];
      partials[2 * id + 1] = all_x[l];
    }
  }
}

// A work item takes a range of the rows, all their channels.
#define MY_ROWS                                            \
  const int id = get_global_id(0), items = get_global_size(0); \
  const int first = PART_FIRST(e.batch, id, items), end = PART_FIRST(e.batch, id + 1, items);

__kernel void batch_norm_forward(FORWARD_PARAMETERS) {
  BIND_FORWARD
  const __global STORAGE *addend = OPTIONAL(addend);
  MY_ROWS
  for (int c = 0; c < e.channels; c += 16) {
    LANES_FROM(c)
    const affine16_t affine = affine16_of(c, lanes, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
    for (int n = first; n < end; ++n) {
      const long at = (long)n * e.channels + c;
      REAL16 v = NORMALISED(REAL16, ROW16(x + at), affine);
      if (addend) v += ROW16(addend + at);
      STORE_ROW16(y + at, activated(v));
    }
  }
}

__kernel void batch_norm_input_gradient(INPUT_GRADIENT_PARAMETERS) {
  BIND_INPUT_GRADIENT
  __global const REAL *coefficients = OPTIONAL(coefficients);
  MY_ROWS
  for (int c = 0; c < e.channels; c += 16) {
    LANES_FROM(c)
#ifdef ACTIVATION
    const affine16_t affine = affine16_of(c, lanes, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
#else
    const affine16_t affine = affine16_of(c, lanes, mean, invstd, OPTIONAL(weight), 0);
#endif
    REAL along[2][16];
    for (int l = 0; l < 16; ++l)
      for (int k = 0; k < 2; ++k) along[k][l] = coefficients && l < lanes ? coefficients[2 * (c + l) + k] : 0;
    const REAL16 along_dy = vload16(0, along[0]), along_x = vload16(0, along[1]);
    for (int n = first; n < end; ++n) {
      const long at = (long)n * e.channels + c;
      const REAL16 value = ROW16(x + at);
      REAL16 g = ROW16(dy + at);
#ifdef ACTIVATION
      g = GRADIENT_FROM_X(REAL16, g, value, affine);
#endif
      STORE_ROW16(dx + at, fma(value - affine.mean, -along_x, g - along_dy) * affine.scale);
    }
  }
}
