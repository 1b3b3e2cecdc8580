// Batch normalisation of rows of channels, x [batch, channels], on GPUs: the memory of channels-last images, and what
// fully connected layers give. Items of a work group stand in lines of LANES: an item takes WIDTH neighbouring channels
// in every n-th row of a part, n being the lines. The kernels take what those of batch_norm.cl with the same names do;
// its kernels join the partial results.
#include "ops/norm/batch_norm_channel.cl"

#define LANES BATCH_NORM_LANES

// The rows and the channels of this item. Groups of one part stand together, one for each block of channels.
#define MY_COLUMNS                                                                                        \
  const int group_channels = LANES * WIDTH, blocks_of_part = (e.channels + group_channels - 1) / group_channels; \
  const int parts = get_num_groups(0) / blocks_of_part, part = get_group_id(0) / blocks_of_part;          \
  const int lid = get_local_id(0), lane = lid % LANES, line = lid / LANES, lines = get_local_size(0) / LANES; \
  const int c = (get_group_id(0) - part * blocks_of_part) * group_channels + lane * WIDTH;                \
  const int is_there = c < e.channels, end = PART_FIRST(e.batch, part + 1, parts);                        \
  const int first = PART_FIRST(e.batch, part, parts) + line;                                              \
  const uint vectors_of_row = e.channels / WIDTH, column = c / WIDTH;

// Where row number `row` has the item's channels, in units of WIDTH.
#define OF_ROW(row) ((ulong)(row) * vectors_of_row + column)

inline VALUES of_channels(const __global REAL *values, int c, REAL otherwise) {
#if WIDTH == 4
  return values ? (VALUES)(values[c], values[c + 1], values[c + 2], values[c + 3]) : (VALUES)otherwise;
#else
  return values ? values[c] : otherwise;
#endif
}

typedef struct {
  VALUES mean, scale, shift;
} affine_values_t;

inline affine_values_t affine_of_channels(int c, __global const REAL *mean, __global const REAL *invstd,
                                          __global const REAL *weight, __global const REAL *bias) {
  affine_values_t a;
  a.mean = of_channels(mean, c, 0);
  a.scale = of_channels(invstd, c, 0) * of_channels(weight, c, 1);
  a.shift = of_channels(bias, c, 0);
  return a;
}

// This is what an item has for its channel number w.
#if WIDTH == 4
#define PART_OF(values, w) ((w) == 0 ? (values).x : (w) == 1 ? (values).y : (w) == 2 ? (values).z : (values).w)
#else
#define PART_OF(values, w) (values)
#endif

// Joins what the lines of a group have for one channel each; the first line has it all.
#define JOIN_LINES(shared, JOIN)                                        \
  for (int half_lines = lines / 2; half_lines > 0; half_lines /= 2) {   \
    barrier(CLK_LOCAL_MEM_FENCE);                                       \
    if (line < half_lines) shared[lid] = JOIN(shared[lid], shared[lid + half_lines * LANES]); \
  }

__kernel void batch_norm_moments(MOMENTS_PARAMETERS) {
  BIND_MOMENTS
  __local moments_t shared[MAX_GROUP];
  MY_COLUMNS
  moments_t all[WIDTH];
  UNROLL for (int w = 0; w < WIDTH; ++w) all[w] = no_moments();
  // ITEM_MOMENTS does the same for one channel.
  for (int from = first; is_there && from < end; from += CHAIN * lines) {
    VALUES drift = 0, squares = 0, shift = 0;
    int count = 0;
    for (int some = from; some < end && some < from + CHAIN * lines; some += PER_ITEM * lines) {
      VALUES values[PER_ITEM], sum = 0;
      int n = 0;
      UNROLL for (int k = 0; k < PER_ITEM; ++k) {
        values[k] = LOAD_VALUES(x, OF_ROW(PLACE_WITHIN((uint)some, k, lines, end)));
        n += IS_WITHIN((uint)some, k, lines, end);
      }
      if (some == from) {
        UNROLL for (int k = 0; k < PER_ITEM; ++k)
          if (k < n) sum += values[k];
        shift = sum / (REAL)n;
      }
      UNROLL for (int k = 0; k < PER_ITEM; ++k)
        if (k < n) {
          const VALUES d = values[k] - shift;
          drift += d;
          squares = fma(d, d, squares);
        }
      count += n;
    }
    UNROLL for (int w = 0; w < WIDTH; ++w)
      all[w] = joined(all[w], shifted_moments(PART_OF(shift, w), PART_OF(drift, w), PART_OF(squares, w), count));
  }
  for (int w = 0; w < WIDTH; ++w) {
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[lid] = all[w];
    JOIN_LINES(shared, joined)
    if (line == 0 && is_there) {
      const long id = (long)(c + w) * parts + part;
      partials[2 * id] = shared[lid].mean;
      partials[2 * id + 1] = shared[lid].m2;
      counts[id] = shared[lid].count;
    }
  }
}

