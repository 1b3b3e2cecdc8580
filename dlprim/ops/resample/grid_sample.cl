// Values of planes or volumes at the points of a grid. A point reads TAPS elements along each axis, with a
// weight along every axis: of a plane the depth has one element, with weight 1. Macros: STORAGE, REAL, LOAD,
// STORE (dtype_defines); TAPS: 1 the nearest element, 2 linear, 4 cubic interpolation.
#include "core/common.cl"
#include "ops/resample/resample_shared.h"
#include "ops/sort/work.cl"

#define DEPTH 0
#define HEIGHT 1
#define WIDTH 2

// The elements that a point reads along one axis. A place of -1 lies outside.
typedef struct {
  int count;
  int place[TAPS];
  REAL weight[TAPS];
} taps_t;

// Where the padding puts a position, and the factor that its derivative gets.
inline REAL position_inside(REAL x, const int size, const KernelGrid *g, REAL *slope) {
  if (g->padding == GRID_REFLECTION) {
    const REAL least = g->align_corners ? 0 : (REAL)-0.5, span = g->align_corners ? size - 1 : size;
    if (span == 0) {
      x = 0;
    } else {
      const REAL from = x - least, distance = fabs(from), turns = floor(distance / span),
                 rest = distance - turns * span;
      const int is_even = fmod(turns, (REAL)2) == 0;
      if ((from < 0) == is_even) *slope = -*slope;
      x = least + (is_even ? rest : span - rest);
    }
  }
  if (x <= 0 || x >= size - 1) *slope = 0;
  return fmin(fmax(x, (REAL)0), (REAL)(size - 1));
}

inline int place_of(REAL x, const int size) {
  return x >= 0 && x < size ? (int)x : -1;
}

#if TAPS == 4

#define CUBIC ((REAL)-0.75)

// Keys' piecewise cubic at a distance of at most 1, or of 1 to 2, and its derivatives.
inline REAL near_cubic(const REAL x, const int order) {
  switch (order) {
    case 0:
      return ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1;
    case 1:
      return (3 * (CUBIC + 2) * x - 2 * (CUBIC + 3)) * x;
    case 2:
      return 6 * (CUBIC + 2) * x - 2 * (CUBIC + 3);
    default:
      return order == 3 ? 6 * (CUBIC + 2) : 0;
  }
}
inline REAL far_cubic(const REAL x, const int order) {
  switch (order) {
    case 0:
      return ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC;
    case 1:
      return (3 * CUBIC * x - 10 * CUBIC) * x + 8 * CUBIC;
    case 2:
      return 6 * CUBIC * x - 10 * CUBIC;
    default:
      return order == 3 ? 6 * CUBIC : 0;
  }
}

#endif

// The weights of the elements around a position that lies `share` behind the last one before it.
inline void set_weights(taps_t *taps, const REAL share, const int order) {
#if TAPS == 1
  taps->weight[0] = order == 0;
#elif TAPS == 2
  taps->weight[0] = order == 0 ? 1 - share : -(order == 1);
  taps->weight[1] = order == 0 ? share : order == 1;
#else
  const REAL mirrored = order % 2 ? -1 : 1;
  taps->weight[0] = far_cubic(share + 1, order);
  taps->weight[1] = near_cubic(share, order);
  taps->weight[2] = mirrored * near_cubic(1 - share, order);
  taps->weight[3] = mirrored * far_cubic(2 - share, order);
#endif
}

inline taps_t taps_of(const REAL coordinate, const KernelGrid *g, const int axis, const int order) {
  const int size = g->size[axis];
  REAL slope = (g->align_corners ? size - 1 : size) * (REAL)0.5;
  REAL x = (coordinate + 1) * slope - (g->align_corners ? 0 : (REAL)0.5);
  taps_t taps;
  taps.count = TAPS;
#if TAPS < 4
  if (g->padding != GRID_ZEROS) x = position_inside(x, size, g, &slope);
#endif
#if TAPS == 1
  taps.place[0] = place_of(rint(x), size);
  set_weights(&taps, 0, order);
#else
  const REAL low = floor(x);
  for (int i = 0; i < TAPS; ++i) {
    REAL at = low + (i - TAPS / 2 + 1), unused = 0;
#if TAPS == 4
    if (g->padding != GRID_ZEROS) at = position_inside(at, size, g, &unused);
#endif
    taps.place[i] = place_of(at, size);
  }
  set_weights(&taps, x - low, order);
#endif
  for (int factor = 0; factor < order; ++factor)
    for (int i = 0; i < TAPS; ++i) taps.weight[i] *= slope;
  return taps;
}

