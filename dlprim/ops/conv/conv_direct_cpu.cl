// Convolutions of groups too narrow for a register tile (depthwise), on a CPU: vectors run along an output row, and
// every tap is one multiply-add. The phased input must be a copy with slack, since vectors run over the rows' ends.
#include "ops/conv/conv_cpu.cl"

// Lanes to keep, as select() wants them: as wide as the lanes of VEC.
#if LANES == 16
#define MASK int16
#define MASK_LANE int
#else
#define MASK long8
#define MASK_LANE long
#endif

#define ROWS 4  // output rows that share one weight
#define TAPS 3  // taps that share one load of a gradient

// One term of every result of a plane: a weight, and where its input lies.
typedef struct {
  REAL weight;
  long offset;
} Term;

// Stores a vector of results; what runs over the row's end is overwritten by the next row, and must stay in the plane.
inline void store_row(const VEC sum, __global STORAGE *restrict out, const long y_column, const int count,
                      const bool whole) {
#if DIRECT
  if (whole) {
    VSTORE(sum, 0, out);
    return;
  }
#endif
  REAL values[LANES];
  VSTORE(sum, 0, values);
  for (int i = 0; i < count; ++i) STORE(out, i * y_column, values[i]);
}

// y (+)= the terms, over one plane.
inline void add_terms(const Stencil *s, __global const REAL *restrict x, const Term *terms, const int count,
                      const VEC shift, const bool add, __global STORAGE *restrict y) {
  const int out_w = s->out_w, out_h = s->out_h;
  const long plane = (long)out_h * out_w;
  const bool contiguous = s->y_column == 1 && s->y_row == out_w && !add;
  for (int h = 0; h < out_h; h += ROWS)
    for (int column = 0; column < out_w; column += LANES) {
      // The last vector of a wide row overlaps the one before it, which must not be added twice.
      const int w = add || out_w < LANES ? column : min(column, out_w - LANES);
      VEC sums[ROWS];
      long row[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        sums[r] = shift;
        row[r] = min(h + r, out_h - 1) * s->row_length + w;
      }
      for (int t = 0; t < count; ++t) {
        const VEC weight = (VEC)(terms[t].weight);
        __global const REAL *from = x + terms[t].offset;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sums[r] = MAD(weight, VLOAD(0, from + row[r]), sums[r]);
      }
      // The vector of a row narrower than LANES runs over: rows go in order.
      const int width = min(LANES, out_w - w);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (h + r >= out_h) break;
        __global STORAGE *out = y + (h + r) * s->y_row + w * s->y_column;
        if (add) {
          REAL values[LANES];
          VSTORE(sums[r], 0, values);
          for (int i = 0; i < width; ++i) values[i] += LOAD(out, i * s->y_column);
          sums[r] = VLOAD(0, values);
        }
        const bool whole = contiguous && (width == LANES || (out_w < LANES && (long)(h + r) * out_w + LANES <= plane));
        store_row(sums[r], out, s->y_column, width, whole);
      }
    }
}

// One item a stretch of planes. Weight of (row, channel, tap): w_base + group, row, channel and tap strides.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void conv_direct(BUFFER(const STORAGE, weights), BUFFER(const REAL, x), BUFFER(const STORAGE, bias),
                          BUFFER(STORAGE, y), const Stencil stencil, const int has_bias, const long w_base,
                          const long w_group, const long w_row, const long w_channel, const long w_tap_h,
                          const long w_tap_w) {
  const Stencil s = stencil;
  const int taps_h = s.taps_h, taps_w = s.taps_w, taps = taps_h * taps_w, count = s.channels * taps;
  const long planes = s.images * s.groups * s.rows, end = first_job(planes, get_group_id(0) + 1, get_num_groups(0));
  for (long plane = first_job(planes, get_group_id(0), get_num_groups(0)); plane < end; ++plane) {
    const long row = REMAINDER(plane, s.rows), all_groups = plane / s.rows;
    const long group = REMAINDER(all_groups, s.groups), image = all_groups / s.groups;
    const long channel = group * s.rows + row;
    __global const STORAGE *w = weights_buffer + weights_start + w_base + group * w_group + row * w_row;
    __global const REAL *x = x_buffer + x_start + s.base + group * s.group_stride + image * s.image_stride;
    __global STORAGE *y = y_buffer + y_start + s.y_base + image * s.y_image + channel * s.y_channel;
    VEC shift = (VEC)(has_bias ? LOAD(bias_buffer, bias_start + channel) : (REAL)0);
    for (int first = 0; first == 0 || first < count; first += CONV_MAX_TERMS) {
      Term terms[CONV_MAX_TERMS];
      const int some = min(CONV_MAX_TERMS, count - first);
      for (int t = 0; t < some; ++t) {
        const int c = (first + t) / taps, tap = first + t - c * taps, th = tap / taps_w, tw = tap - th * taps_w;
        terms[t].weight = LOAD(w, c * w_channel + th * w_tap_h + tw * w_tap_w);
        terms[t].offset = c * s.channel_stride + tap_offset(&s, th, tw);
      }
      add_terms(&s, x, terms, some, shift, first > 0, y);
      shift = (VEC)(0);
    }
  }
}

