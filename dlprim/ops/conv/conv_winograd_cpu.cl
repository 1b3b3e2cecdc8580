// Winograd's convolution on a CPU. Lanes are tiles that follow each other in a row of a plane: first columns of elements
// become components as they lie, in vectors along the row, then the row is split into every fourth element. What a work
// item works on stays in its core's caches: it makes the components of TILES tiles in all channels,
// [component][channel][PITCH], multiplies them by the filters', and turns what that gives into results.
// Macros: those of cpu_tile.cl; TILES, a multiple of NR.
#include "ops/conv/conv_winograd_plain.cl"
#include "ops/gemm/cpu_tile.cl"

#define NUMBER VEC
#define MAD MULTIPLY_ADD
#include "ops/conv/conv_winograd_points.cl"

#define UNROLL _Pragma("unroll")
// From one component to the next, which would share a set of the caches if they were as far apart as a multiple of 4 KiB.
#define APART(numbers) ((numbers) + LANES)
// Numbers of a row that a segment's tiles meet, as whole vectors; and of the lines that stand for rows that a plane does not hold as
// such vectors: six, and one of zeros.
#define ROW ((WINOGRAD_RESULTS + 1) * LANES)
#define LINES ((WINOGRAD_ELEMENTS + 1) * ROW)

// Up to LANES tiles of a row of tiles: an image, and the place of their first result.
typedef struct {
  int image, h, w, tiles;
} Segment;

// From `tile` on, before `end`.
INLINE Segment segment_at(const ConvWinograd *s, const int tile, const int end) {
  const int of_image = s->tiles_h * s->tiles_w, place = REMAINDER(tile, of_image), in_row = REMAINDER(place, s->tiles_w);
  const Segment g = {tile / of_image, place / s->tiles_w * WINOGRAD_RESULTS, in_row * WINOGRAD_RESULTS,
                     min(min(s->tiles_w - in_row, end - tile), LANES)};
  return g;
}

// `count` numbers, by vectors that overlap.
INLINE void copy_numbers(__global REAL *restrict to, __global const REAL *restrict from, const int count) {
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

// Where vectors of `count` rows from h on can be read, from element w on, `needed` of them: in the plane, or in `lines`, with zeros for
// what the plane does not have.
INLINE void find_rows(__global const REAL **rows, const int count, __global const REAL *plane, const int height, const int width,
                      const int h, const int w, const int needed, __global REAL *lines) {
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

// The components of tiles [first, first + count) of a plane of each image, `image_stride` from one to the next, to lines that are
// `component` apart, whole vectors from each segment's first tile on.
INLINE void make_source(__global const REAL *planes, const long image_stride, const ConvWinograd *s, const int first, const int count,
                        __global REAL *restrict to, const long component, __global REAL *lines) {
  for (int tile = first; tile < first + count;) {
    const Segment g = segment_at(s, tile, first + count);
    const int needed = g.tiles * WINOGRAD_RESULTS + 2;
    __global const REAL *rows[WINOGRAD_ELEMENTS];
    find_rows(rows, WINOGRAD_ELEMENTS, planes + g.image * image_stride, s->source_h, s->source_w, g.h + s->start_h, g.w + s->start_w,
              needed, lines);
    REAL columns[WINOGRAD_ELEMENTS][ROW];
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
      UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) VSTORE(made[j], 0, at + (i * WINOGRAD_ELEMENTS + j) * component);
    }
    tile += g.tiles;
  }
}

