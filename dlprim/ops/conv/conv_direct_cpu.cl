// Convolutions of groups too narrow for a register tile (depthwise), on a CPU: vectors run along an output row, and
// every tap is one multiply-add. An item lays planes out in its scratch, which stays in its core's caches, just before
// it walks over them: vectors run over the rows' ends. (Laid out by a launch before, they left the caches twice.)
#include "ops/conv/conv_cpu.cl"
#include "ops/conv/conv_phased_planes_cpu.cl"
#include "ops/gemm/epilogue_cpu.cl"

#define ROWS 4  // output rows that share one weight, or one vector of x
#define TAPS CONV_TAPS

// One term of every result of a plane: a weight, and where it and its input lie.
typedef struct {
  REAL weight;
  long offset, place;
} Term;

// Stores a vector of results, activated; what runs over the row's end is overwritten by the next row, and must stay in
// the plane.
INLINE void store_row(const VEC result, __global STORAGE *out, const long y_column, const int count,
                      const bool whole) {
  const VEC sum = activated(result);
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

// Whether taps are neighbours in a phased plane, of windows that window_plane and gradient_plane are made for.
inline bool has_plain_window(const Stencil *s) {
  return s->step_h == 1 && s->step_w == 1 && s->stride_h == 1 && s->stride_w == 1 && s->out_h >= ROWS &&
         (s->taps_h == 3 || s->taps_h == 5 || s->taps_h == 7);
}

// A plane of results of one plane of x, whose windows are HEIGHT rows high: ROWS below each other read each vector of x
// once. Blocks at the end of the plane, and of its rows, overlap those before. (No restrict, as in lay_out_row.)
#define DEFINE_WINDOW_PLANE(HEIGHT)                                                                                 \
  inline void window_plane_##HEIGHT(const Stencil *s, __global const REAL *x, const Term *terms, const VEC shift,   \
                                    __global STORAGE *y) {                                                          \
    const int out_h = s->out_h, out_w = s->out_w, row_length = s->row_length, taps_w = s->taps_w;                   \
    const long plane = (long)out_h * out_w, next = s->y_channel;                                                    \
    for (int block = 0; block < out_h; block += ROWS)                                                               \
      for (int column = 0; column < out_w; column += LANES) {                                                       \
        const int h = min(block, out_h - ROWS), w = out_w < LANES ? 0 : min(column, out_w - LANES);                 \
        __global const REAL *from = x + (long)h * row_length + w;                                                   \
        VEC sums[ROWS];                                                                                             \
        _Pragma("unroll") for (int r = 0; r < ROWS; ++r) sums[r] = shift;                                           \
        for (int tw = 0; tw < taps_w; ++tw) {                                                                       \
          VEC weight[HEIGHT];                                                                                       \
          _Pragma("unroll") for (int th = 0; th < HEIGHT; ++th) weight[th] = (VEC)(terms[th * taps_w + tw].weight); \
          _Pragma("unroll") for (int i = 0; i < ROWS + HEIGHT - 1; ++i) {                                           \
            const VEC v = VLOAD(0, from + i * row_length + tw);                                                     \
            _Pragma("unroll") for (int r = 0; r < ROWS; ++r) if (i - r >= 0 && i - r < HEIGHT) sums[r] =            \
                MAD(weight[i - r], v, sums[r]);                                                                     \
          }                                                                                                         \
        }                                                                                                           \
        __global STORAGE *to = y + (long)h * out_w + w;                                                             \
        _Pragma("unroll") for (int r = 0; r < ROWS; ++r) {                                                          \
          PREFETCH_FOR_WRITE(to + r * out_w + next);                                                                \
          store_row(sums[r], to + r * out_w, 1, min(out_w, LANES), (long)(h + r) * out_w + w + LANES <= plane);     \
        }                                                                                                           \
      }                                                                                                             \
  }
DEFINE_WINDOW_PLANE(3)
DEFINE_WINDOW_PLANE(5)
DEFINE_WINDOW_PLANE(7)

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