__kernel void batch_norm_gradient_sums(GRADIENT_SUMS_PARAMETERS) {
  BIND_GRADIENT_SUMS
  __local VALUES shared[MAX_GROUP];
  MY_COLUMNS
  VALUES all = 0, all_x = 0;
  if (is_there) {
    const VALUES mean_of_c = of_channels(mean, c, 0);
#ifdef ACTIVATION
    BIND(const REAL, invstd);
    const __global STORAGE *y = OPTIONAL(y);
    __global STORAGE *daddend = OPTIONAL(daddend);
    const affine_values_t affine = affine_of_channels(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
#endif
    for (int from = first; from < end; from += CHAIN * lines) {
      VALUES sum = 0, sum_x = 0;
      for (int some = from; some < end && some < from + CHAIN * lines; some += PER_ITEM * lines) {
        VALUES gradients[PER_ITEM], values[PER_ITEM];
        UNROLL for (int k = 0; k < PER_ITEM; ++k) {
          const ulong at = OF_ROW(PLACE_WITHIN((uint)some, k, lines, end));
          values[k] = LOAD_VALUES(x, at);
          gradients[k] = LOAD_VALUES(dy, at);
#ifdef ACTIVATION
          if (y)
            gradients[k] = GRADIENT_FROM_Y(gradients[k], LOAD_VALUES(y, at));
          else
            gradients[k] = GRADIENT_FROM_X(VALUES, gradients[k], values[k], affine);
#endif
        }
        UNROLL for (int k = 0; k < PER_ITEM; ++k)
          if (IS_WITHIN((uint)some, k, lines, end)) {
#ifdef ACTIVATION
            if (y) STORE_VALUES(daddend, OF_ROW(some + k * lines), gradients[k]);
#endif
            sum += gradients[k];
            sum_x = fma(gradients[k], values[k] - mean_of_c, sum_x);
          }
      }
      all += sum;
      all_x += sum_x;
    }
  }
  shared[lid] = all;
  JOIN_LINES(shared, ADD)
  all = shared[lid];
  barrier(CLK_LOCAL_MEM_FENCE);
  shared[lid] = all_x;
  JOIN_LINES(shared, ADD)
  if (line > 0 || !is_there) return;
  UNROLL for (int w = 0; w < WIDTH; ++w) {
    const long id = (long)(c + w) * parts + part;
    partials[2 * id] = PART_OF(all, w);
    partials[2 * id + 1] = PART_OF(shared[lid], w);
  }
}

__kernel void batch_norm_forward(FORWARD_PARAMETERS) {
  BIND_FORWARD
  const __global STORAGE *addend = OPTIONAL(addend);
  MY_COLUMNS
  if (!is_there) return;
  const affine_values_t affine = affine_of_channels(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
  for (int row = first; row < end; row += lines) {
    VALUES v = NORMALISED(VALUES, LOAD_VALUES(x, OF_ROW(row)), affine);
    if (addend) v += LOAD_VALUES(addend, OF_ROW(row));
    STORE_VALUES(y, OF_ROW(row), activated(v));
  }
}

__kernel void batch_norm_input_gradient(INPUT_GRADIENT_PARAMETERS) {
  BIND_INPUT_GRADIENT
  __global const REAL *coefficients = OPTIONAL(coefficients);
  MY_COLUMNS
  if (!is_there) return;
#ifdef ACTIVATION
  const affine_values_t affine = affine_of_channels(c, mean, invstd, OPTIONAL(weight), OPTIONAL(bias));
#else
  const affine_values_t affine = affine_of_channels(c, mean, invstd, OPTIONAL(weight), 0);
#endif
  REAL along[2][WIDTH];
  UNROLL for (int w = 0; w < WIDTH; ++w)
    UNROLL for (int k = 0; k < 2; ++k) along[k][w] = coefficients ? coefficients[2 * (c + w) + k] : 0;
#if WIDTH == 4
  const VALUES along_dy = vload4(0, along[0]), along_x = vload4(0, along[1]);
#else
  const VALUES along_dy = along[0][0], along_x = along[1][0];
#endif
  for (int row = first; row < end; row += lines) {
    const VALUES value = LOAD_VALUES(x, OF_ROW(row));
    VALUES gradient = LOAD_VALUES(dy, OF_ROW(row));
#ifdef ACTIVATION
    gradient = GRADIENT_FROM_X(VALUES, gradient, value, affine);
#endif
    STORE_VALUES(dx, OF_ROW(row), fma(value - affine.mean, -along_x, gradient - along_dy) * affine.scale);
  }
}
