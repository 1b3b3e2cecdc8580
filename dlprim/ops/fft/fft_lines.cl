// Fourier transforms along lines, each read once, transformed in fast memory and written once (README.md).
//   REAL         float or double
//   LINE_LANES   shape cpu: lines that a work item takes at once, a lane of its vectors each
// Shape cpu: a work item walks its share of the tiles of LINE_LANES lines; `fast` is memory that stays in its cache.
// Shape simt: a work group takes `group_lines` lines; `fast` is local memory.
#include "core/common.cl"
#include "ops/fft/fft_shared.h"

#if SHAPE_CPU
#define VALUE JOIN(REAL, LINE_LANES)
#define FAST __global
#else
#define VALUE REAL
#define FAST __local
#define LINE_LANES FFT_MAX_GROUP_LINES
#endif

#include "ops/fft/fft_radix.cl"

// Where the lines of a tile begin on one side.
typedef struct {
  long at[LINE_LANES], index[LINE_LANES];
} Places;

inline void find_place(const FftSide *side, const FftLines *g, const long *coordinates, long *at, long *index) {
  *at = *index = 0;
  for (int d = 0; d < g->rank; ++d) {
    *at += coordinates[d] * side->strides[d];
    *index += coordinates[d] * side->index_strides[d];
  }
}

inline void find_line(const FftLines *g, long line, long *coordinates) {
  for (int d = g->rank - 1; d >= 0; --d) {
    const long rest = line / g->sizes[d];
    coordinates[d] = line - rest * g->sizes[d];
    line = rest;
  }
}

// The complex number of `side` with that number in the line that begins at `at`; false where there is none.
inline int find_element(const FftSide *side, long at, long index, long *place, int *is_conjugate) {
  const int is_mirrored = side->form & FFT_HALF && index > side->whole / 2;
  *is_conjugate = side->form & FFT_HALF && !is_mirrored;
  *place = at + (is_mirrored ? side->whole - index : index) * side->unit;
  return index < side->limit;
}

inline void read_element(const __global REAL *x, const FftSide *side, long at, long index, REAL *re, REAL *im) {
  long place;
  int is_conjugate;
  *re = *im = 0;
  if (!find_element(side, at, index, &place, &is_conjugate)) return;
  *re = x[place];
  if (side->form & FFT_REAL) return;
  *im = is_conjugate ? -x[place + side->imaginary] : x[place + side->imaginary];
}

inline void write_element(__global REAL *out, const FftSide *side, long at, long index, REAL re, REAL im) {
  if (index >= side->limit) return;
  const long place = at + index * side->unit;
  out[place] = re;
  if (!(side->form & FFT_REAL)) out[place + side->imaginary] = im;
}

#define SWAP_PARTS(side, type, re, im) \
  if ((side)->form & FFT_SWAP) {       \
    const type first = re;             \
    re = im;                           \
    im = first;                        \
  }
#define MULTIPLY(re, im, by_re, by_im, type)                      \
  {                                                               \
    const type old_re = re;                                       \
    re = old_re * (by_re) - im * (by_im);                         \
    im = old_re * (by_im) + im * (by_re);                         \
  }

#if SHAPE_CPU
#define RE(p, j) (p)[2 * (j)]
#define IM(p, j) (p)[2 * (j) + 1]
#define PASS_ARGS const FAST VALUE *restrict from, FAST VALUE *restrict to, const __global REAL *restrict roots, \
                  int n, int before
#define PASS_VALUES from, to, roots, n, before

// A pass of radix R (Stockham's order): transforms of R values `n / R` apart, after passes whose radices multiply to
// `before`. Roots: cosines of exp(-2 pi i k / n), then sines.
#define PASS(R)                                                                                    \
  inline void pass_##R(PASS_ARGS) {                                                                \
    const int apart = n / R, after = apart / before;                                               \
    for (int k = 0; k < before; ++k) {                                                             \
      REAL root_re[R], root_im[R];                                                                 \
      _Pragma("unroll") for (int i = 1; i < R; ++i) {                                              \
        root_re[i] = roots[i * k * after];                                                         \
        root_im[i] = roots[n + i * k * after];                                                     \
      }                                                                                            \
      for (int block = 0; block < after; ++block) {                                                \
        const FAST VALUE *source = from + 2 * (block * before + k);                                \
        VALUE re[R], im[R];                                                                        \
        _Pragma("unroll") for (int i = 0; i < R; ++i)                                              \
            re[i] = RE(source, i * apart), im[i] = IM(source, i * apart);                          \
        if (k > 0) {                                                                               \
          _Pragma("unroll") for (int i = 1; i < R; ++i)                                            \
              MULTIPLY(re[i], im[i], root_re[i], root_im[i], VALUE)                                \
        }                                                                                          \
        dft_##R(re, im);                                                                           \
        FAST VALUE *target = to + 2 * (block * before * R + k);                                    \
        _Pragma("unroll") for (int i = 0; i < R; ++i)                                              \
            RE(target, i * before) = re[i], IM(target, i * before) = im[i];                        \
      }                                                                                            \
    }                                                                                              \
  }