// The places of `count` terms. Divisions: for each plane anew they took longer than 3x3 windows of 14x14 results.
inline void find_terms(const Stencil *s, const int first, const int count, const long w_channel, const long w_tap_h,
                       const long w_tap_w, Term *terms) {
  const int taps_w = s->taps_w, taps = s->taps_h * taps_w;
  for (int t = 0; t < count; ++t) {
    const int c = (first + t) / taps, tap = first + t - c * taps, th = tap / taps_w, tw = tap - th * taps_w;
    terms[t].offset = c * s->channel_stride + tap_offset(s, th, tw);
    terms[t].place = c * w_channel + th * w_tap_h + tw * w_tap_w;
  }
}

// One item a stretch of planes. Weight of (row, channel, tap): w_base + group, row, channel and tap strides.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void conv_direct(BUFFER(const STORAGE, weights), BUFFER(const STORAGE, x), BUFFER(const STORAGE, bias),
                          BUFFER(STORAGE, y), BUFFER(REAL, scratch), const Stencil stencil, const Phases phases,
                          const long slice, const int has_bias, const long w_base, const long w_group, const long w_row,
                          const long w_channel, const long w_tap_h, const long w_tap_w) {
  BIND(const STORAGE, x);
  const Stencil s = stencil;
  const Phases shape = phases;
  const int taps_h = s.taps_h, taps_w = s.taps_w, taps = taps_h * taps_w, count = s.channels * taps;
  __global REAL *planes_of_group = scratch_buffer + scratch_start + get_group_id(0) * slice;
  long laid_out = -1;
  Term terms[CONV_MAX_TERMS];
  if (count <= CONV_MAX_TERMS) find_terms(&s, 0, count, w_channel, w_tap_h, w_tap_w, terms);
  const bool is_plain =
      has_plain_window(&s) && s.channels == 1 && count <= CONV_MAX_TERMS && s.y_column == 1 && s.y_row == s.out_w;
  const long planes = s.images * s.groups * s.rows, end = first_job(planes, get_group_id(0) + 1, get_num_groups(0));
  for (long plane = first_job(planes, get_group_id(0), get_num_groups(0)); plane < end; ++plane) {
    const long row = REMAINDER(plane, s.rows), all_groups = plane / s.rows;
    const long group = REMAINDER(all_groups, s.groups), image = all_groups / s.groups;
    const long channel = group * s.rows + row;
    __global const STORAGE *w = weights_buffer + weights_start + w_base + group * w_group + row * w_row;
    if (all_groups != laid_out)
      lay_out_planes(&shape, x, all_groups * s.channels, (all_groups + 1) * s.channels,
                     s.images * s.groups * s.channels, true, planes_of_group);
    laid_out = all_groups;
    __global STORAGE *y = y_buffer + y_start + s.y_base + image * s.y_image + channel * s.y_channel;
    VEC shift = (VEC)(has_bias ? LOAD(bias_buffer, bias_start + channel) : (REAL)0);
    for (int first = 0; first == 0 || first < count; first += CONV_MAX_TERMS) {
      const int some = min(CONV_MAX_TERMS, count - first);
      if (some < count) find_terms(&s, first, some, w_channel, w_tap_h, w_tap_w, terms);
      for (int t = 0; t < some; ++t) terms[t].weight = LOAD(w, terms[t].place);
      __global const REAL *from = planes_of_group + s.base;
      if (!is_plain)
        add_terms(&s, from, terms, some, shift, first > 0, y);
      else if (taps_h == 3)
        window_plane_3(&s, from, terms, shift, y);
      else if (taps_h == 5)
        window_plane_5(&s, from, terms, shift, y);
      else
        window_plane_7(&s, from, terms, shift, y);
      shift = (VEC)(0);
    }
  }
}

