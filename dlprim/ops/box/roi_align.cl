// Means over regions of planes, and their gradient. A region is cut into bins, a bin into sampling points, and a point
// reads the four elements around it: a weight along height times one along width. Macros: STORAGE, REAL, LOAD, STORE
// (dtype_defines).
#include "core/common.cl"
#include "ops/box/box_shared.h"
#include "ops/sort/work.cl"

#define HEIGHT 0
#define WIDTH 1

// One axis of a region.
typedef struct {
  REAL start, bin, step;  // elements; from point to point
  int grid;               // points of a bin
} axis_t;

inline axis_t axis_of(const __global STORAGE *rois, long k, const KernelRegions *p, int axis) {
  axis_t a;
  a.start = LOAD(rois, 5 * k + 2 - axis) * p->scale - p->offset;
  REAL extent = LOAD(rois, 5 * k + 4 - axis) * p->scale - p->offset - a.start;
  if (!p->is_aligned) extent = fmax(extent, (REAL)1);
  a.bin = extent / p->out[axis];
  a.grid = p->samples;
  if (a.grid <= 0) a.grid = isfinite(a.bin) ? (int)clamp(ceil(a.bin), (REAL)0, (REAL)(ROI_MOST / p->out[axis])) : 0;
  a.step = a.bin / a.grid;
  return a;
}

inline REAL position(const axis_t *a, int bin, int point) {
  return a->start + bin * a->bin + (point + (REAL)0.5) * a->bin / a->grid;
}

typedef struct {
  int first, end;
} stretch_t;

// A stretch of `count` points, the first at `origin` + step / 2, that holds all between two positions.
inline stretch_t points_between(const axis_t *a, REAL origin, REAL low, REAL high, int count) {
  stretch_t s = {0, count};
  if (!(a->step > 0)) return s;
  const REAL first = (low - origin) / a->step, last = (high - origin) / a->step;
  const REAL rounding = 2 + (fabs(first) + fabs(last)) * (REAL)1e-5;  // more than positions can be wrong by
  // A count above 2^24 may be rounded up.
  s.first = min((int)fmax(fmin(first - rounding, (REAL)count), (REAL)0), count);
  s.end = min((int)fmax(fmin(last + rounding, (REAL)count), (REAL)0), count);
  return s;
}

// The elements that a point reads along one axis: (1 - weight) * x[low] + weight * x[high], or nothing outside of the
// plane.
typedef struct {
  int low, high, is_inside;
  REAL weight;
} tap_t;

inline tap_t tap_at(REAL position, int size) {
  tap_t tap = {size - 1, size - 1, position >= -1 && position <= size, 0};
  const REAL held = fmax(position, (REAL)0);
  if (tap.is_inside && held < size - 1) {
    tap.low = (int)held;
    tap.high = tap.low + 1;
    tap.weight = held - tap.low;
  }
  return tap;
}

// The image that a region lies on, or -1.
inline int image_of(const __global STORAGE *rois, long k, const KernelRegions *p) {
  const REAL image = LOAD(rois, 5 * k);
  return image > -1 && image < p->images ? (int)image : -1;
}

// Over the number of points, as torchvision's, of which an empty bin has one.
inline REAL share_of(const axis_t *h, const axis_t *w) { return 1 / fmax((REAL)h->grid * w->grid, (REAL)1); }

inline REAL row_value(const __global STORAGE *row, const tap_t *w) {
  return (1 - w->weight) * LOAD(row, w->low) + w->weight * LOAD(row, w->high);
}

// y [regions, channels, out] of x [images, channels, size].
__kernel void roi_align(BUFFER(const STORAGE, x), BUFFER(const STORAGE, rois), BUFFER(STORAGE, y), const long numel,
                        const KernelRegions given, CHECK_ARGS) {
  BIND(const STORAGE, x);
  BIND(const STORAGE, rois);
  BIND(STORAGE, y);
  const KernelRegions p = given;
  FOR_MY(e, numel) {
    const long line = e / p.out[WIDTH], plane = line / p.out[HEIGHT], k = plane / p.channels;
    const int bin_w = (int)(e - line * p.out[WIDTH]), bin_h = (int)(line - plane * p.out[HEIGHT]);
    const int image = image_of(rois, k, &p);
    if (image < 0) {
      FAIL(LOAD(rois, 5 * k));
      STORE(y, e, 0);
      continue;
    }
    const axis_t h = axis_of(rois, k, &p, HEIGHT), w = axis_of(rois, k, &p, WIDTH);
    const stretch_t rows = points_between(&h, h.start + bin_h * h.bin, -1, p.size[HEIGHT], h.grid);
    const stretch_t columns = points_between(&w, w.start + bin_w * w.bin, -1, p.size[WIDTH], w.grid);
    const __global STORAGE *from =
        x + (image * (long)p.channels + plane - k * p.channels) * p.size[HEIGHT] * p.size[WIDTH];
    REAL sum = 0;
    for (int i = rows.first; i < rows.end; ++i) {
      const tap_t at_h = tap_at(position(&h, bin_h, i), p.size[HEIGHT]);
      if (!at_h.is_inside) continue;
      const __global STORAGE *low = from + (long)at_h.low * p.size[WIDTH],
                             *high = from + (long)at_h.high * p.size[WIDTH];
      for (int j = columns.first; j < columns.end; ++j) {
        const tap_t at_w = tap_at(position(&w, bin_w, j), p.size[WIDTH]);
        if (at_w.is_inside) sum += (1 - at_h.weight) * row_value(low, &at_w) + at_h.weight * row_value(high, &at_w);
      }
    }
    STORE(y, e, sum * share_of(&h, &w));
  }
}

#if SHAPE_CPU

