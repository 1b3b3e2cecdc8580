// Batch normalisation of x [batch, channels, plane]. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of x).
//
// Statistics and gradient sums come in two steps: `parts` partial results per channel, then a kernel that joins them,
// of one work item a channel or, for statistics on a GPU, a group. Shape cpu: a part is a range of images; a work item
// runs through a part of a few channels in the order of memory, which is worth more than to keep one channel in the
// cache. Shape simt: a part is a range of the channel's elements, joined by a work group in local memory.
#include "ops/norm/batch_norm_channel.cl"

inline void finish_statistics(moments_t all, int c, StatisticsOptions options, __global REAL *mean,
                              __global REAL *invstd, __global REAL *running_mean, __global REAL *running_variance) {
  mean[c] = all.mean;
  invstd[c] = 1 / sqrt(all.m2 / all.count + (ACC)options.eps);
  // Not r += momentum * (new - r), which rounds in units of r even where momentum is 1.
  const REAL kept = 1 - options.momentum;
  if (running_mean) running_mean[c] = fma(options.momentum, (REAL)all.mean, kept * running_mean[c]);
  if (running_variance)
    running_variance[c] = fma(options.momentum, (REAL)(all.m2 / (all.count - 1)), kept * running_variance[c]);
}

inline input_gradient_t finish_gradient(ACC sum_dy, ACC sum_dy_x, int c, long count, REAL mean, REAL invstd,
                                        __global const REAL *weight, __global REAL *dweight, __global REAL *dbias) {
  if (dweight) dweight[c] = sum_dy_x * invstd;
  if (dbias) dbias[c] = sum_dy;
  input_gradient_t g;
  g.mean = mean;
  g.scale = weight ? invstd * weight[c] : invstd;
  g.along_dy = sum_dy / count;
  g.along_x = sum_dy_x * invstd * invstd / count;
  return g;
}

__kernel void batch_norm_invstd(BUFFER(const REAL, variance), BUFFER(REAL, invstd), const int channels,
                                const REAL eps) {
  BIND(const REAL, variance);
  BIND(REAL, invstd);
  const int c = get_global_id(0);
  if (c < channels) invstd[c] = 1 / sqrt((ACC)variance[c] + (ACC)eps);
}

__kernel void batch_norm_join_statistics(BUFFER(const ACC, partials), BUFFER(const int, counts),
                                         const BatchNormExtents e, const StatisticsOptions options, BUFFER(REAL, mean),
                                         BUFFER(REAL, invstd), BUFFER(REAL, running_mean),
                                         BUFFER(REAL, running_variance)) {
  BIND(const ACC, partials);
  BIND(const int, counts);
  BIND(REAL, mean);
  BIND(REAL, invstd);
  __local moments_t shared[MAX_GROUP];
  const int c = get_group_id(0), lid = get_local_id(0), size = get_local_size(0);
  moments_t mine = no_moments();
  for (int part = lid; part < e.parts; part += size) {
    const long i = (long)c * e.parts + part;
    moments_t one;
    one.mean = partials[2 * i];
    one.m2 = partials[2 * i + 1];
    one.count = counts[i];
    mine = joined(mine, one);
  }
  shared[lid] = mine;
  JOIN_GROUP(shared, joined);
  if (lid > 0) return;
  const moments_t all = shared[0];
  finish_statistics(all, c, options, mean, invstd, OPTIONAL(running_mean), OPTIONAL(running_variance));
}

// Coefficients of the input gradient go to `coefficients` [channels, 2].
__kernel void batch_norm_join_gradients(BUFFER(const ACC, partials), const BatchNormExtents e, BUFFER(const REAL, mean),
                                        BUFFER(const REAL, invstd), BUFFER(REAL, dweight), BUFFER(REAL, dbias),
                                        BUFFER(REAL, coefficients)) {
  BIND(const ACC, partials);
  BIND(const REAL, mean);
  BIND(const REAL, invstd);
  BIND(REAL, coefficients);
  const int c = get_global_id(0);
  if (c >= e.channels) return;
  ACC dy = 0, dy_x = 0;
  for (int part = 0; part < e.parts; ++part) {
    dy += partials[((long)c * e.parts + part) * 2];
    dy_x += partials[((long)c * e.parts + part) * 2 + 1];
  }
  const input_gradient_t g = finish_gradient(dy, dy_x, c, (long)e.batch * e.plane, mean[c], invstd[c], 0,
                                             OPTIONAL(dweight), OPTIONAL(dbias));
  coefficients[2 * c] = g.along_dy;
  coefficients[2 * c + 1] = g.along_x;
}