#else
#define RE(p, j) (p)[(j) * lanes + lane]
#define IM(p, j) (p)[((j) + n) * lanes + lane]
#define PASS_ARGS const FAST VALUE *restrict from, FAST VALUE *restrict to, const __global REAL *restrict roots, \
                  int n, int before, int lanes
#define PASS_VALUES from, to, roots, n, before, lanes

#define PASS(R)                                                                                    \
  inline void pass_##R(PASS_ARGS) {                                                                \
    const int apart = n / R, after = apart / before;                                               \
    for (int task = get_local_id(0); task < apart * lanes; task += get_local_size(0)) {            \
      const int j = task / lanes, lane = task - j * lanes, block = j / before, k = j - block * before; \
      VALUE re[R], im[R];                                                                          \
      _Pragma("unroll") for (int i = 0; i < R; ++i)                                                \
          re[i] = RE(from, j + i * apart), im[i] = IM(from, j + i * apart);                        \
      _Pragma("unroll") for (int i = 1; i < R; ++i)                                                \
          MULTIPLY(re[i], im[i], roots[i * k * after], roots[n + i * k * after], VALUE)            \
      dft_##R(re, im);                                                                             \
      const int first = block * before * R + k;                                                    \
      _Pragma("unroll") for (int i = 0; i < R; ++i)                                                \
          RE(to, first + i * before) = re[i], IM(to, first + i * before) = im[i];                  \
    }                                                                                              \
  }
#endif

PASS(2)
PASS(3)
PASS(4)
PASS(5)
PASS(7)
PASS(8)
PASS(11)
PASS(13)

inline void run_pass(int radix, PASS_ARGS) {
  switch (radix) {
    case 2: pass_2(PASS_VALUES); break;
    case 3: pass_3(PASS_VALUES); break;
    case 4: pass_4(PASS_VALUES); break;
    case 5: pass_5(PASS_VALUES); break;
    case 7: pass_7(PASS_VALUES); break;
    case 8: pass_8(PASS_VALUES); break;
    case 11: pass_11(PASS_VALUES); break;
    case 13: pass_13(PASS_VALUES); break;
  }
}

#define FFT_ARGS                                                                                          \
  BUFFER(const REAL, x), BUFFER(REAL, out), BUFFER(const REAL, roots), BUFFER(const REAL, in_factors),    \
      const long in_count, BUFFER(const REAL, out_factors), const long out_count, const REAL scale, const FftLines g
#define BIND_FFT          \
  BIND(const REAL, x);    \
  BIND(REAL, out);        \
  BIND(const REAL, roots); \
  BIND(const REAL, in_factors); \
  BIND(const REAL, out_factors);

#if SHAPE_CPU
#define LOAD_VECTOR(p) JOIN(vload, LINE_LANES)(0, p)
#define STORE_VECTOR(v, p) JOIN(vstore, LINE_LANES)(v, 0, p)

enum { ALIKE, IN_ORDER, SCATTERED };  // values of the lanes: all the same, one more from lane to lane, any

inline int order_of(const long *values, long step) {
  int is_alike = 1, is_in_order = 1;
  for (int lane = 1; lane < LINE_LANES; ++lane) {
    is_alike &= values[lane] == values[0];
    is_in_order &= values[lane] == values[0] + lane * step;
  }
  return is_alike ? ALIKE : is_in_order ? IN_ORDER : SCATTERED;
}

// A tile's lines on one side; those from `count` on stand for the last.
typedef struct {
  Places first;
  long last_index;      // the largest of the lanes
  int count;
  int indices;          // their order
  int lanes_adjoin;     // elements of neighbouring lines are neighbours in memory
  int line_adjoins;     // elements of a line are
} TileSide;