// A work item takes whole planes of dx, and adds to them region by region: sums [images * channels, size] of the
// compute type.
__kernel void roi_align_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, rois), BUFFER(REAL, sums),
                                 const long planes, const long regions, const KernelRegions given) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, rois);
  BIND(REAL, sums);
  const KernelRegions p = given;
  FOR_MY(plane, planes) {
    const int image = (int)(plane / p.channels), channel = (int)(plane - (long)image * p.channels);
    __global REAL *to = sums + plane * p.size[HEIGHT] * p.size[WIDTH];
    for (long i = 0; i < (long)p.size[HEIGHT] * p.size[WIDTH]; ++i) to[i] = 0;
    for (long k = 0; k < regions; ++k) {
      if (image_of(rois, k, &p) != image) continue;
      const axis_t h = axis_of(rois, k, &p, HEIGHT), w = axis_of(rois, k, &p, WIDTH);
      const REAL share = share_of(&h, &w);
      const __global STORAGE *from = dy + (k * p.channels + channel) * p.out[HEIGHT] * p.out[WIDTH];
      for (int bin_h = 0; bin_h < p.out[HEIGHT]; ++bin_h) {
        const stretch_t rows = points_between(&h, h.start + bin_h * h.bin, -1, p.size[HEIGHT], h.grid);
        for (int i = rows.first; i < rows.end; ++i) {
          const tap_t at_h = tap_at(position(&h, bin_h, i), p.size[HEIGHT]);
          if (!at_h.is_inside) continue;
          __global REAL *low = to + (long)at_h.low * p.size[WIDTH], *high = to + (long)at_h.high * p.size[WIDTH];
          for (int bin_w = 0; bin_w < p.out[WIDTH]; ++bin_w) {
            const REAL g = share * LOAD(from, bin_h * p.out[WIDTH] + bin_w);
            const stretch_t columns = points_between(&w, w.start + bin_w * w.bin, -1, p.size[WIDTH], w.grid);
            for (int j = columns.first; j < columns.end; ++j) {
              const tap_t at_w = tap_at(position(&w, bin_w, j), p.size[WIDTH]);
              if (!at_w.is_inside) continue;
              const REAL left = g * (1 - at_w.weight), right = g * at_w.weight;
              low[at_w.low] += (1 - at_h.weight) * left;
              low[at_w.high] += (1 - at_h.weight) * right;
              high[at_w.low] += at_h.weight * left;
              high[at_w.high] += at_h.weight * right;
            }
          }
        }
      }
    }
  }
}

__kernel void store_sums(BUFFER(const REAL, sums), BUFFER(STORAGE, dx), const long numel) {
  BIND(const REAL, sums);
  BIND(STORAGE, dx);
  FOR_MY(i, numel) STORE(dx, i, sums[i]);
}

#else

inline REAL weight_of(const tap_t *tap, int at) {
  if (!tap->is_inside) return 0;
  return (tap->low == at ? 1 - tap->weight : 0) + (tap->high == at ? tap->weight : 0);
}

// A work item takes an element of ROI_CHANNELS planes, and looks which points of which regions read it: the same for
// all of them. dx [images, channels, size]; `parts`: images * groups of channels * elements of a plane.
__kernel void roi_align_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, rois), BUFFER(STORAGE, dx),
                                 const long parts, const long regions, const KernelRegions given) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, rois);
  BIND(STORAGE, dx);
  const KernelRegions p = given;
  const int groups = (p.channels + ROI_CHANNELS - 1) / ROI_CHANNELS;
  const long bins = (long)p.out[HEIGHT] * p.out[WIDTH], pixels = (long)p.size[HEIGHT] * p.size[WIDTH];
  FOR_MY(part, parts) {
    const long group = part / pixels, pixel = part - group * pixels;
    const int image = (int)(group / groups), channel = (int)(group - (long)image * groups) * ROI_CHANNELS;
    const int at_h = (int)(pixel / p.size[WIDTH]), at_w = (int)(pixel - (long)at_h * p.size[WIDTH]);
    const int channels = min(p.channels - channel, ROI_CHANNELS);
    REAL sum[ROI_CHANNELS];
    for (int c = 0; c < ROI_CHANNELS; ++c) sum[c] = 0;
    for (long k = 0; k < regions; ++k) {
      if (image_of(rois, k, &p) != image) continue;
      const axis_t h = axis_of(rois, k, &p, HEIGHT), w = axis_of(rois, k, &p, WIDTH);
      const stretch_t rows = points_between(&h, h.start, at_h - 1, at_h + 1, h.grid * p.out[HEIGHT]);
      const stretch_t columns = points_between(&w, w.start, at_w - 1, at_w + 1, w.grid * p.out[WIDTH]);
      const __global STORAGE *from = dy + (k * p.channels + channel) * bins;
      const REAL share = share_of(&h, &w);
      for (int i = rows.first; i < rows.end; ++i) {
        const int bin_h = i / h.grid;
        const tap_t tap_h = tap_at(position(&h, bin_h, i - bin_h * h.grid), p.size[HEIGHT]);
        const REAL weight_h = weight_of(&tap_h, at_h);
        if (weight_h == 0) continue;
        for (int j = columns.first; j < columns.end; ++j) {
          const int bin_w = j / w.grid;
          const tap_t tap_w = tap_at(position(&w, bin_w, j - bin_w * w.grid), p.size[WIDTH]);
          const REAL weight = share * weight_h * weight_of(&tap_w, at_w);
          if (weight == 0) continue;
          for (int c = 0; c < channels; ++c) sum[c] += weight * LOAD(from, c * bins + bin_h * p.out[WIDTH] + bin_w);
        }
      }
    }
    for (int c = 0; c < channels; ++c)
      STORE(dx, ((long)image * p.channels + channel + c) * pixels + pixel, sum[c]);
  }
}

#endif