// As make_source, of gradients of results.
INLINE void make_gradients(__global const REAL *planes, const long image_stride, const ConvWinograd *s, const int first,
                           const int count, __global REAL *restrict to, const long component, __global REAL *lines) {
  for (int tile = first; tile < first + count;) {
    const Segment g = segment_at(s, tile, first + count);
    const int needed = g.tiles * WINOGRAD_RESULTS;
    __global const REAL *rows[WINOGRAD_RESULTS];
    find_rows(rows, WINOGRAD_RESULTS, planes + g.image * image_stride, s->result_h, s->result_w, g.h, g.w, needed, lines);
    REAL columns[WINOGRAD_ELEMENTS][4 * LANES];
    for (int v = 0; v * LANES < needed; ++v) {
      VEC gradients[WINOGRAD_RESULTS], made[WINOGRAD_ELEMENTS];
      UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i) gradients[i] = VLOAD(v, rows[i]);
      results_to_components(made, gradients, 1);
      UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) VSTORE(made[i], v, columns[i]);
    }
    __global REAL *at = to + (tile - first);
    for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
      VEC gradients[WINOGRAD_RESULTS], made[WINOGRAD_ELEMENTS];
      split_row(columns[i], gradients);
      results_to_components(made, gradients, 1);
      UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) VSTORE(made[j], 0, at + (i * WINOGRAD_ELEMENTS + j) * component);
    }
    tile += g.tiles;
  }
}

// Not a number where one of the results that went into it is not finite.
#define PROBE(sum, value) MULTIPLY_ADD(value, (VEC)(0), sum)

// A segment's results in one plane, from components that are `component` apart. Returns the probes of its tiles.
INLINE VEC store_results(__global const REAL *restrict from, const long component, const Segment g, const ConvWinograd *s,
                         const REAL addend, __global REAL *restrict plane, __global REAL *line) {
  VEC columns[WINOGRAD_ELEMENTS][WINOGRAD_RESULTS], probe = 0;
  UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
    VEC made[WINOGRAD_ELEMENTS];
    UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) made[i] = VLOAD(0, from + (i * WINOGRAD_ELEMENTS + j) * component);
    components_to_results(columns[j], made, 1);
  }
  const int length = min(g.tiles * WINOGRAD_RESULTS, s->result_w - g.w), rows = min((int)WINOGRAD_RESULTS, s->result_h - g.h);
  UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i) {
    VEC made[WINOGRAD_ELEMENTS], results[WINOGRAD_RESULTS], row[WINOGRAD_RESULTS];
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) made[j] = columns[j][i];
    components_to_results(results, made, 1);
    UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j) probe = PROBE(probe, results[j]);
    join_row(results, row);
    __global REAL *to = plane + (long)(g.h + i) * s->result_w + g.w;
    if (i < rows) {
      __global REAL *whole = length == WINOGRAD_RESULTS * LANES ? to : line;
      UNROLL for (int v = 0; v < WINOGRAD_RESULTS; ++v) VSTORE(row[v] + addend, v, whole);
      if (whole != to) copy_numbers(to, line, length);
    }
  }
  return probe;
}

// The components of all filters, [component][panel of rows][depth][MR]; the depth is even.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void winograd_filters(BUFFER(const REAL, weight), BUFFER(REAL, packed), const ConvWinograd s, const int depth,
                               const int depth_of_group) {
  BIND(const REAL, weight);
  const int panel = get_group_id(0), first = get_group_id(1) * depth_of_group;
  const long component = APART((long)get_num_groups(0) * (depth * MR));
  __global REAL *to = packed_buffer + packed_start + (long)panel * depth * MR;
  for (int channel = first; channel < min(depth, first + depth_of_group); channel += LANES / MR) {
    REAL numbers[9][LANES];
    for (int lane = 0; lane < LANES; ++lane) {
      const int row = panel * MR + lane % MR, of_channel = channel + lane / MR;
      const bool inside = row < s.rows && of_channel < s.channels;
      __global const REAL *filter = weight + (inside ? (long)row * s.row_filters + (long)of_channel * s.channel_filters : 0);
      UNROLL for (int tap = 0; tap < 9; ++tap) numbers[tap][lane] = inside ? filter[s.are_turned ? 8 - tap : tap] : (REAL)0;
    }
    VEC taps[9], columns[3 * WINOGRAD_ELEMENTS];
    UNROLL for (int tap = 0; tap < 9; ++tap) taps[tap] = VLOAD(0, numbers[tap]);
    UNROLL for (int j = 0; j < 3; ++j) taps_to_components(columns + j * WINOGRAD_ELEMENTS, taps + j, 3);
    UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
      VEC made[WINOGRAD_ELEMENTS];
      taps_to_components(made, columns + i, WINOGRAD_ELEMENTS);
      UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
        VSTORE(made[j], 0, to + (i * WINOGRAD_ELEMENTS + j) * component + (long)channel * MR);
    }
  }
}