inline void find_tile(TileSide *t, const FftSide *side, const FftLines *g, long line) {
  const int last = g->rank - 1;
  long starts[LINE_LANES], coordinates[FFT_MAX_DIMS];
  t->count = (int)min((long)LINE_LANES, g->lines - line);
  t->last_index = 0;
  for (int lane = 0; lane < LINE_LANES; ++lane) {
    long at, index;
    if (lane >= t->count) {
      at = t->first.at[lane - 1], index = t->first.index[lane - 1];
    } else if (lane > 0 && coordinates[last] + 1 < g->sizes[last]) {  // the next of a row
      ++coordinates[last];
      at = t->first.at[lane - 1] + side->strides[last], index = t->first.index[lane - 1] + side->index_strides[last];
    } else {
      find_line(g, line + lane, coordinates);
      find_place(side, g, coordinates, &at, &index);
    }
    t->first.at[lane] = at;
    t->first.index[lane] = index;
    starts[lane] = at + index * side->unit;
    t->last_index = max(t->last_index, index);
  }
  const int is_real = side->form & FFT_REAL, width = is_real ? 1 : 2, is_pair = is_real || side->imaginary == 1;
  t->indices = order_of(t->first.index, 1);
  t->lanes_adjoin = is_pair && t->count == LINE_LANES && order_of(starts, width) == IN_ORDER;
  t->line_adjoins = is_pair && side->step * side->unit == width;
}

// The factors of the lanes that are `shift` beyond those of the lines' first elements.
inline void multiply_by_factors(VALUE *re, VALUE *im, const __global REAL *factors, long count, const TileSide *t,
                                long shift) {
  VALUE by_re, by_im;
  const __global REAL *p = factors + t->first.index[0] + shift;
  if (t->indices == ALIKE) {
    by_re = p[0];
    by_im = p[count];
  } else if (t->indices == IN_ORDER) {
    by_re = LOAD_VECTOR(p);
    by_im = LOAD_VECTOR(p + count);
  } else {
    REAL lanes_re[LINE_LANES], lanes_im[LINE_LANES];
    for (int lane = 0; lane < LINE_LANES; ++lane) {
      lanes_re[lane] = factors[t->first.index[lane] + shift];
      lanes_im[lane] = factors[t->first.index[lane] + shift + count];
    }
    by_re = LOAD_VECTOR(lanes_re);
    by_im = LOAD_VECTOR(lanes_im);
  }
  MULTIPLY(*re, *im, by_re, by_im, VALUE)
}

// Elements `shift` beyond the lines' first ones, as they lie in memory.
inline void read_lanes(const __global REAL *x, const FftSide *side, const TileSide *t, long shift, VALUE *re,
                       VALUE *im) {
  long place;
  int is_conjugate;
  const long last = t->last_index + shift;
  const int goes_on = t->indices == ALIKE || !(side->form & FFT_HALF) || last <= side->whole / 2;
  if (t->lanes_adjoin && goes_on && last < side->limit) {
    find_element(side, t->first.at[0], t->first.index[0] + shift, &place, &is_conjugate);
    const VALUE first = LOAD_VECTOR(x + place);
    if (side->form & FFT_REAL) {
      *re = first;
      *im = 0;
      return;
    }
    const VALUE second = LOAD_VECTOR(x + place + LINE_LANES);
    re->lo = first.even, re->hi = second.even;
    im->lo = first.odd, im->hi = second.odd;
    if (is_conjugate) *im = -*im;
    return;
  }
  REAL lanes_re[LINE_LANES], lanes_im[LINE_LANES];
  for (int lane = 0; lane < LINE_LANES; ++lane)
    read_element(x, side, t->first.at[lane], t->first.index[lane] + shift, &lanes_re[lane], &lanes_im[lane]);
  *re = LOAD_VECTOR(lanes_re);
  *im = LOAD_VECTOR(lanes_im);
}

inline void write_lanes(__global REAL *out, const FftSide *side, const TileSide *t, long shift, VALUE re, VALUE im) {
  if (t->lanes_adjoin && t->last_index + shift < side->limit) {
    __global REAL *p = out + t->first.at[0] + (t->first.index[0] + shift) * side->unit;
    if (side->form & FFT_REAL) {
      STORE_VECTOR(re, p);
      return;
    }
    VALUE first, second;
    first.even = re.lo, first.odd = im.lo;
    second.even = re.hi, second.odd = im.hi;
    STORE_VECTOR(first, p);
    STORE_VECTOR(second, p + LINE_LANES);
    return;
  }
  REAL lanes_re[LINE_LANES], lanes_im[LINE_LANES];
  STORE_VECTOR(re, lanes_re);
  STORE_VECTOR(im, lanes_im);
  for (int lane = 0; lane < t->count; ++lane)
    write_element(out, side, t->first.at[lane], t->first.index[lane] + shift, lanes_re[lane], lanes_im[lane]);
}

