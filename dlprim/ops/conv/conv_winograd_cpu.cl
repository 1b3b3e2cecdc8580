// Winograd's convolution on a CPU, and its gradient by the input. The operands of a work item stay in its core's
// caches: it makes the components of TILES tiles in all channels, [component][channel][PITCH], multiplies them by the
// filters', and turns what that gives into results. Macros: those of cpu_tile.cl; TILES, a multiple of NR;
// WINOGRAD_CHAIN, of the depth, that is summed by itself.
#include "ops/conv/conv_winograd_segments_cpu.cl"
#include "ops/gemm/epilogue_cpu.cl"

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
      __global const REAL *filter =
          weight + (inside ? (long)row * s.row_filters + (long)of_channel * s.channel_filters : 0);
      UNROLL for (int tap = 0; tap < 9; ++tap) numbers[tap][lane] =
          inside ? filter[s.are_turned ? 8 - tap : tap] : (REAL)0;
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

// A segment's results in one plane, from components that are `component` apart. `addend`: null, or of the plane.
// Returns the probes of its tiles.
INLINE VEC store_results(__global const REAL *from, const long component, const Segment g, const ConvWinograd *s,
                         const REAL shift, __global const REAL *addend, __global REAL *plane, __global REAL *line) {
  VEC columns[WINOGRAD_ELEMENTS][WINOGRAD_RESULTS], probe = 0;
  UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
    VEC made[WINOGRAD_ELEMENTS];
    UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) made[i] =
        VLOAD(0, from + (i * WINOGRAD_ELEMENTS + j) * component);
    components_to_results(columns[j], made, 1);
  }
  const int length = min(g.tiles * WINOGRAD_RESULTS, s->result_w - g.w),
            rows = min((int)WINOGRAD_RESULTS, s->result_h - g.h);
  UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i) {
    VEC made[WINOGRAD_ELEMENTS], results[WINOGRAD_RESULTS], row[WINOGRAD_RESULTS];
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) made[j] = columns[j][i];
    components_to_results(results, made, 1);
    UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j) probe = PROBE(probe, results[j]);
    join_row(results, row);
    const long place = (long)(g.h + i) * s->result_w + g.w;
    __global REAL *to = plane + place;
    if (i < rows) {
      const bool is_whole = length == WINOGRAD_RESULTS * LANES;
      __global REAL *whole = is_whole ? to : line;
      __global const REAL *more = addend && is_whole ? addend + place : 0;
      if (addend && !is_whole) {
        copy_numbers(line + ROW, addend + place, length);
        more = line + ROW;
      }
      UNROLL for (int v = 0; v < WINOGRAD_RESULTS; ++v)
        VSTORE(finished_vector(row[v] + shift, more ? more + v * LANES : 0), v, whole);
      if (whole != to) copy_numbers(to, line, length);
    }
  }
  return probe;
}

// Lines of components have room for a vector at any tile.
#define PITCH (TILES + LANES)

// Zeros from the `vector`-th on of each of `lines` lines of every component, for the sake of lanes without a tile
// (COLUMNS).
INLINE void clear_ends(__global REAL *components, const long component, const int lines, const int vector) {
  for (int c = 0; c < WINOGRAD_COMPONENTS; ++c)
    for (int line = 0; line < lines; ++line)
      for (int v = vector; v < PITCH / LANES; ++v) VSTORE((VEC)(0), v, components + c * component + line * PITCH);
}

// A panel of filters times NR tiles, in chains (conv2d_winograd.h).
INLINE Tile multiply_in_chains(__global const REAL *restrict left, __global const REAL *restrict right,
                               const int depth) {
  Tile total = multiply_lines(left, right, PITCH, min(WINOGRAD_CHAIN, depth));
  for (int start = WINOGRAD_CHAIN; start < depth; start += WINOGRAD_CHAIN)
    total = add_tiles(
        total, multiply_lines(left + start * MR, right + start * PITCH, PITCH, min(WINOGRAD_CHAIN, depth - start)));
  return total;
}

