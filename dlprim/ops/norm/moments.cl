// Sums over many elements, in blocks: exact to a few roundings however many there are.
// Needs core/common.cl, core/group.cl and core/vectors.cl.
//   ACC   what block results are joined in: double where the device has it, else REAL
#if defined(HAS_FP64)
#define ACC double
#else
#define ACC REAL
#endif

// Mean of `count` values and the sum of their squared distances from it.
typedef struct {
  ACC mean, m2;
  int count;
} moments_t;

// a / n. For results of float32 not by the long division of doubles, which GPUs have no instruction for: one step of
// Newton's from a float32's reciprocal leaves 13 digits.
inline ACC divided(const ACC a, const int n) {
  if (sizeof(REAL) == sizeof(ACC)) return a / n;
  const ACC estimate = 1 / (float)n;
  return a * (estimate * (2 - n * estimate));
}

// Chan, Golub, LeVeque: "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
inline moments_t joined(moments_t a, moments_t b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;  // its distance from nothing may have an infinite square
  moments_t all;
  all.count = a.count + b.count;
  const ACC share = divided(b.count, all.count);
  const ACC distance = b.mean - a.mean;
  all.mean = a.mean + distance * share;
  all.m2 = a.m2 + b.m2 + distance * distance * (ACC)a.count * share;
  return all;
}

inline moments_t no_moments(void) {
  moments_t none;
  none.mean = none.m2 = 0;
  none.count = 0;
  return none;
}

#define OPTIONAL(name) (name##_buffer ? name##_buffer + name##_start : 0)

#if SHAPE_CPU

#define BLOCK 4096  // elements that one vector accumulator sums before it is joined
#define GATHER 512  // elements gathered from short planes before they are summed
#define SHORT_PLANE 64

inline moments_t gathered_moments(const REAL *p, int n) {
  REAL sum = 0, drift = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  const REAL mean = sum / n;
  for (int i = 0; i < n; ++i) {
    const REAL d = p[i] - mean;
    drift += d;
    squares = fma(d, d, squares);
  }
  moments_t block;
  const ACC correction = (ACC)drift / n;  // what rounding took from the mean
  block.mean = mean + correction;
  block.m2 = squares - correction * correction * n;
  block.count = n;
  return block;
}

// Moments of 1 to BLOCK elements at p: first their sum, then, from the cache, their distances from the mean.
inline moments_t block_moments(const __global STORAGE *p, int n) {
  const int whole = n & ~15;
  REAL16 sum = 0;
  for (int i = 0; i < whole; i += 16) sum += LOAD16(p, i);
  if (whole < n) sum += LOAD_UP_TO16(p, whole, n - whole, 0);
  const REAL mean = sum16(sum) / n;
  REAL16 drift = 0, squares = 0;
  for (int i = 0; i < whole; i += 16) {
    const REAL16 d = LOAD16(p, i) - mean;
    drift += d;
    squares = fma(d, d, squares);
  }
  if (whole < n) {
    const REAL16 d = LOAD_UP_TO16(p, whole, n - whole, mean) - mean;
    drift += d;
    squares = fma(d, d, squares);
  }
  moments_t block;
  const ACC correction = (ACC)sum16(drift) / n;  // what rounding took from the mean
  block.mean = mean + correction;
  block.m2 = (ACC)sum16(squares) - correction * correction * n;
  block.count = n;
  return block;
}

// Moments of images [first, end) of one channel with a short plane; `x` is its plane in image 0, `stride` the elements
// between images.
inline moments_t short_channel_moments(const __global STORAGE *x, int first, int end, int plane, long stride) {
  moments_t all = no_moments();
  REAL gathered[GATHER];
  int count = 0;
  for (int n = first; n < end; ++n) {
    if (count + plane > GATHER) {
      all = joined(all, gathered_moments(gathered, count));
      count = 0;
    }
    for (int i = 0; i < plane; ++i) gathered[count++] = LOAD(x, n * stride + i);
  }
  return count ? joined(all, gathered_moments(gathered, count)) : all;
}

inline moments_t plane_moments(const __global STORAGE *x, int plane) {
  moments_t all = no_moments();
  for (int i = 0; i < plane; i += BLOCK) all = joined(all, block_moments(x + i, min(BLOCK, plane - i)));
  return all;
}