#if SHAPE_CPU

// `addend` may be null.
inline void normalise_plane(const __global STORAGE *restrict x, const __global STORAGE *restrict addend,
                            __global STORAGE *restrict y, int n, affine_t affine) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) {
    REAL16 v = NORMALISED(REAL16, LOAD16(x, i), affine);
    if (addend) v += LOAD16(addend, i);
    STORE16(y, i, activated(v));
  }
  for (int i = whole; i < n; ++i) {
    REAL v = NORMALISED(REAL, (REAL)LOAD(x, i), affine);
    if (addend) v += LOAD(addend, i);
    STORE(y, i, activated(v));
  }
}

// The part and the channels of this work item: `blocks` of channels times e.parts of the images.
typedef struct {
  int part, first_image, end_image, first_channel, end_channel;
} share_t;

inline share_t my_share(BatchNormExtents e, int blocks) {
  const int id = get_global_id(0), part = id / blocks, block = id - part * blocks;
  share_t s;
  s.part = part;
  s.first_image = PART_FIRST(e.batch, part, e.parts);
  s.end_image = PART_FIRST(e.batch, part + 1, e.parts);
  s.first_channel = PART_FIRST(e.channels, block, blocks);
  s.end_channel = PART_FIRST(e.channels, block + 1, blocks);
  return s;
}

__kernel void batch_norm_moments(MOMENTS_PARAMETERS) {
  BIND_MOMENTS
  const share_t s = my_share(e, blocks);
  const int is_short = e.plane < SHORT_PLANE;
  for (int c = s.first_channel; c < s.end_channel; ++c) {
    const long id = (long)c * e.parts + s.part;
    moments_t all = no_moments();
    if (is_short)
      all =
          short_channel_moments(x + (long)c * e.plane, s.first_image, s.end_image, e.plane, (long)e.channels * e.plane);
    partials[2 * id] = all.mean;
    partials[2 * id + 1] = all.m2;
    counts[id] = all.count;
  }
  if (is_short) return;
  for (int n = s.first_image; n < s.end_image; ++n)
    for (int c = s.first_channel; c < s.end_channel; ++c) {
      const long id = (long)c * e.parts + s.part;
      moments_t all;
      all.mean = partials[2 * id];
      all.m2 = partials[2 * id + 1];
      all.count = counts[id];
      all = joined(all, plane_moments(x + ((long)n * e.channels + c) * e.plane, e.plane));
      partials[2 * id] = all.mean;
      partials[2 * id + 1] = all.m2;
      counts[id] = all.count;
    }
}

#ifdef ACTIVATION
inline gradient_sums_t activated_gradient_sums(const __global STORAGE *dy, const __global STORAGE *x,
                                               const __global STORAGE *y, __global STORAGE *daddend, affine_t affine,
                                               int plane) {
  gradient_sums_t all;
  if (y) {
    for (int i = 0; i < plane - 15; i += 16) STORE16(daddend, i, GRADIENT_FROM_Y(LOAD16(dy, i), LOAD16(y, i)));
    for (int i = plane & ~15; i < plane; ++i) STORE(daddend, i, GRADIENT_FROM_Y((REAL)LOAD(dy, i), (REAL)LOAD(y, i)));
    return plane_gradient_sums(daddend, x, 0, affine.mean, plane);
  }
#define GRADIENT16(i) GRADIENT_FROM_X(REAL16, LOAD16(dy, i), LOAD16(x, i), affine)
#define GRADIENT(i) GRADIENT_FROM_X(REAL, (REAL)LOAD(dy, i), (REAL)LOAD(x, i), affine)
  PLANE_GRADIENT_SUMS(all, x, affine.mean, plane, GRADIENT16, GRADIENT)
  return all;
}
#endif