// A job is a block of tiles and one of the row_blocks.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void winograd_conv(
    BUFFER(const REAL, filters), BUFFER(const REAL, source), BUFFER(const REAL, weight), BUFFER(const REAL, bias),
    BUFFER(const REAL, addend), BUFFER(REAL, result), BUFFER(REAL, scratch), const ConvWinograd shape,
    const int has_bias, const int has_addend, const int depth, const int row_blocks, const long slice) {
  BIND(const REAL, filters);
  BIND(const REAL, source);
  const ConvWinograd s = shape;
  const int row_panels = (s.rows + MR - 1) / MR, tiles = s.images * s.tiles_h * s.tiles_w;
  const long source_plane = (long)s.source_h * s.source_w, result_plane = (long)s.result_h * s.result_w;
  __global REAL *lines = scratch_buffer + scratch_start + get_group_id(0) * slice, *components = lines + LINES;
  const long component = APART((long)s.channels * PITCH), jobs = (long)((tiles + TILES - 1) / TILES) * row_blocks;
  __global REAL *sums = components + WINOGRAD_COMPONENTS * component;
  const int most_rows = (row_panels + row_blocks - 1) / row_blocks * MR;
  const long sum_component = APART((long)most_rows * PITCH);
  clear_line(lines + WINOGRAD_ELEMENTS * ROW);
  clear_ends(sums, sum_component, most_rows, TILES / LANES);
  int made = -1;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const int block = job / row_blocks, row_block = REMAINDER(job, row_blocks);
    const int first = block * TILES, count = min(TILES, tiles - first);
    const int first_panel = first_job(row_panels, row_block, row_blocks),
              last_panel = first_job(row_panels, row_block + 1, row_blocks);
    if (block != made) {
      if (count < TILES) clear_ends(components, component, s.channels, 0);
      for (int channel = 0; channel < s.channels; ++channel)
        make_source(source + channel * source_plane, s.channels * source_plane, &s, first, count,
                    components + channel * PITCH, component, lines);
      made = block;
    }
    for (int c = 0; c < WINOGRAD_COMPONENTS; ++c)
      for (int panel = first_panel; panel < last_panel; ++panel)
        for (int n = 0; n < count; n += NR) {
          const Tile tile =
              multiply_in_chains(filters + c * APART((long)row_panels * (depth * MR)) + (long)panel * (depth * MR),
                                 components + c * component + n, s.channels);
          __global REAL *to = sums + c * sum_component + (panel - first_panel) * (MR * PITCH) + n;
          UNROLL for (int i = 0; i < MR; ++i) {
            VSTORE(tile.v[i][0], 0, to + i * PITCH);
            VSTORE(tile.v[i][1], 1, to + i * PITCH);
          }
        }
    for (int row = first_panel * MR; row < min(s.rows, last_panel * MR); ++row) {
      const REAL shift = has_bias ? bias_buffer[bias_start + row] : (REAL)0;
      for (int tile = first; tile < first + count;) {
        const Segment g = segment_at(&s, tile, first + count);
        const long place = ((long)g.image * s.rows + row) * result_plane;
        __global REAL *plane = result_buffer + result_start + place;
        __global const REAL *more = has_addend ? addend_buffer + addend_start + place : 0;
        const VEC probe = store_results(sums + (row - first_panel * MR) * PITCH + (tile - first), sum_component, g, &s,
                                        shift, more, plane, lines);
        if (any(isnan(probe))) {
          REAL probes[LANES];
          VSTORE(probe, 0, probes);
          __global const REAL *planes = source + g.image * (s.channels * source_plane);
          for (int n = 0; n < g.tiles; ++n) {
            const int left = g.w + n * WINOGRAD_RESULTS;
            if (isnan(probes[n]))
              for (int h = g.h; h < min(g.h + WINOGRAD_RESULTS, s.result_h); ++h)
                for (int w = left; w < min(left + WINOGRAD_RESULTS, s.result_w); ++w)
                  plane[(long)h * s.result_w + w] = finished(
                      plain_result(planes, weight_buffer + weight_start + (long)row * s.row_filters, s, h, w) + shift,
                      more ? more + (long)h * s.result_w + w : 0);
          }
        }
        tile += g.tiles;
      }
    }
  }
}