#ifdef TILES

// Lines of components have room for a vector at any tile.
#define PITCH (TILES + LANES)

// A panel of filters times NR tiles, in chains (conv2d_winograd.h).
INLINE Tile multiply_in_chains(__global const REAL *restrict left, __global const REAL *restrict right, const int depth) {
  Tile total = multiply_lines(left, right, PITCH, min(WINOGRAD_CHAIN, depth));
  for (int start = WINOGRAD_CHAIN; start < depth; start += WINOGRAD_CHAIN)
    total = add_tiles(total, multiply_lines(left + start * MR, right + start * PITCH, PITCH, min(WINOGRAD_CHAIN, depth - start)));
  return total;
}

// A job is a block of tiles and one of the row_blocks.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void winograd_conv(BUFFER(const REAL, filters), BUFFER(const REAL, source), BUFFER(const REAL, weight),
                            BUFFER(const REAL, bias), BUFFER(REAL, result), BUFFER(REAL, scratch), const ConvWinograd shape,
                            const int has_bias, const int depth, const int row_blocks, const long slice) {
  BIND(const REAL, filters);
  BIND(const REAL, source);
  const ConvWinograd s = shape;
  const int row_panels = (s.rows + MR - 1) / MR, tiles = s.images * s.tiles_h * s.tiles_w;
  const long source_plane = (long)s.source_h * s.source_w, result_plane = (long)s.result_h * s.result_w;
  __global REAL *lines = scratch_buffer + scratch_start + get_group_id(0) * slice, *components = lines + LINES;
  const long component = APART((long)s.channels * PITCH), jobs = (long)((tiles + TILES - 1) / TILES) * row_blocks;
  __global REAL *sums = components + WINOGRAD_COMPONENTS * component;
  clear_line(lines + WINOGRAD_ELEMENTS * ROW);
  int made = -1;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const int block = job / row_blocks, row_block = REMAINDER(job, row_blocks);
    const int first = block * TILES, count = min(TILES, tiles - first);
    const int first_panel = first_job(row_panels, row_block, row_blocks), last_panel = first_job(row_panels, row_block + 1, row_blocks);
    if (block != made)
      for (int channel = 0; channel < s.channels; ++channel)
        make_source(source + channel * source_plane, s.channels * source_plane, &s, first, count, components + channel * PITCH,
                    component, lines);
    made = block;
    const long sum_component = APART((long)(last_panel - first_panel) * (MR * PITCH));
    for (int c = 0; c < WINOGRAD_COMPONENTS; ++c)
      for (int panel = first_panel; panel < last_panel; ++panel)
        for (int n = 0; n < count; n += NR) {
          const Tile tile = multiply_in_chains(filters + c * APART((long)row_panels * (depth * MR)) + (long)panel * (depth * MR), components + c * component + n, s.channels);
          __global REAL *to = sums + c * sum_component + (panel - first_panel) * (MR * PITCH) + n;
          UNROLL for (int i = 0; i < MR; ++i) {
            VSTORE(tile.v[i][0], 0, to + i * PITCH);
            VSTORE(tile.v[i][1], 1, to + i * PITCH);
          }
        }
    for (int row = first_panel * MR; row < min(s.rows, last_panel * MR); ++row) {
      const REAL addend = has_bias ? bias_buffer[bias_start + row] : (REAL)0;
      for (int tile = first; tile < first + count;) {
        const Segment g = segment_at(&s, tile, first + count);
        __global REAL *plane = result_buffer + result_start + ((long)g.image * s.rows + row) * result_plane;
        const VEC probe = store_results(sums + (row - first_panel * MR) * PITCH + (tile - first), sum_component, g, &s, addend, plane, lines);
        if (any(isnan(probe))) {
          REAL probes[LANES];
          VSTORE(probe, 0, probes);
          __global const REAL *planes = source + g.image * (s.channels * source_plane);
          for (int n = 0; n < g.tiles; ++n) {
            const int left = g.w + n * WINOGRAD_RESULTS;
            if (isnan(probes[n]))
              for (int h = g.h; h < min(g.h + WINOGRAD_RESULTS, s.result_h); ++h)
                for (int w = left; w < min(left + WINOGRAD_RESULTS, s.result_w); ++w)
                  plane[(long)h * s.result_w + w] =
                      plain_result(planes, weight_buffer + weight_start + (long)row * s.row_filters, s, h, w) + addend;
          }
        }
        tile += g.tiles;
      }
    }
  }
}

