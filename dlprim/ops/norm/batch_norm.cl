// Batch normalisation of x [batch, channels, plane]. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of x).
//
// Statistics and gradient sums come in two steps: `parts` partial results per channel, then one work item a channel joins
// them. Shape cpu: a part is a range of images; a work item runs through a part of a few channels in the order of memory,
// which is worth more than to keep one channel in the cache. Shape simt: a part is a range of the channel's elements, joined
// by a work group in local memory.
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"
#include "ops/norm/moments.cl"
#include "ops/norm/norm_shared.h"

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

// dx = (dy - along_dy - (x - mean) along_x) * scale
typedef struct {
  REAL mean, scale, along_dy, along_x;
} input_gradient_t;

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

__kernel void batch_norm_invstd(BUFFER(const REAL, variance), BUFFER(REAL, invstd), const int channels, const REAL eps) {
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
  const int c = get_global_id(0);
  if (c >= e.channels) return;
  moments_t all = no_moments();
  for (int part = 0; part < e.parts; ++part) {
    const long i = (long)c * e.parts + part;
    moments_t one;
    one.mean = partials[2 * i];
    one.m2 = partials[2 * i + 1];
    one.count = counts[i];
    all = joined(all, one);
  }
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

// What the elementwise pass needs of channel c; without coefficients mean and invstd are constants.
inline input_gradient_t input_gradient(int c, __global const REAL *mean, __global const REAL *invstd,
                                       __global const REAL *weight, __global const REAL *coefficients) {
  input_gradient_t g;
  g.mean = mean[c];
  g.scale = weight ? invstd[c] * weight[c] : invstd[c];
  g.along_dy = coefficients ? coefficients[2 * c] : 0;
  g.along_x = coefficients ? coefficients[2 * c + 1] : 0;
  return g;
}

#define NORMALISED(v, mean, scale, shift) fma((v) - (mean), scale, shift)
#define INPUT_GRADIENT(g, dy, x) (fma((x) - (g).mean, -(g).along_x, (dy) - (g).along_dy) * (g).scale)

#if SHAPE_CPU

inline void normalise_plane(const __global STORAGE *restrict x, __global STORAGE *restrict y, int n, REAL mean, REAL scale,
                            REAL shift) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) STORE16(y, i, NORMALISED(LOAD16(x, i), mean, (REAL16)scale, (REAL16)shift));
  for (int i = whole; i < n; ++i) STORE(y, i, NORMALISED((REAL)LOAD(x, i), mean, scale, shift));
}

inline void input_gradient_plane(const __global STORAGE *restrict dy, const __global STORAGE *restrict x,
                                 __global STORAGE *restrict dx, int n, input_gradient_t g) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16)
    STORE16(dx, i, fma(LOAD16(x, i) - g.mean, (REAL16)(-g.along_x), LOAD16(dy, i) - g.along_dy) * g.scale);
  for (int i = whole; i < n; ++i) STORE(dx, i, INPUT_GRADIENT(g, LOAD(dy, i), LOAD(x, i)));
}

// Part `id` of `count`, of n things.
#define PART_FIRST(n, id, count) (int)((long)(n) * (id) / (count))

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