// `count` gradients as a vector filled up with zeros; a whole vector may be read where `readable`.
inline VEC load_gradients(__global const STORAGE *restrict from, const int count, const bool readable,
                          const MASK keep) {
#if DIRECT
  if (readable) return select((VEC)(0), VLOAD(0, from), keep);
#endif
  REAL values[LANES];
  for (int i = 0; i < LANES; ++i) values[i] = i < count ? LOAD(from, i) : (REAL)0;
  return VLOAD(0, values);
}

// Products of COUNT rows of gradients, from row h on, with the part of a window that is HEIGHT rows high that `tw`
// says: each vector of x is read once for all of them. Lanes behind a row are left out: they meet pixels of others,
// which may be infinite.
#define ADD_GRADIENT_ROWS(COUNT, HEIGHT, COLUMNS)                                                          \
  for (int w = 0; w < out_w; w += LANES) {                                                                 \
    const MASK keep = w + LANES >= out_w ? keep_tail : (MASK)(-1);                                         \
    VEC gradients[COUNT];                                                                                  \
    _Pragma("unroll") for (int r = 0; r < COUNT; ++r) {                                                    \
      const long at = (long)(h + r) * out_w + w;                                                           \
      gradients[r] = load_gradients(dy + at, out_w - w, at + LANES <= left, keep);                         \
    }                                                                                                      \
    __global const REAL *from = x + (long)h * row_length + w;                                              \
    _Pragma("unroll") for (int i = 0; i < COUNT + HEIGHT - 1; ++i)                                         \
        _Pragma("unroll") for (int c = 0; c < COLUMNS; ++c) {                                              \
      const VEC v = select((VEC)(0), VLOAD(0, from + i * row_length + tw[c]), keep);                       \
      _Pragma("unroll") for (int r = 0; r < COUNT; ++r) if (i - r >= 0 && i - r < HEIGHT) sums[i - r][c] = \
          MAD(gradients[r], v, sums[i - r][c]);                                                            \
    }                                                                                                      \
  }

// Adds a plane's gradients to the totals of a window, COLUMNS of its taps at a time. `left`: gradients from `dy` on to
// the end of the tensor.
#define DEFINE_GRADIENT_PLANE(HEIGHT, COLUMNS)                                                               \
  inline void gradient_plane_##HEIGHT(const Stencil *s, __global const STORAGE *dy, const long left,         \
                                      __global const REAL *x, const MASK keep_tail, __global REAL *totals) { \
    const int out_h = s->out_h, out_w = s->out_w, row_length = s->row_length, taps_w = s->taps_w;            \
    for (int column = 0; column < taps_w; column += COLUMNS) {                                               \
      VEC sums[HEIGHT][COLUMNS];                                                                             \
      int tw[COLUMNS];                                                                                       \
      _Pragma("unroll") for (int c = 0; c < COLUMNS; ++c) {                                                  \
        tw[c] = min(column + c, taps_w - 1);                                                                 \
        _Pragma("unroll") for (int th = 0; th < HEIGHT; ++th) sums[th][c] = (VEC)(0);                        \
      }                                                                                                      \
      int h = 0;                                                                                             \
      for (; h + ROWS <= out_h; h += ROWS) ADD_GRADIENT_ROWS(ROWS, HEIGHT, COLUMNS)                          \
      for (; h < out_h; ++h) ADD_GRADIENT_ROWS(1, HEIGHT, COLUMNS)                                           \
      for (int c = 0; c < min(COLUMNS, taps_w - column); ++c)                                                \
        for (int th = 0; th < HEIGHT; ++th) {                                                                \
          const int t = th * taps_w + column + c;                                                            \
          VSTORE(VLOAD(t, totals) + sums[th][c], t, totals);                                                 \
        }                                                                                                    \
    }                                                                                                        \
  }
DEFINE_GRADIENT_PLANE(3, 3)
DEFINE_GRADIENT_PLANE(5, 5)
DEFINE_GRADIENT_PLANE(7, 1)

