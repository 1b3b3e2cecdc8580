// Values of planes or volumes at the points of a grid. A point reads TAPS elements along each axis, with a
// weight along every axis. Points are taken LANES at a time, so that a CPU has them in vectors.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); AXES: 2 or 3; TAPS: 1 the nearest element, 2 linear, 4 cubic.
#include "core/common.cl"
#include "ops/resample/resample_shared.h"
#include "ops/sort/work.cl"

#if SHAPE_CPU
#define LANES GRID_LANES
#else
#define LANES 1
#endif
#define FOR_LANES for (int lane = 0; lane < LANES; ++lane)

#define READS (AXES == 3 ? TAPS * TAPS * TAPS : TAPS * TAPS)

// The elements that points read along one axis. A place of -1 lies outside.
typedef struct {
  int place[TAPS][LANES];
  REAL weight[TAPS][LANES];
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
      const int is_even = turns == 2 * floor(turns / 2);
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

// The weights of the elements around positions that lie `shares` behind the last ones before them.
inline void set_weights(taps_t *taps, const REAL *shares, const int order) {
#if TAPS == 1
  FOR_LANES taps->weight[0][lane] = order == 0;
#elif TAPS == 2
  const REAL sign = order == 0 ? 1 : -1, base = order <= 1, slope = order == 0;
  FOR_LANES {
    taps->weight[0][lane] = sign * (base - slope * shares[lane]);
    taps->weight[1][lane] = slope * shares[lane] + (base - slope);
  }
#else
  const REAL mirrored = order % 2 ? -1 : 1;
  FOR_LANES {
    const REAL share = shares[lane];
    taps->weight[0][lane] = far_cubic(share + 1, order);
    taps->weight[1][lane] = near_cubic(share, order);
    taps->weight[2][lane] = mirrored * near_cubic(1 - share, order);
    taps->weight[3][lane] = mirrored * far_cubic(2 - share, order);
  }
#endif
}

// In loops that do one thing each: compilers make vectors of such.
inline void set_taps(taps_t *taps, const REAL *coordinates, const KernelGrid *g, const int axis, const int order) {
  const int size = g->size[axis], padding = g->padding;
  const REAL scale = (g->align_corners ? size - 1 : size) * (REAL)0.5, offset = g->align_corners ? 0 : (REAL)0.5;
  REAL slopes[LANES], x[LANES], shares[LANES];
  FOR_LANES {
    slopes[lane] = scale;
    x[lane] = (coordinates[lane] + 1) * scale - offset;
  }
#if TAPS < 4
  if (padding != GRID_ZEROS) FOR_LANES x[lane] = position_inside(x[lane], size, g, &slopes[lane]);
#endif
#if TAPS == 1
  FOR_LANES taps->place[0][lane] = place_of(rint(x[lane]), size);
#else
  for (int i = 0; i < TAPS; ++i) {
    REAL at[LANES];
    FOR_LANES at[lane] = floor(x[lane]) + (i - TAPS / 2 + 1);
#if TAPS == 4
    REAL unused = 0;
    if (padding != GRID_ZEROS) FOR_LANES at[lane] = position_inside(at[lane], size, g, &unused);
#endif
    FOR_LANES taps->place[i][lane] = place_of(at[lane], size);
  }
  FOR_LANES shares[lane] = x[lane] - floor(x[lane]);
#endif
  set_weights(taps, shares, order);
  for (int factor = 0; factor < order; ++factor)
    for (int i = 0; i < TAPS; ++i) FOR_LANES taps->weight[i][lane] *= slopes[lane];
}

// LANES points, of which the first `lanes` are there: coordinates[0] along the width, then the height and the depth.
typedef struct {
  int lanes;
  REAL coordinates[AXES][LANES];
  taps_t along[3];
} points_t;

#define DEPTH 0
#define HEIGHT 1
#define WIDTH 2

inline void set_points(points_t *p, const __global STORAGE *grid, const long lanes, const KernelGrid *g) {
  p->lanes = (int)min(lanes, (long)LANES);
  for (int i = 0; i < AXES; ++i) {
    FOR_LANES p->coordinates[i][lane] = lane < p->lanes ? LOAD(grid, lane * AXES + i) : 0;
    set_taps(&p->along[WIDTH - i], p->coordinates[i], g, WIDTH - i, g->order[WIDTH - i]);
  }
}

// The elements that points read: places in their volume, -1 outside, where the weight is 0.
typedef struct {
  int place[READS][LANES];
  REAL weight[READS][LANES];
} reads_t;

inline void set_reads(reads_t *reads, const points_t *p, const KernelGrid *g) {
  const taps_t *height = &p->along[HEIGHT], *width = &p->along[WIDTH];
  for (int read = 0; read < READS; ++read) {
    const int h = read / TAPS % TAPS, w = read % TAPS;
    FOR_LANES {
      int row = height->place[h][lane], is_inside = row >= 0 && width->place[w][lane] >= 0;
      REAL weight = height->weight[h][lane];
#if AXES == 3
      const taps_t *depth = &p->along[DEPTH];
      const int d = read / (TAPS * TAPS), slice = depth->place[d][lane];
      is_inside = is_inside && slice >= 0;
      row += slice * g->size[HEIGHT];
      weight *= depth->weight[d][lane];
#endif
      reads->place[read][lane] = is_inside ? row * g->size[WIDTH] + width->place[w][lane] : -1;
      reads->weight[read][lane] = is_inside ? weight * width->weight[w][lane] : 0;
    }
  }
}

inline void set_values(REAL *values, const reads_t *reads, const __global STORAGE *from) {
  FOR_LANES values[lane] = 0;
  for (int read = 0; read < READS; ++read) {
    FOR_LANES {
      const int place = reads->place[read][lane];
      const REAL element = LOAD(from, max(place, 0));
      values[lane] += reads->weight[read][lane] * (place < 0 ? 0 : element);
    }
  }
}

inline long elements(const KernelGrid *g) {
  return (long)g->size[DEPTH] * g->size[HEIGHT] * g->size[WIDTH];
}

inline long blocks_of(const long points) {
  return (points + LANES - 1) / LANES;
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

// y [images, channels, points] of x [images, channels, size]; `parts`: images * groups of channels * blocks of points.
__kernel void grid_sample(BUFFER(const STORAGE, x), BUFFER(const STORAGE, grid), BUFFER(STORAGE, y), const long parts,
                          const KernelGrid given) {
  BIND(const STORAGE, x);
  BIND(const STORAGE, grid);
  BIND(STORAGE, y);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const share_t my = share_of(part, blocks_of(g.points), &g);
    const long first = my.point * LANES;
    points_t p;
    set_points(&p, grid + (my.image * g.points + first) * AXES, g.points - first, &g);
    reads_t reads;
    set_reads(&reads, &p, &g);
    for (int c = 0; c < my.channels; ++c) {
      const __global STORAGE *from = x + (my.plane + c) * elements(&g);
      REAL values[LANES];
      set_values(values, &reads, from);
      for (int lane = 0; lane < p.lanes; ++lane) STORE(y, (my.plane + c) * g.points + first + lane, values[lane]);
    }
  }
}

// dgrid [images, points, axes]: along each axis the derivative of all channels' values, times their gradients.
// `parts`: images * blocks of points.
__kernel void grid_sample_backward_grid(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x),
                                        BUFFER(const STORAGE, grid), BUFFER(STORAGE, dgrid), const long parts,
                                        const KernelGrid given) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const STORAGE, grid);
  BIND(STORAGE, dgrid);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const long image = part / blocks_of(g.points), point = (part - image * blocks_of(g.points)) * LANES;
    points_t p;
    set_points(&p, grid + (image * g.points + point) * AXES, g.points - point, &g);
    for (int i = 0; i < AXES; ++i) {
      const int axis = WIDTH - i;
      const taps_t unmoved = p.along[axis];
      set_taps(&p.along[axis], p.coordinates[i], &g, axis, g.order[axis] + 1);
      reads_t reads;
      set_reads(&reads, &p, &g);
      p.along[axis] = unmoved;
      REAL sums[LANES];
      FOR_LANES sums[lane] = 0;
      for (long first = 0; first < g.channels; first += GRID_CHANNELS) {  // in blocks, so that no chain grows long
        REAL block[LANES];
        FOR_LANES block[lane] = 0;
        for (long c = first; c < min(first + GRID_CHANNELS, g.channels); ++c) {
          const long plane = image * g.channels + c;
          const __global STORAGE *from = x + plane * elements(&g);
          REAL slopes[LANES];
          set_values(slopes, &reads, from);
          for (int lane = 0; lane < p.lanes; ++lane)
            block[lane] += slopes[lane] * LOAD(dy, plane * g.points + point + lane);
        }
        FOR_LANES sums[lane] += block[lane];
      }
      for (int lane = 0; lane < p.lanes; ++lane)
        STORE(dgrid, (image * g.points + point + lane) * AXES + i, sums[lane]);
    }
  }
}