__kernel void batch_norm_gradient_sums(GRADIENT_SUMS_PARAMETERS) {
  BIND_GRADIENT_SUMS
  const share_t s = my_share(e, blocks);
  for (int c = s.first_channel; c < s.end_channel; ++c)
    partials[2 * ((long)c * e.parts + s.part)] = partials[2 * ((long)c * e.parts + s.part) + 1] = 0;
  for (int n = s.first_image; n < s.end_image; ++n)
    for (int c = s.first_channel; c < s.end_channel; ++c) {
      const long start = ((long)n * e.channels + c) * e.plane, id = (long)c * e.parts + s.part;
#ifdef ACTIVATION
      BIND(const REAL, invstd);
      const __global STORAGE *y = OPTIONAL(y);
      __global STORAGE *daddend = OPTIONAL(daddend);
      const gradient_sums_t sums =
          activated_gradient_sums(dy + start, x + start, y ? y + start : 0, y ? daddend + start : 0,
                                  affine_of(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias)), e.plane);
#else
      const gradient_sums_t sums = plane_gradient_sums(dy + start, x + start, 0, mean[c], e.plane);
#endif
      partials[2 * id] += sums.dy;
      partials[2 * id + 1] += sums.dy_x;
    }
}

__kernel void batch_norm_forward(FORWARD_PARAMETERS) {
  BIND_FORWARD
  const __global STORAGE *addend = OPTIONAL(addend);
  const int planes = e.batch * e.channels, id = get_global_id(0), items = get_global_size(0);
  for (int plane = PART_FIRST(planes, id, items); plane < PART_FIRST(planes, id + 1, items); ++plane) {
    const long start = (long)plane * e.plane;
    normalise_plane(x + start, addend ? addend + start : 0, y + start, e.plane,
                    affine_of(plane % e.channels, mean, invstd, OPTIONAL(weight), OPTIONAL(bias)));
  }
}