__kernel void batch_norm_moments(BUFFER(const STORAGE, x), const BatchNormExtents e, const int blocks,
                                 BUFFER(ACC, partials), BUFFER(int, counts)) {
  BIND(const STORAGE, x);
  BIND(ACC, partials);
  BIND(int, counts);
  const share_t s = my_share(e, blocks);
  const int is_short = e.plane < SHORT_PLANE;
  for (int c = s.first_channel; c < s.end_channel; ++c) {
    const long id = (long)c * e.parts + s.part;
    moments_t all = no_moments();
    if (is_short)
      all = short_channel_moments(x + (long)c * e.plane, s.first_image, s.end_image, e.plane, (long)e.channels * e.plane);
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

__kernel void batch_norm_gradient_sums(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e,
                                       const int blocks, BUFFER(const REAL, mean), BUFFER(ACC, partials)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(ACC, partials);
  const share_t s = my_share(e, blocks);
  for (int c = s.first_channel; c < s.end_channel; ++c)
    partials[2 * ((long)c * e.parts + s.part)] = partials[2 * ((long)c * e.parts + s.part) + 1] = 0;
  for (int n = s.first_image; n < s.end_image; ++n)
    for (int c = s.first_channel; c < s.end_channel; ++c) {
      const long start = ((long)n * e.channels + c) * e.plane, id = (long)c * e.parts + s.part;
      const gradient_sums_t sums = plane_gradient_sums(dy + start, x + start, 0, mean[c], e.plane);
      partials[2 * id] += sums.dy;
      partials[2 * id + 1] += sums.dy_x;
    }
}

__kernel void batch_norm_forward(BUFFER(const STORAGE, x), const BatchNormExtents e, BUFFER(const REAL, mean),
                                 BUFFER(const REAL, invstd), BUFFER(const REAL, weight), BUFFER(const REAL, bias),
                                 BUFFER(STORAGE, y)) {
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(const REAL, invstd);
  BIND(STORAGE, y);
  __global const REAL *weight = OPTIONAL(weight), *bias = OPTIONAL(bias);
  const int planes = e.batch * e.channels, id = get_global_id(0), items = get_global_size(0);
  for (int plane = PART_FIRST(planes, id, items); plane < PART_FIRST(planes, id + 1, items); ++plane) {
    const int c = plane % e.channels;
    const long start = (long)plane * e.plane;
    normalise_plane(x + start, y + start, e.plane, mean[c], weight ? invstd[c] * weight[c] : invstd[c], bias ? bias[c] : 0);
  }
}

__kernel void batch_norm_input_gradient(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e,
                                        BUFFER(const REAL, mean), BUFFER(const REAL, invstd),
                                        BUFFER(const REAL, weight), BUFFER(const REAL, coefficients),
                                        BUFFER(STORAGE, dx)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(const REAL, invstd);
  BIND(STORAGE, dx);
  const int planes = e.batch * e.channels, id = get_global_id(0), items = get_global_size(0);
  for (int plane = PART_FIRST(planes, id, items); plane < PART_FIRST(planes, id + 1, items); ++plane) {
    const long start = (long)plane * e.plane;
    input_gradient_plane(dy + start, x + start, dx + start, e.plane,
                         input_gradient(plane % e.channels, mean, invstd, OPTIONAL(weight), OPTIONAL(coefficients)));
  }
}

#else

// An item takes WIDTH neighbours of one plane at a time. Divisions are of 32 bits, which cost a GPU a fraction of those of 64.

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
  const uint first = (uint)(count * part / e.parts) + lid, end = (uint)(count * (part + 1) / e.parts)

__kernel void batch_norm_moments(BUFFER(const STORAGE, x), const BatchNormExtents e, const int blocks,
                                 BUFFER(ACC, partials), BUFFER(int, counts)) {
  BIND(const STORAGE, x);
  BIND(ACC, partials);
  BIND(int, counts);
  __local moments_t shared[MAX_GROUP];
  MY_PART;
  moments_t mine = no_moments();
#define VALUE(i) LOAD_VALUES(x, neighbours_of(e, c, i))
  ITEM_MOMENTS(mine, first, end, size, VALUE)
  const moments_t all = group_moments(mine, shared);
  if (lid == 0) {
    partials[2 * id] = all.mean;
    partials[2 * id + 1] = all.m2;
    counts[id] = all.count;
  }
}

__kernel void batch_norm_gradient_sums(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e,
                                       const int blocks, BUFFER(const REAL, mean), BUFFER(ACC, partials)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(ACC, partials);
  __local REAL2 shared[MAX_GROUP];
  MY_PART;
  REAL2 mine = 0;
  const REAL mean_of_c = mean[c];
#define DY(i) LOAD_VALUES(dy, neighbours_of(e, c, i))
#define DISTANCE(i) LOAD_VALUES(x, neighbours_of(e, c, i)) - mean_of_c
  ITEM_GRADIENT_SUMS(mine, first, end, size, DY, DISTANCE)
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

__kernel void batch_norm_forward(BUFFER(const STORAGE, x), const BatchNormExtents e, BUFFER(const REAL, mean),
                                 BUFFER(const REAL, invstd), BUFFER(const REAL, weight), BUFFER(const REAL, bias),
                                 BUFFER(STORAGE, y)) {
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(const REAL, invstd);
  BIND(STORAGE, y);
  __global const REAL *weight = OPTIONAL(weight), *bias = OPTIONAL(bias);
  const INDEX id = get_global_id(0);
  const int c = channel_of(e, id);
  if (c < 0) return;
  const REAL scale = weight ? invstd[c] * weight[c] : invstd[c];
  STORE_VALUES(y, id, NORMALISED(LOAD_VALUES(x, id), mean[c], (VALUES)scale, (VALUES)(bias ? bias[c] : 0)));
}

__kernel void batch_norm_input_gradient(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const BatchNormExtents e,
                                        BUFFER(const REAL, mean), BUFFER(const REAL, invstd),
                                        BUFFER(const REAL, weight), BUFFER(const REAL, coefficients),
                                        BUFFER(STORAGE, dx)) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const REAL, mean);
  BIND(const REAL, invstd);
  BIND(STORAGE, dx);
  const INDEX id = get_global_id(0);
  const int c = channel_of(e, id);
  if (c < 0) return;
  const input_gradient_t g = input_gradient(c, mean, invstd, OPTIONAL(weight), OPTIONAL(coefficients));
  STORE_VALUES(dx, id, fma(LOAD_VALUES(x, id) - g.mean, (VALUES)(-g.along_x), LOAD_VALUES(dy, id) - g.along_dy) * g.scale);
}

#endif