// Rows become columns: log2(LINE_LANES) times, the halves of the rows are shuffled into one another.
inline void transpose(VALUE *rows) {
  _Pragma("unroll") for (int stage = 1; stage < LINE_LANES; stage *= 2) {
    VALUE shuffled[LINE_LANES];
    _Pragma("unroll") for (int i = 0; i < LINE_LANES / 2; ++i) {
      const VALUE a = rows[i], b = rows[i + LINE_LANES / 2];
      shuffled[2 * i].even = a.lo, shuffled[2 * i].odd = b.lo;
      shuffled[2 * i + 1].even = a.hi, shuffled[2 * i + 1].odd = b.hi;
    }
    _Pragma("unroll") for (int i = 0; i < LINE_LANES; ++i) rows[i] = shuffled[i];
  }
}

// Element `j` of the lines, as it was read: into `fast`.
inline void keep(FAST VALUE *fast, int j, VALUE re, VALUE im, const __global REAL *factors, long count,
                 const FftSide *side, const TileSide *t) {
  SWAP_PARTS(side, VALUE, re, im)
  if (side->has_factors) multiply_by_factors(&re, &im, factors, count, t, j * side->step);
  RE(fast, j) = re;
  IM(fast, j) = im;
}

inline void read_tile(FAST VALUE *fast, const __global REAL *x, const __global REAL *factors, long count,
                      const FftLines *g, long line) {
  const FftSide *side = &g->in;
  TileSide t;
  find_tile(&t, side, g, line);
  const int is_real = side->form & FFT_REAL, block = is_real ? LINE_LANES : LINE_LANES / 2;
  const int is_transposed = t.line_adjoins && !t.lanes_adjoin, is_half = side->form & FFT_HALF;
  for (int j = 0; j < g->n; j += block) {
    const long end = t.last_index + (j + block - 1) * side->step;
    const int is_early = !is_half || end <= side->whole / 2;
    // Mirrored elements are read from the last to the first.
    const int is_late = is_half && t.indices == ALIKE && t.first.index[0] + j * side->step > side->whole / 2;
    if (!is_transposed || j + block > g->n || end >= side->limit || !(is_early || is_late)) {
      for (int i = j; i < min(j + block, g->n); ++i) {
        VALUE re, im;
        read_lanes(x, side, &t, i * side->step, &re, &im);
        keep(fast, i, re, im, factors, count, side, &t);
      }
      continue;
    }
    VALUE rows[LINE_LANES];
    _Pragma("unroll") for (int lane = 0; lane < LINE_LANES; ++lane) {
      const long index = is_early ? t.first.index[lane] + j * side->step : side->whole - end;
      rows[lane] = LOAD_VECTOR(x + t.first.at[lane] + index * side->unit);
    }
    transpose(rows);
    if (is_real) {
      _Pragma("unroll") for (int i = 0; i < LINE_LANES; ++i) keep(fast, j + i, rows[i], 0, factors, count, side, &t);
    } else {
      _Pragma("unroll") for (int i = 0; i < LINE_LANES / 2; ++i) {
        const VALUE im = rows[2 * i + 1];
        keep(fast, is_early ? j + i : j + block - 1 - i, rows[2 * i], is_half && is_early ? -im : im, factors, count,
             side, &t);
      }
    }
  }
}

// Element `k` of the lines, as it is to be written.
inline void finish(const FAST VALUE *fast, int k, VALUE *re, VALUE *im, const __global REAL *factors, long count,
                   REAL scale, const FftSide *side, const TileSide *t) {
  *re = RE(fast, k) * scale;
  *im = IM(fast, k) * scale;
  if (side->has_factors) multiply_by_factors(re, im, factors, count, t, k * side->step);
  SWAP_PARTS(side, VALUE, *re, *im)
}