inline taps_t only_tap(void) {
  taps_t taps;
  taps.count = 1;
  taps.place[0] = 0;
  taps.weight[0] = 1;
  return taps;
}

typedef struct {
  taps_t along[3];
} point_t;

// `point` holds the coordinates of an axis at g->axes - 1 minus its number.
inline point_t point_of(const __global STORAGE *point, const KernelGrid *g) {
  point_t p;
  p.along[DEPTH] = g->axes == 3 ? taps_of(LOAD(point, 2), g, DEPTH, g->order[DEPTH]) : only_tap();
  p.along[HEIGHT] = taps_of(LOAD(point, 1), g, HEIGHT, g->order[HEIGHT]);
  p.along[WIDTH] = taps_of(LOAD(point, 0), g, WIDTH, g->order[WIDTH]);
  return p;
}

inline long elements(const KernelGrid *g) {
  return (long)g->size[DEPTH] * g->size[HEIGHT] * g->size[WIDTH];
}

// Calls body for each element that a point reads: `place` in its volume, `weight`.
#define FOR_TAPS(point, g, place, weight, body)                                                      \
  for (int d_ = 0; d_ < (point)->along[DEPTH].count; ++d_) {                                         \
    if ((point)->along[DEPTH].place[d_] < 0) continue;                                               \
    const long slice_ = (long)(point)->along[DEPTH].place[d_] * (g)->size[HEIGHT];                   \
    for (int h_ = 0; h_ < TAPS; ++h_) {                                                              \
      if ((point)->along[HEIGHT].place[h_] < 0) continue;                                            \
      const long row_ = (slice_ + (point)->along[HEIGHT].place[h_]) * (g)->size[WIDTH];              \
      const REAL row_weight_ = (point)->along[DEPTH].weight[d_] * (point)->along[HEIGHT].weight[h_]; \
      for (int w_ = 0; w_ < TAPS; ++w_) {                                                            \
        if ((point)->along[WIDTH].place[w_] < 0) continue;                                           \
        const long place = row_ + (point)->along[WIDTH].place[w_];                                   \
        const REAL weight = row_weight_ * (point)->along[WIDTH].weight[w_];                          \
        body                                                                                         \
      }                                                                                              \
    }                                                                                                \
  }

// The share of a work item: GRID_CHANNELS channels of a point.
typedef struct {
  long image, point, plane;  // plane: the first channel's, counted over all images
  int channels;
} share_t;

inline long channel_groups(const KernelGrid *g) {
  return (g->channels + GRID_CHANNELS - 1) / GRID_CHANNELS;
}

inline share_t share_of(const long part, const long points, const KernelGrid *g) {
  share_t s;
  const long group = part / points, groups = channel_groups(g);
  s.point = part - group * points;
  s.image = group / groups;
  const long channel = (group - s.image * groups) * GRID_CHANNELS;
  s.plane = s.image * g->channels + channel;
  s.channels = (int)min(g->channels - channel, (long)GRID_CHANNELS);
  return s;
}

// y [images, channels, points] of x [images, channels, size]; `parts`: images * groups of channels * points.
__kernel void grid_sample(BUFFER(const STORAGE, x), BUFFER(const STORAGE, grid), BUFFER(STORAGE, y),
                          const long parts, const KernelGrid given) {
  BIND(const STORAGE, x);
  BIND(const STORAGE, grid);
  BIND(STORAGE, y);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const share_t my = share_of(part, g.points, &g);
    const point_t p = point_of(grid + (my.image * g.points + my.point) * g.axes, &g);
    for (int c = 0; c < my.channels; ++c) {
      const __global STORAGE *from = x + (my.plane + c) * elements(&g);
      REAL sum = 0;
      FOR_TAPS(&p, &g, place, weight, sum += weight * LOAD(from, place);)
      STORE(y, (my.plane + c) * g.points + my.point, sum);
    }
  }
}

// dgrid [images, points, axes]: along each axis the derivative of all channels' values, times their
// gradients. `parts`: all points.
__kernel void grid_sample_backward_grid(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x),
                                        BUFFER(const STORAGE, grid), BUFFER(STORAGE, dgrid), const long parts,
                                        const KernelGrid given) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const STORAGE, grid);
  BIND(STORAGE, dgrid);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const long image = part / g.points, point = part - image * g.points;
    const point_t p = point_of(grid + part * g.axes, &g);
    for (int coordinate = 0; coordinate < g.axes; ++coordinate) {
      const int axis = WIDTH - coordinate;
      point_t moved = p;
      moved.along[axis] = taps_of(LOAD(grid, part * g.axes + coordinate), &g, axis, g.order[axis] + 1);
      REAL sum = 0;
      for (long first = 0; first < g.channels;
           first += GRID_CHANNELS) {  // in blocks, so that no chain grows long
        REAL block = 0;
        for (long c = first; c < min(first + GRID_CHANNELS, g.channels); ++c) {
          const long plane = image * g.channels + c;
          const __global STORAGE *from = x + plane * elements(&g);
          REAL slope = 0;
          FOR_TAPS(&moved, &g, place, weight, slope += weight * LOAD(from, place);)
          block += slope * LOAD(dy, plane * g.points + point);
        }
        sum += block;
      }
      STORE(dgrid, part * g.axes + coordinate, sum);
    }
  }
}