#endif

// Components of some tiles, [component][channel or row][pitch], for the gradient by the weight.
#define DEFINE_PIECE(NAME, MAKE, PLANES, HEIGHT, WIDTH)                                                                \
  __attribute__((reqd_work_group_size(1, 1, 1)))                                                                       \
  __kernel void NAME(BUFFER(const REAL, source), BUFFER(REAL, components), BUFFER(REAL, scratch), const ConvWinograd shape) { \
    const ConvWinograd s = shape;                                                                                      \
    const int end = first_job(s.PLANES, get_group_id(0) + 1, get_num_groups(0));                                       \
    const long plane = (long)s.HEIGHT * s.WIDTH;                                                                       \
    __global REAL *lines = scratch_buffer + scratch_start + get_group_id(0) * LINES;                                   \
    clear_line(lines + WINOGRAD_ELEMENTS * ROW);                                                                       \
    for (int at = first_job(s.PLANES, get_group_id(0), get_num_groups(0)); at < end; ++at)                             \
      MAKE(source_buffer + source_start + at * plane, s.PLANES * plane, &s, s.first, s.count,                          \
           components_buffer + components_start + (long)at * s.pitch, APART((long)s.PLANES * s.pitch), lines);                \
  }
DEFINE_PIECE(winograd_source, make_source, channels, source_h, source_w)
DEFINE_PIECE(winograd_gradients, make_gradients, rows, result_h, result_w)

// Components [component][row][channel] to filters; after the last channel there is room for a vector.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void winograd_weight(BUFFER(const REAL, components), BUFFER(const REAL, dy), BUFFER(const REAL, x), BUFFER(REAL, dw),
                              const ConvWinograd s) {
  const int row = get_group_id(0);
  const long component = (long)s.rows * s.channels;
  for (int channel = 0; channel < s.channels; channel += LANES) {
    __global const REAL *from = components_buffer + components_start + (long)row * s.channels + channel;
    VEC columns[3 * WINOGRAD_ELEMENTS], probe = 0;
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
      VEC made[WINOGRAD_ELEMENTS];
      UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) made[i] = VLOAD(0, from + (i * WINOGRAD_ELEMENTS + j) * component);
      components_to_taps(columns + 3 * j, made, 1);
    }
    REAL numbers[10][LANES];
    UNROLL for (int i = 0; i < 3; ++i) {
      VEC taps[3];
      components_to_taps(taps, columns + i, 3);
      UNROLL for (int j = 0; j < 3; ++j) {
        probe = PROBE(probe, taps[j]);
        VSTORE(taps[j], 0, numbers[3 * i + j]);
      }
    }
    VSTORE(probe, 0, numbers[9]);
    for (int n = 0; n < min(LANES, s.channels - channel); ++n) {
      const int of_channel = channel + n;
      __global REAL *to = dw_buffer + dw_start + ((long)row * s.channels + of_channel) * 9;
      const bool is_finite = !isnan(numbers[9][n]);
      __global const REAL *planes = x_buffer + x_start + (long)of_channel * s.source_h * s.source_w;
      __global const REAL *gradients = dy_buffer + dy_start + (long)row * s.result_h * s.result_w;
      for (int tap = 0; tap < 9; ++tap)
        to[tap] = is_finite ? numbers[tap][n] : plain_weight(planes, gradients, s, tap / 3, tap % 3);
    }
  }
}