// sum dy and sum dy (x - mean)
typedef struct {
  ACC dy, dy_x;
} gradient_sums_t;

// Leaves in `all`, gradient_sums_t, the sums over a plane: GRADIENT16(i) and GRADIENT(i) give dy[i … i + 15] and dy[i].
#define PLANE_GRADIENT_SUMS(all, x, mean, plane, GRADIENT16, GRADIENT)                              \
  all.dy = all.dy_x = 0;                                                                            \
  for (int start = 0; start < (plane); start += BLOCK) {                                            \
    const int stop = min(start + BLOCK, plane), whole = start + ((stop - start) & ~15);             \
    REAL16 sum = 0, sum_x = 0;                                                                      \
    for (int i = start; i < whole; i += 16) {                                                       \
      const REAL16 g = GRADIENT16(i);                                                               \
      sum += g;                                                                                     \
      sum_x = fma(g, LOAD16(x, i) - (mean), sum_x);                                                 \
    }                                                                                               \
    REAL tail = 0, tail_x = 0;                                                                      \
    for (int i = whole; i < stop; ++i) {                                                            \
      const REAL g = GRADIENT(i);                                                                   \
      tail += g;                                                                                    \
      tail_x = fma(g, LOAD(x, i) - (mean), tail_x);                                                 \
    }                                                                                               \
    all.dy += (ACC)sum16(sum) + tail;                                                               \
    all.dy_x += (ACC)sum16(sum_x) + tail_x;                                                         \
  }

// `weight`, of every element, may be null; it multiplies dy.
inline gradient_sums_t plane_gradient_sums(const __global STORAGE *dy, const __global STORAGE *x,
                                           const __global STORAGE *weight, REAL mean, int plane) {
  gradient_sums_t all;
#define WEIGHTED16(i) (weight ? LOAD16(dy, i) * LOAD16(weight, i) : LOAD16(dy, i))
#define WEIGHTED(i) (weight ? LOAD(dy, i) * LOAD(weight, i) : LOAD(dy, i))
  PLANE_GRADIENT_SUMS(all, x, mean, plane, WEIGHTED16, WEIGHTED)
  return all;
}

#else

// The elements that an item reads at once: WIDTH neighbours, or one element.
#ifndef WIDTH
#define WIDTH 1
#endif
#if WIDTH == 4
#include "core/vectors4.cl"
typedef REAL4 VALUES;
#define LOAD_VALUES LOAD4
#define STORE_VALUES STORE4
#define SUM_OF(v) (((v).x + (v).y) + ((v).z + (v).w))
#else
typedef REAL VALUES;
#define LOAD_VALUES(p, i) (REAL) LOAD(p, i)
#define STORE_VALUES STORE
#define SUM_OF(v) (v)
#endif

#define PER_ITEM 8  // VALUES that an item reads before it adds any
#define CHAIN 64    // terms of one chain of additions
#define UNROLL _Pragma("unroll")

// The k-th of them. Beyond the end the last one is read again, so that no branch parts the reads.
#define IS_WITHIN(some, k, step, end) ((some) + (k) * (step) < (uint)(end))
#define PLACE_WITHIN(some, k, step, end) min((some) + (k) * (step), (uint)(end) - 1)

// Moments of `count` values with the sums of their distances from `shift` and of those squared.
inline moments_t shifted_moments(REAL shift, REAL drift, REAL squares, int count) {
  moments_t block;
  const ACC correction = divided(drift, count);
  block.mean = shift + correction;
  const ACC m2 = squares - correction * drift;
  block.m2 = m2 < 0 ? 0 : m2;
  block.count = count;
  return block;
}