#if SHAPE_CPU

// A work item takes whole planes of dx, and adds to them point by point: sums [planes, size] of the compute
// type.
__kernel void grid_sample_backward_input(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, grid),
                                         BUFFER(REAL, sums), const long planes, const KernelGrid given) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, grid);
  BIND(REAL, sums);
  const KernelGrid g = given;
  FOR_MY(plane, planes) {
    __global REAL *to = sums + plane * elements(&g);
    for (long i = 0; i < elements(&g); ++i) to[i] = 0;
    const __global STORAGE *points = grid + plane / g.channels * g.points * g.axes;
    for (long point = 0; point < g.points; ++point) {
      const point_t p = point_of(points + point * g.axes, &g);
      const REAL gradient = LOAD(dy, plane * g.points + point);
      FOR_TAPS(&p, &g, place, weight, to[place] += weight * gradient;)
    }
  }
}

__kernel void store_sums(BUFFER(const REAL, sums), BUFFER(STORAGE, dx), const long numel) {
  BIND(const REAL, sums);
  BIND(STORAGE, dx);
  FOR_MY(i, numel) STORE(dx, i, sums[i]);
}

#else

// Which elements the points read: keys [points, reads] with the element's number among those of all images,
// or `none`; weights alike. `points`: those of all images.
__kernel void find_reads(BUFFER(const STORAGE, grid), BUFFER(int, keys), BUFFER(REAL, weights),
                         const long points, const int reads, const int none, const KernelGrid given) {
  BIND(const STORAGE, grid);
  BIND(int, keys);
  BIND(REAL, weights);
  const KernelGrid g = given;
  FOR_MY(point, points) {
    const point_t p = point_of(grid + point * g.axes, &g);
    const long first = point / g.points * elements(&g);
    int read = 0;
    FOR_TAPS(&p, &g, place, weight, {
      keys[point * reads + read] = (int)(first + place);
      weights[point * reads + read] = weight;
      ++read;
    })
    for (; read < reads; ++read) keys[point * reads + read] = none;
  }
}

inline int first_at_least(const __global int *keys, const int count, const int key) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// A work item takes an element of GRID_CHANNELS planes of dx [images, channels, size], and adds what its
// readers gave, in blocks: `keys` and `order` as sorting has left them. `parts`: images * groups of channels
// * elements of a volume.
__kernel void grid_sample_backward_input(BUFFER(const STORAGE, dy), BUFFER(const int, keys),
                                         BUFFER(const int, order), BUFFER(const REAL, weights),
                                         BUFFER(STORAGE, dx), const long parts, const int count,
                                         const int reads, const KernelGrid given) {
  BIND(const STORAGE, dy);
  BIND(const int, keys);
  BIND(const int, order);
  BIND(const REAL, weights);
  BIND(STORAGE, dx);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const share_t my = share_of(part, elements(&g), &g);
    const int key = (int)(my.image * elements(&g) + my.point);
    const __global STORAGE *from = dy + my.plane * g.points;
    REAL total[GRID_CHANNELS];
    for (int c = 0; c < GRID_CHANNELS; ++c) total[c] = 0;
    for (int at = first_at_least(keys, count, key); at < count && keys[at] == key;) {
      REAL sum[GRID_CHANNELS];
      for (int c = 0; c < GRID_CHANNELS; ++c) sum[c] = 0;
      for (const int end = min(at + GRID_BLOCK, count); at < end && keys[at] == key; ++at) {
        const int read = order[at];
        const REAL weight = weights[read];
        const long point = read / reads - my.image * g.points;
        for (int c = 0; c < my.channels; ++c) sum[c] += weight * LOAD(from, c * g.points + point);
      }
      for (int c = 0; c < my.channels; ++c) total[c] += sum[c];
    }
    for (int c = 0; c < my.channels; ++c) STORE(dx, (my.plane + c) * elements(&g) + my.point, total[c]);
  }
}

#endif