__kernel void batch_norm_input_gradient(INPUT_GRADIENT_PARAMETERS) {
  BIND_INPUT_GRADIENT
  const int planes = e.batch * e.channels, id = get_global_id(0), items = get_global_size(0);
  for (int plane = PART_FIRST(planes, id, items); plane < PART_FIRST(planes, id + 1, items); ++plane) {
    const long start = (long)plane * e.plane;
    const int c = plane % e.channels;
    const input_gradient_t g = input_gradient(c, mean, invstd, OPTIONAL(weight), OPTIONAL(coefficients));
#ifdef ACTIVATION
    const affine_t affine = affine_of(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
#define OWN_GRADIENT(V, dy, x) GRADIENT_FROM_X(V, dy, x, affine)
#else
#define OWN_GRADIENT(V, dy, x) (dy)
#endif
    const int whole = e.plane & ~15;
    for (long i = start; i < start + whole; i += 16) {
      const REAL16 value = LOAD16(x, i);
      STORE16(dx, i, INPUT_GRADIENT(REAL16, g, OWN_GRADIENT(REAL16, LOAD16(dy, i), value), value));
    }
    for (long i = start + whole; i < start + e.plane; ++i) {
      const REAL value = LOAD(x, i);
      STORE(dx, i, INPUT_GRADIENT(REAL, g, OWN_GRADIENT(REAL, (REAL)LOAD(dy, i), value), value));
    }
  }
}

#else

// An item takes WIDTH neighbours of one plane at a time. Divisions are of 32 bits, which cost a GPU a fraction of those
// of 64.

// Where neighbours number i of channel c are, in units of them; the host has checked that an int counts the elements.
inline ulong neighbours_of(BatchNormExtents e, int c, uint i) {
  const uint of_plane = e.plane / WIDTH, n = i / of_plane;
  return ((ulong)n * e.channels + c) * of_plane + (i - n * of_plane);
}

// The neighbours of channel c that this work group takes.
#define MY_PART                                                              \
  const int id = get_group_id(0), c = id / e.parts, part = id - c * e.parts; \
  const int lid = get_local_id(0), size = get_local_size(0);                 \
  const long count = (long)e.batch * (e.plane / WIDTH);                      \
  const uint begin = count * part / e.parts, first = begin + lid, end = count * (part + 1) / e.parts

__kernel void batch_norm_moments(MOMENTS_PARAMETERS) {
  BIND_MOMENTS
  __local ACC shared[MAX_GROUP];
  MY_PART;
  moments_t mine = no_moments();
#define VALUE(i) LOAD_VALUES(x, neighbours_of(e, c, i))
  ITEM_MOMENTS(mine, first, end, size, VALUE)
  const moments_t all = group_moments(mine, (end - begin) * WIDTH, shared);
  if (lid == 0) {
    partials[2 * id] = all.mean;
    partials[2 * id + 1] = all.m2;
    counts[id] = all.count;
  }
}

__kernel void batch_norm_gradient_sums(GRADIENT_SUMS_PARAMETERS) {
  BIND_GRADIENT_SUMS
  __local REAL2 shared[MAX_GROUP];
  MY_PART;
  REAL2 mine = 0;
  const REAL mean_of_c = mean[c];
#define AT(p, i) LOAD_VALUES(p, neighbours_of(e, c, i))
#define DY(i) AT(dy, i)
#define DISTANCE(i) AT(x, i) - mean_of_c
#ifdef ACTIVATION
  BIND(const REAL, invstd);
  const affine_t affine = affine_of(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
  const __global STORAGE *y = OPTIONAL(y);
  __global STORAGE *daddend = OPTIONAL(daddend);
#define DY_FROM_X(i) GRADIENT_FROM_X(VALUES, AT(dy, i), AT(x, i), affine)
#define DY_FROM_Y(i) GRADIENT_FROM_Y(AT(dy, i), AT(y, i))
#define KEEP_IT(i, v) STORE_VALUES(daddend, neighbours_of(e, c, i), v);
  if (y) {
    ITEM_GRADIENT_SUMS(mine, first, end, size, DY_FROM_Y, DISTANCE, KEEP_IT)
  } else {
    ITEM_GRADIENT_SUMS(mine, first, end, size, DY_FROM_X, DISTANCE, KEEP_NOTHING)
  }
#else
  ITEM_GRADIENT_SUMS(mine, first, end, size, DY, DISTANCE, KEEP_NOTHING)
#endif
  const REAL2 all = group_sums(mine, shared);
  if (lid == 0) {
    partials[2 * id] = all.x;
    partials[2 * id + 1] = all.y;
  }
}

// The elementwise passes; INDEX counts the items.
#ifndef INDEX
#define INDEX uint
#endif

// The channel of this item's elements, -1 of those beyond the last.
inline int channel_of(const BatchNormExtents e, const INDEX id) {
  const uint plane = id / (uint)(e.plane / WIDTH), planes = (uint)e.batch * e.channels;
  return plane < planes ? (int)(plane % (uint)e.channels) : -1;
}

__kernel void batch_norm_forward(FORWARD_PARAMETERS) {
  BIND_FORWARD
  const __global STORAGE *addend = OPTIONAL(addend);
  const INDEX id = get_global_id(0);
  const int c = channel_of(e, id);
  if (c < 0) return;
  const affine_t affine = affine_of(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
  VALUES v = NORMALISED(VALUES, LOAD_VALUES(x, id), affine);
  if (addend) v += LOAD_VALUES(addend, id);
  STORE_VALUES(y, id, activated(v));
}

__kernel void batch_norm_input_gradient(INPUT_GRADIENT_PARAMETERS) {
  BIND_INPUT_GRADIENT
  const INDEX id = get_global_id(0);
  const int c = channel_of(e, id);
  if (c < 0) return;
  const input_gradient_t g = input_gradient(c, mean, invstd, OPTIONAL(weight), OPTIONAL(coefficients));
  const VALUES value = LOAD_VALUES(x, id);
  VALUES gradient = LOAD_VALUES(dy, id);
#ifdef ACTIVATION
  gradient = GRADIENT_FROM_X(VALUES, gradient, value, affine_of(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias)));
#endif
  STORE_VALUES(dx, id, INPUT_GRADIENT(VALUES, g, gradient, value));
}

#endif