inline REAL sum_of_lanes(const VEC v) {
  REAL lanes[LANES];
  VSTORE(v, 0, lanes);
#pragma unroll
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

// `count` gradients as a vector filled up with zeros; a whole vector may be read where `readable`.
inline VEC load_gradients(__global const STORAGE *restrict from, const int count, const bool readable, const MASK keep) {
#if DIRECT
  if (readable) return select((VEC)(0), VLOAD(0, from), keep);
#endif
  REAL values[LANES];
  for (int i = 0; i < LANES; ++i) values[i] = i < count ? LOAD(from, i) : (REAL)0;
  return VLOAD(0, values);
}

// dw, one item a filter plane (output channel, channel).
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void weight_direct(BUFFER(const STORAGE, dy), BUFFER(const REAL, x), BUFFER(STORAGE, dw),
                            const Stencil stencil) {
  const Stencil s = stencil;
  const int out_w = s.out_w, out_h = s.out_h, taps_w = s.taps_w, taps = s.taps_h * s.taps_w;
  const long filter = get_group_id(0), out_channel = filter / s.channels, channel = REMAINDER(filter, s.channels);
  const long group = out_channel / s.rows, out_channels = s.groups * s.rows, plane = s.out_h * s.out_w;
  const long all_gradients = s.images * out_channels * plane;
  __global const REAL *x = x_buffer + x_start + s.base + group * s.group_stride + channel * s.channel_stride;
  __global STORAGE *to = dw_buffer + dw_start + filter * taps;
  const int tail = out_w - (out_w - 1) / LANES * LANES;
  MASK_LANE keep_lanes[LANES];
  for (int i = 0; i < LANES; ++i) keep_lanes[i] = i < tail ? -1 : 0;
  const MASK keep_all = (MASK)(-1), keep_tail = VLOAD(0, keep_lanes);
  for (int first = 0; first < taps; first += TAPS) {
    VEC totals[TAPS];
    long offset[TAPS];
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
      const int tap = min(first + t, taps - 1), th = tap / taps_w;
      totals[t] = (VEC)(0);
      offset[t] = tap_offset(&s, th, tap - th * taps_w);
    }
    for (long image = 0; image < s.images; ++image) {
      const long start = (image * out_channels + out_channel) * plane;
      __global const REAL *pixels = x + image * s.image_stride;
      VEC sums[TAPS];
#pragma unroll
      for (int t = 0; t < TAPS; ++t) sums[t] = (VEC)(0);
      for (int h = 0; h < out_h; ++h)
        for (int w = 0; w < out_w; w += LANES) {
          const long at = start + (long)h * out_w + w;
          const bool last = w + LANES >= out_w;
          const MASK keep = last ? keep_tail : keep_all;
          const VEC gradient = load_gradients(dy_buffer + dy_start + at, out_w - w, at + LANES <= all_gradients, keep);
          // Lanes behind the row meet pixels of others: 0 times infinity would count.
#pragma unroll
          for (int t = 0; t < TAPS; ++t)
            sums[t] = select(
                sums[t], MAD(gradient, VLOAD(0, pixels + offset[t] + h * s.row_length + w), sums[t]), keep);
        }
#pragma unroll
      for (int t = 0; t < TAPS; ++t) totals[t] += sums[t];
    }
#pragma unroll
    for (int t = 0; t < TAPS; ++t)
      if (first + t < taps) STORE(to, first + t, sum_of_lanes(totals[t]));
  }
}
