// Winograd's components on a CPU. Lanes are tiles that follow each other in a row of a plane: first columns of elements
// become components as they lie, in vectors along the row, then the row is split into every fourth element.
#include "ops/conv/conv_winograd_plain.cl"
#include "ops/gemm/cpu_tile.cl"

#define NUMBER VEC
#include "ops/conv/conv_winograd_points.cl"

#define UNROLL _Pragma("unroll")
// From one component to the next, which would share a set of the caches if they were as far apart as a multiple of 4
// KiB.
#define APART(numbers) ((numbers) + LANES)
// Numbers of a row that a segment's tiles meet, as whole vectors; and of the lines that stand for rows that a plane
// does not hold as such vectors: six, and one of zeros.
#define ROW ((WINOGRAD_RESULTS + 1) * LANES)
#define LINES ((WINOGRAD_ELEMENTS + 1) * ROW)

// Up to LANES tiles of a row of tiles: an image, and the place of their first result.
typedef struct {
  int image, h, w, tiles;
} Segment;

// From `tile` on, before `end`.
INLINE Segment segment_at(const ConvWinograd *s, const int tile, const int end) {
  const int of_image = s->tiles_h * s->tiles_w, place = REMAINDER(tile, of_image),
            in_row = REMAINDER(place, s->tiles_w);
  const Segment g = {tile / of_image, place / s->tiles_w * WINOGRAD_RESULTS, in_row * WINOGRAD_RESULTS,
                     min(min(s->tiles_w - in_row, end - tile), LANES)};
  return g;
}

// `count` numbers, by vectors that overlap.
INLINE void copy_numbers(__global REAL *to, __global const REAL *from, const int count) {
  int n = 0;
  for (; n + LANES <= count; n += LANES) VSTORE(VLOAD(0, from + n), 0, to + n);
  if (n == count) return;
  if (count >= LANES) {
    VSTORE(VLOAD(0, from + count - LANES), 0, to + count - LANES);
  } else if (count >= 8) {
    vstore8(vload8(0, from), 0, to);
    vstore8(vload8(0, from + count - 8), 0, to + count - 8);
  } else if (count >= 4) {
    vstore4(vload4(0, from), 0, to);
    vstore4(vload4(0, from + count - 4), 0, to + count - 4);
  } else {
    for (; n < count; ++n) to[n] = from[n];
  }
}

INLINE void clear_line(__global REAL *line) {
  UNROLL for (int v = 0; v < ROW / LANES; ++v) VSTORE((VEC)(0), v, line);
}

// Lanes without a tile are computed like the others. Leftovers in memory may be denormal numbers (integers and
// addresses are), with which Intel's processors take a hundred cycles and more a vector: so columns begin as zeros,
// and afterwards those lanes hold a longer segment's numbers.
#define COLUMNS(name, length)                                           \
  REAL name[WINOGRAD_ELEMENTS][length];                                 \
  UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i)                    \
    UNROLL for (int v = 0; v < (length) / LANES; ++v) VSTORE((VEC)(0), v, name[i])

// Where vectors of `count` rows from h on can be read, from element w on, `needed` of them: in the plane, or in
// `lines`, with zeros for what the plane does not have.
INLINE void find_rows(__global const REAL **rows, const int count, __global const REAL *plane, const int height,
                      const int width, const int h, const int w, const int needed, __global REAL *lines) {
  for (int i = 0; i < count; ++i) {
    rows[i] = lines + WINOGRAD_ELEMENTS * ROW;
    if ((uint)(h + i) >= (uint)height) continue;
    __global const REAL *row = plane + (long)(h + i) * width;
    if (w >= 0 && w + ROW <= width) {
      rows[i] = row + w;
      continue;
    }
    const int begin = max(0, -w);
    __global REAL *line = lines + i * ROW;
    clear_line(line);
    copy_numbers(line + begin, row + w + begin, min(needed, width - w) - begin);
    rows[i] = line;
  }
}

// Every fourth number, from each of four on.
INLINE void split_row(const REAL *row, VEC *fourths) {
  VEC even[2], odd[2];
  UNROLL for (int i = 0; i < 2; ++i) {
    const VEC a = VLOAD(2 * i, row), b = VLOAD(2 * i + 1, row);
    even[i].lo = a.even;
    even[i].hi = b.even;
    odd[i].lo = a.odd;
    odd[i].hi = b.odd;
  }
  fourths[0].lo = even[0].even;
  fourths[0].hi = even[1].even;
  fourths[1].lo = odd[0].even;
  fourths[1].hi = odd[1].even;
  fourths[2].lo = even[0].odd;
  fourths[2].hi = even[1].odd;
  fourths[3].lo = odd[0].odd;
  fourths[3].hi = odd[1].odd;
}

// And back.
INLINE void join_row(const VEC *fourths, VEC *row) {
  VEC even[2], odd[2];
  even[0].even = fourths[0].lo;
  even[0].odd = fourths[2].lo;
  even[1].even = fourths[0].hi;
  even[1].odd = fourths[2].hi;
  odd[0].even = fourths[1].lo;
  odd[0].odd = fourths[3].lo;
  odd[1].even = fourths[1].hi;
  odd[1].odd = fourths[3].hi;
  UNROLL for (int i = 0; i < 2; ++i) {
    row[2 * i].even = even[i].lo;
    row[2 * i].odd = odd[i].lo;
    row[2 * i + 1].even = even[i].hi;
    row[2 * i + 1].odd = odd[i].hi;
  }
}

// The next lane's number, in the last one `last`.
INLINE VEC next_lane(const VEC v, const REAL last) {
  return (VEC)(v.s123, v.s4567, v.s89ab, v.scde, v.sf, last);
}

// The components of tiles [first, first + count) of a plane of each image, `image_stride` from one to the next, to
// lines that are `component` apart, whole vectors from each segment's first tile on.
INLINE void make_source(__global const REAL *planes, const long image_stride, const ConvWinograd *s, const int first,
                        const int count, __global REAL *to, const long component, __global REAL *lines) {
  COLUMNS(columns, ROW);
  for (int tile = first; tile < first + count;) {
    const Segment g = segment_at(s, tile, first + count);
    const int needed = g.tiles * WINOGRAD_RESULTS + 2;
    __global const REAL *rows[WINOGRAD_ELEMENTS];
    find_rows(rows, WINOGRAD_ELEMENTS, planes + g.image * image_stride, s->source_h, s->source_w, g.h + s->start_h,
              g.w + s->start_w, needed, lines);
    for (int v = 0; v * LANES < needed; ++v) {
      VEC elements[WINOGRAD_ELEMENTS], made[WINOGRAD_ELEMENTS];
      UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) elements[i] = VLOAD(v, rows[i]);
      elements_to_components(made, elements, 1);
      UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) VSTORE(made[i], v, columns[i]);
    }
    __global REAL *at = to + (tile - first);
    for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
      VEC elements[WINOGRAD_ELEMENTS], made[WINOGRAD_ELEMENTS];
      split_row(columns[i], elements);
      elements[4] = next_lane(elements[0], columns[i][4 * LANES]);
      elements[5] = next_lane(elements[1], columns[i][4 * LANES + 1]);
      elements_to_components(made, elements, 1);
      UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
          VSTORE(made[j], 0, at + (i * WINOGRAD_ELEMENTS + j) * component);
    }
    tile += g.tiles;
  }
}

// Not a number where one of the results that went into it is not finite.
#define PROBE(sum, value) MAD(value, (VEC)(0), sum)