// Which elements the points read: keys [points, READS] with the element's number among those of all images, or
// `none`; weights alike. `parts`: images * blocks of points.
__kernel void find_reads(BUFFER(const STORAGE, grid), BUFFER(int, keys), BUFFER(REAL, weights), const long parts,
                         const int none, const KernelGrid given) {
  BIND(const STORAGE, grid);
  BIND(int, keys);
  BIND(REAL, weights);
  const KernelGrid g = given;
  FOR_MY(part, parts) {
    const long image = part / blocks_of(g.points), point = (part - image * blocks_of(g.points)) * LANES;
    points_t p;
    set_points(&p, grid + (image * g.points + point) * AXES, g.points - point, &g);
    reads_t reads;
    set_reads(&reads, &p, &g);
    for (int lane = 0; lane < p.lanes; ++lane) {
      for (int read = 0; read < READS; ++read) {
        const long at = (image * g.points + point + lane) * READS + read;
        const int place = reads.place[read][lane];
        keys[at] = place < 0 ? none : (int)(image * elements(&g)) + place;
        weights[at] = reads.weight[read][lane];
      }
    }
  }
}

#if SHAPE_CPU

// A work item takes whole planes of dx, and adds to them point by point: sums [planes, size] of the compute type.
__kernel void grid_sample_backward_input(BUFFER(const STORAGE, dy), BUFFER(const int, keys),
                                         BUFFER(const REAL, weights), BUFFER(REAL, sums), const long planes,
                                         const int none, const KernelGrid given) {
  BIND(const STORAGE, dy);
  BIND(const int, keys);
  BIND(const REAL, weights);
  BIND(REAL, sums);
  const KernelGrid g = given;
  FOR_MY(plane, planes) {
    const long image = plane / g.channels, first = image * elements(&g);
    __global REAL *to = sums + plane * elements(&g);
    for (long i = 0; i < elements(&g); ++i) to[i] = 0;
    for (long point = 0; point < g.points; ++point) {
      const REAL gradient = LOAD(dy, plane * g.points + point);
      const long begin = (image * g.points + point) * READS;
      for (long read = begin; read < begin + READS; ++read)
        if (keys[read] != none) to[keys[read] - first] += weights[read] * gradient;
    }
  }
}

__kernel void store_sums(BUFFER(const REAL, sums), BUFFER(STORAGE, dx), const long numel) {
  BIND(const REAL, sums);
  BIND(STORAGE, dx);
  FOR_MY(i, numel) STORE(dx, i, sums[i]);
}

#else

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
                                         const KernelGrid given) {
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
        const long point = read / READS - my.image * g.points;
        for (int c = 0; c < my.channels; ++c) sum[c] += weight * LOAD(from, c * g.points + point);
      }
      for (int c = 0; c < my.channels; ++c) total[c] += sum[c];
    }
    for (int c = 0; c < my.channels; ++c) STORE(dx, (my.plane + c) * elements(&g) + my.point, total[c]);
  }
}

#endif