inline void write_tile(const FAST VALUE *fast, __global REAL *out, const __global REAL *factors, long count, REAL scale,
                       const FftLines *g, long line) {
  const FftSide *side = &g->out;
  TileSide t;
  find_tile(&t, side, g, line);
  const int is_real = side->form & FFT_REAL, block = is_real ? LINE_LANES : LINE_LANES / 2;
  const int is_transposed = t.line_adjoins && !t.lanes_adjoin;
  for (int k = 0; k < g->n; k += block) {
    if (!is_transposed || k + block > g->n || t.last_index + (k + block - 1) * side->step >= side->limit) {
      for (int i = k; i < min(k + block, g->n); ++i) {
        VALUE re, im;
        finish(fast, i, &re, &im, factors, count, scale, side, &t);
        write_lanes(out, side, &t, i * side->step, re, im);
      }
      continue;
    }
    VALUE rows[LINE_LANES], im;
    if (is_real) {
      _Pragma("unroll") for (int i = 0; i < LINE_LANES; ++i)
          finish(fast, k + i, &rows[i], &im, factors, count, scale, side, &t);
    } else {
      _Pragma("unroll") for (int i = 0; i < LINE_LANES / 2; ++i)
          finish(fast, k + i, &rows[2 * i], &rows[2 * i + 1], factors, count, scale, side, &t);
    }
    transpose(rows);
    for (int lane = 0; lane < t.count; ++lane)
      STORE_VECTOR(rows[lane], out + t.first.at[lane] + (t.first.index[lane] + k * side->step) * side->unit);
  }
}

// `fast`: two times n complex vectors a work item.
__kernel void fft_lines(FFT_ARGS, BUFFER(REAL, fast)) {
  BIND_FFT
  BIND(REAL, fast);
  FAST VALUE *from = (FAST VALUE *)fast + get_global_id(0) * 4 * g.n, *to = from + 2 * g.n;
  const long tiles = (g.lines + LINE_LANES - 1) / LINE_LANES;
  const long end = tiles * (get_global_id(0) + 1) / get_global_size(0);
  for (long tile = tiles * get_global_id(0) / get_global_size(0); tile < end; ++tile) {
    read_tile(from, x, in_factors, in_count, &g, tile * LINE_LANES);
    for (int pass = 0, before = 1; pass < g.passes; before *= g.radices[pass++]) {
      run_pass(g.radices[pass], from, to, roots, g.n, before);
      FAST VALUE *swapped = from;
      from = to;
      to = swapped;
    }
    write_tile(from, out, out_factors, out_count, scale, &g, tile * LINE_LANES);
  }
}

#else

// `fast`: two times n complex numbers for each of the group's lines.
__kernel void fft_lines(FFT_ARGS, __local REAL *fast) {
  BIND_FFT
  __local Places places_in, places_out;
  const int n = g.n, lanes = g.group_lines, id = get_local_id(0), size = get_local_size(0);
  const long first_line = get_group_id(0) * lanes;
  const int count = (int)min((long)lanes, g.lines - first_line);
  __local REAL *from = fast, *to = fast + 2 * n * lanes;
  for (int lane = id; lane < count; lane += size) {
    long at, index, coordinates[FFT_MAX_DIMS];
    find_line(&g, first_line + lane, coordinates);
    find_place(&g.in, &g, coordinates, &at, &index);
    places_in.at[lane] = at;
    places_in.index[lane] = index;
    find_place(&g.out, &g, coordinates, &at, &index);
    places_out.at[lane] = at;
    places_out.index[lane] = index;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int task = id; task < n * lanes; task += size) {
    const int j = g.reads_along_lines ? task % n : task / lanes;
    const int lane = g.reads_along_lines ? task / n : task % lanes;
    REAL re = 0, im = 0;
    if (lane < count) {
      const long index = places_in.index[lane] + j * g.in.step;
      read_element(x, &g.in, places_in.at[lane], index, &re, &im);
      SWAP_PARTS(&g.in, REAL, re, im)
      if (g.in.has_factors) MULTIPLY(re, im, in_factors[index], in_factors[in_count + index], REAL)
    }
    RE(from, j) = re;
    IM(from, j) = im;
  }
  for (int pass = 0, before = 1; pass < g.passes; before *= g.radices[pass++]) {
    barrier(CLK_LOCAL_MEM_FENCE);
    run_pass(g.radices[pass], from, to, roots, n, before, lanes);
    __local REAL *swapped = from;
    from = to;
    to = swapped;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int task = id; task < n * lanes; task += size) {
    const int k = g.writes_along_lines ? task % n : task / lanes;
    const int lane = g.writes_along_lines ? task / n : task % lanes;
    if (lane >= count) continue;
    const long index = places_out.index[lane] + k * g.out.step;
    if (index >= g.out.limit) continue;
    REAL re = RE(from, k) * scale, im = IM(from, k) * scale;
    if (g.out.has_factors) MULTIPLY(re, im, out_factors[index], out_factors[out_count + index], REAL)
    SWAP_PARTS(&g.out, REAL, re, im)
    write_element(out, &g.out, places_out.at[lane], index, re, im);
  }
}

#endif
