// The gradient by the weight of Winograd's convolution on a CPU, but for the products (conv2d_winograd_cpu.cpp).
#include "ops/conv/conv_winograd_segments_cpu.cl"

// Like make_source, for gradients of results.
INLINE void make_gradients(__global const REAL *planes, const long image_stride, const ConvWinograd *s, const int first,
                           const int count, __global REAL *to, const long component, __global REAL *lines) {
  COLUMNS(columns, WINOGRAD_RESULTS * LANES);
  for (int tile = first; tile < first + count;) {
    const Segment g = segment_at(s, tile, first + count);
    const int needed = g.tiles * WINOGRAD_RESULTS;
    __global const REAL *rows[WINOGRAD_RESULTS];
    find_rows(rows, WINOGRAD_RESULTS, planes + g.image * image_stride, s->result_h, s->result_w, g.h, g.w, needed,
              lines);
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
      UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
          VSTORE(made[j], 0, at + (i * WINOGRAD_ELEMENTS + j) * component);
    }
    tile += g.tiles;
  }
}

// Components of some tiles, [component][channel or row][pitch], for the gradient by the weight.
#define DEFINE_PIECE(NAME, MAKE, PLANES, HEIGHT, WIDTH)                                                        \
  __attribute__((reqd_work_group_size(1, 1, 1))) __kernel void NAME(                                           \
      BUFFER(const REAL, source), BUFFER(REAL, components), BUFFER(REAL, scratch), const ConvWinograd shape) { \
    const ConvWinograd s = shape;                                                                              \
    const int end = first_job(s.PLANES, get_group_id(0) + 1, get_num_groups(0));                               \
    const long plane = (long)s.HEIGHT * s.WIDTH;                                                               \
    __global REAL *lines = scratch_buffer + scratch_start + get_group_id(0) * LINES;                           \
    clear_line(lines + WINOGRAD_ELEMENTS * ROW);                                                               \
    for (int at = first_job(s.PLANES, get_group_id(0), get_num_groups(0)); at < end; ++at)                     \
      MAKE(source_buffer + source_start + at * plane, s.PLANES * plane, &s, s.first, s.count,                  \
           components_buffer + components_start + (long)at * s.pitch, APART((long)s.PLANES * s.pitch), lines); \
  }
DEFINE_PIECE(winograd_source, make_source, channels, source_h, source_w)
DEFINE_PIECE(winograd_gradients, make_gradients, rows, result_h, result_w)

// Components [component][row][channel] to filters; after the last channel there is room for a vector.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void winograd_weight(BUFFER(const REAL, components),
                                                                             BUFFER(const REAL, dy),
                                                                             BUFFER(const REAL, x), BUFFER(REAL, dw),
                                                                             const ConvWinograd s) {
  const int row = get_group_id(0);
  const long component = (long)s.rows * s.channels;
  for (int channel = 0; channel < s.channels; channel += LANES) {
    __global const REAL *from = components_buffer + components_start + (long)row * s.channels + channel;
    VEC columns[3 * WINOGRAD_ELEMENTS], probe = 0;
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
      VEC made[WINOGRAD_ELEMENTS];
      UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) made[i] =
          VLOAD(0, from + (i * WINOGRAD_ELEMENTS + j) * component);
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