// Moments of VALUE(i), VALUES, over i = first, first + step, … below end. The distances of a chain are from the mean of
// its first PER_ITEM terms. The value that moves it away from the chain's own mean is part of the chain too: the
// squares come to nine times those from its own mean at most, and the difference loses no more.
#define ITEM_MOMENTS(all, first, end, step, VALUE)                                                          \
  for (uint from = first; from < (uint)(end); from += CHAIN * (step)) {                                     \
    VALUES drift = 0, squares = 0;                                                                          \
    REAL shift = 0;                                                                                         \
    int count = 0;                                                                                          \
    for (uint some = from; some < (uint)(end) && some < from + CHAIN * (step); some += PER_ITEM * (step)) { \
      VALUES values[PER_ITEM], sum = 0;                                                                     \
      int n = 0;                                                                                            \
      UNROLL for (int k = 0; k < PER_ITEM; ++k) {                                                           \
        values[k] = VALUE(PLACE_WITHIN(some, k, step, end));                                                \
        n += IS_WITHIN(some, k, step, end);                                                                 \
      }                                                                                                     \
      if (some == from) {                                                                                   \
        UNROLL for (int k = 0; k < PER_ITEM; ++k)                                                           \
          if (k < n) sum += values[k];                                                                      \
        shift = SUM_OF(sum) / (n * WIDTH);                                                                  \
      }                                                                                                     \
      UNROLL for (int k = 0; k < PER_ITEM; ++k)                                                             \
        if (k < n) {                                                                                        \
          const VALUES d = values[k] - shift;                                                               \
          drift += d;                                                                                       \
          squares = fma(d, d, squares);                                                                     \
        }                                                                                                   \
      count += n * WIDTH;                                                                                   \
    }                                                                                                       \
    all = joined(all, shifted_moments(shift, SUM_OF(drift), SUM_OF(squares), count));                       \
  }

// The moments of all work items of a group, which have `count` values, the first one some of them: the mean before the
// distances from it, so that the joins are additions, where joined() would have a division in each. Equal numbers have
// no variance, however large they are.
inline moments_t group_moments(moments_t mine, int count, __local ACC *shared) {
  const int lid = get_local_id(0), size = get_local_size(0);
  const ACC share = divided(mine.count, count);
  moments_t all;
  all.count = count;
  if (lid == 0) shared[0] = mine.mean;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ACC first_mean = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  shared[lid] = mine.count > 0 ? (mine.mean - first_mean) * share : 0;
  JOIN_GROUP(shared, ADD);
  all.mean = first_mean + shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  const ACC distance = mine.count > 0 ? mine.mean - all.mean : 0;  // of none the square may be infinite, and times 0
  shared[lid] = mine.m2 + distance * distance * mine.count;
  JOIN_GROUP(shared, ADD);
  all.m2 = shared[0];
  return all;
}

// Sums of DY(i) and DY(i) DISTANCE(i), the distance of x from its mean, VALUES, over i = first, first + step, … below
// end. KEEP(i, v) is done with each DY(i) once; DY(i) alone may be asked again for another item's i.
#define ITEM_GRADIENT_SUMS(all, first, end, step, DY, DISTANCE, KEEP)                                       \
  for (uint from = first; from < (uint)(end); from += CHAIN * (step)) {                                     \
    VALUES sum = 0, sum_x = 0;                                                                              \
    for (uint some = from; some < (uint)(end) && some < from + CHAIN * (step); some += PER_ITEM * (step)) { \
      VALUES gradients[PER_ITEM], distances[PER_ITEM];                                                      \
      UNROLL for (int k = 0; k < PER_ITEM; ++k) {                                                           \
        gradients[k] = DY(PLACE_WITHIN(some, k, step, end));                                                \
        distances[k] = DISTANCE(PLACE_WITHIN(some, k, step, end));                                          \
      }                                                                                                     \
      UNROLL for (int k = 0; k < PER_ITEM; ++k)                                                             \
        if (IS_WITHIN(some, k, step, end)) {                                                                \
          KEEP(some + k * (step), gradients[k])                                                             \
          sum += gradients[k];                                                                              \
          sum_x = fma(gradients[k], distances[k], sum_x);                                                   \
        }                                                                                                   \
    }                                                                                                       \
    all += (REAL2)(SUM_OF(sum), SUM_OF(sum_x));                                                             \
  }

#define KEEP_NOTHING(i, v)

inline REAL2 group_sums(REAL2 mine, __local REAL2 *shared) {
  const int lid = get_local_id(0), size = get_local_size(0);
  shared[lid] = mine;
  JOIN_GROUP(shared, ADD);
  return shared[0];
}

#endif