// dw, one item a stretch of filter planes (output channel, channel), whose sums are in its scratch, then a phased
// plane.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void weight_direct(BUFFER(const STORAGE, dy),
                                                                           BUFFER(const STORAGE, x),
                                                                           BUFFER(STORAGE, dw), BUFFER(REAL, scratch),
                                                                           const Stencil stencil, const Phases phases,
                                                                           const long slice) {
  BIND(const STORAGE, x);
  const Stencil s = stencil;
  const Phases shape = phases;
  const int out_w = s.out_w, out_h = s.out_h, taps_h = s.taps_h, taps_w = s.taps_w, taps = taps_h * taps_w;
  const long out_channels = s.groups * s.rows, filters = out_channels * s.channels, plane = s.out_h * s.out_w;
  const long all_gradients = s.images * out_channels * plane;
  __global REAL *totals = scratch_buffer + scratch_start + get_group_id(0) * slice;
  const int all_totals = (taps + TAPS - 1) / TAPS * TAPS;
  __global REAL *pixels = totals + all_totals * LANES;
  const bool is_plain = has_plain_window(&s);
  const int tail = out_w - (out_w - 1) / LANES * LANES;
  const MASK keep_all = (MASK)(-1), keep_tail = EACH_LANE < (MASK)(tail);
  const long end = first_job(filters, get_group_id(0) + 1, get_num_groups(0));
  for (long filter = first_job(filters, get_group_id(0), get_num_groups(0)); filter < end; ++filter) {
    const long out_channel = filter / s.channels, channel = REMAINDER(filter, s.channels), group = out_channel / s.rows;
    for (int t = 0; t < all_totals; ++t) VSTORE((VEC)(0), t, totals);
    for (long image = 0; image < s.images; ++image) {
      const long x_plane = (image * s.groups + group) * s.channels + channel;
      lay_out_planes(&shape, x, x_plane, x_plane + 1, s.images * s.groups * s.channels, true, pixels);
      const long start = (image * out_channels + out_channel) * plane;
      if (is_plain) {
        __global const STORAGE *gradients = dy_buffer + dy_start + start;
        const long left = all_gradients - start;
        if (taps_h == 3)
          gradient_plane_3(&s, gradients, left, pixels + s.base, keep_tail, totals);
        else if (taps_h == 5)
          gradient_plane_5(&s, gradients, left, pixels + s.base, keep_tail, totals);
        else
          gradient_plane_7(&s, gradients, left, pixels + s.base, keep_tail, totals);
        continue;
      }
      for (int first = 0; first < taps; first += TAPS) {
        VEC sums[TAPS];
        long offset[TAPS];
#pragma unroll
        for (int t = 0; t < TAPS; ++t) {
          const int tap = min(first + t, taps - 1), th = tap / taps_w;
          sums[t] = (VEC)(0);
          offset[t] = s.base + tap_offset(&s, th, tap - th * taps_w);
        }
        for (int h = 0; h < out_h; ++h)
          for (int w = 0; w < out_w; w += LANES) {
            const long at = start + (long)h * out_w + w;
            const bool last = w + LANES >= out_w;
            const MASK keep = last ? keep_tail : keep_all;
            const VEC gradient =
                load_gradients(dy_buffer + dy_start + at, out_w - w, at + LANES <= all_gradients, keep);
            // Lanes behind the row meet pixels of others: 0 times infinity would count.
#pragma unroll
            for (int t = 0; t < TAPS; ++t)
              sums[t] = select(
                  sums[t], MAD(gradient, VLOAD(0, pixels + offset[t] + h * s.row_length + w), sums[t]), keep);
          }
#pragma unroll
        for (int t = 0; t < TAPS; ++t)
          VSTORE(VLOAD(first + t, totals) + sums[t], first + t, totals);
      }
    }
    for (int t = 0; t < taps; ++t) STORE(dw_buffer + dw_start, filter * taps + t, sum_of_lanes(VLOAD(t, totals)));
  }
}
