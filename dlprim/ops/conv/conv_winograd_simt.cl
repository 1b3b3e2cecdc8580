// The work of Winograd's convolution beside its products: elements become components [component][channel][tile], and
// components [component][row][tile] of the results become results. For the gradient by the weight, the gradients of the
// results become components [component][row][tile], and components [component][row][channel] of the weight become its
// gradient. Neighbouring items do neighbouring tiles.
#include "core/common.cl"
#include "ops/conv/conv_winograd_plain.cl"
#include "ops/conv/conv_winograd_points.cl"
#include "ops/conv/conv_winograd_tiles_simt.cl"

#define UNROLL _Pragma("unroll")

__kernel void winograd_source(BUFFER(const STORAGE, source), BUFFER(REAL, components), const ConvWinograd s) {
  const int at = get_global_id(0), channel = at / s.pitch, tile = REMAINDER(at, s.pitch);
  if (channel >= s.channels) return;
  REAL elements[WINOGRAD_COMPONENTS], lines[WINOGRAD_COMPONENTS], line[WINOGRAD_ELEMENTS];
  const Tile t = tile_at(s, s.first + tile, WINOGRAD_RESULTS);
  const int first_h = t.h + s.start_h, first_w = t.w + s.start_w;
  __global const STORAGE *plane =
      source_buffer + source_start + ((long)t.image * s.channels + channel) * ((long)s.source_h * s.source_w);
  UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
    const bool has_row = tile < s.count && (uint)(first_h + i) < (uint)s.source_h;
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
      elements[i * WINOGRAD_ELEMENTS + j] = has_row && (uint)(first_w + j) < (uint)s.source_w
                                                ? LOAD(plane, (first_h + i) * s.source_w + first_w + j)
                                                : (REAL)0;
  }
  UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
    elements_to_components(lines + j * WINOGRAD_ELEMENTS, elements + j, WINOGRAD_ELEMENTS);
  __global REAL *to = components_buffer + components_start + at;
  const long component = (long)s.channels * s.pitch;
  UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
    elements_to_components(line, lines + i, WINOGRAD_ELEMENTS);
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) to[(i * WINOGRAD_ELEMENTS + j) * component] = line[j];
  }
}

// in_vectors: rows of the result begin at multiples of four elements.
__kernel void winograd_results(BUFFER(const REAL, components), BUFFER(const STORAGE, source),
                               BUFFER(const STORAGE, weight), BUFFER(const STORAGE, bias), BUFFER(STORAGE, result),
                               const ConvWinograd s, const int has_bias, const int in_vectors) {
  const int at = get_global_id(0), row = at / s.pitch, tile = REMAINDER(at, s.pitch);
  if (row >= s.rows || tile >= s.count) return;
  REAL lines[WINOGRAD_ELEMENTS * WINOGRAD_RESULTS], results[WINOGRAD_RESULTS][WINOGRAD_RESULTS];
  __global const REAL *from = components_buffer + components_start + at;
  const long component = (long)s.rows * s.pitch;
  UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
    REAL column[WINOGRAD_ELEMENTS];
    UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) column[i] = from[(i * WINOGRAD_ELEMENTS + j) * component];
    components_to_results(lines + j * WINOGRAD_RESULTS, column, 1);
  }
  bool are_finite = true;
  UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i) {
    components_to_results(results[i], lines + i, WINOGRAD_RESULTS);
    UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j) are_finite = are_finite && isfinite(results[i][j]);
  }
  const Tile t = tile_at(s, s.first + tile, WINOGRAD_RESULTS);
  const REAL addend = has_bias ? LOAD(bias_buffer, bias_start + row) : (REAL)0;
  __global STORAGE *to = result_buffer + result_start +
                         (((long)t.image * s.rows + row) * s.result_h + t.h) * s.result_w + t.w;
  if (!are_finite) {
    __global const STORAGE *planes =
        source_buffer + source_start + (long)t.image * s.channels * s.source_h * s.source_w;
    __global const STORAGE *filters = weight_buffer + weight_start + (long)row * s.row_filters;
    for (int i = 0; i < WINOGRAD_RESULTS && t.h + i < s.result_h; ++i)
      for (int j = 0; j < WINOGRAD_RESULTS && t.w + j < s.result_w; ++j)
        STORE(to, (long)i * s.result_w + j, plain_result(planes, filters, s, t.h + i, t.w + j) + addend);
    return;
  }
  UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i) {
    const bool has_row = t.h + i < s.result_h;
    if (has_row && in_vectors)
      *(__global float4 *)(to + (long)i * s.result_w) =
          (float4)(results[i][0], results[i][1], results[i][2], results[i][3]) + addend;
    UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j)
      if (has_row && !in_vectors && t.w + j < s.result_w) STORE(to, (long)i * s.result_w + j, results[i][j] + addend);
  }
}

__kernel void winograd_gradients(BUFFER(const STORAGE, dy), BUFFER(REAL, components), const ConvWinograd s) {
  const int at = get_global_id(0), row = at / s.pitch, tile = REMAINDER(at, s.pitch);
  if (row >= s.rows) return;
  REAL gradients[WINOGRAD_RESULTS * WINOGRAD_RESULTS], lines[WINOGRAD_RESULTS * WINOGRAD_ELEMENTS],
      line[WINOGRAD_ELEMENTS];
  const Tile t = tile_at(s, s.first + tile, WINOGRAD_RESULTS);
  __global const STORAGE *plane =
      dy_buffer + dy_start + ((long)t.image * s.rows + row) * ((long)s.result_h * s.result_w);
  UNROLL for (int i = 0; i < WINOGRAD_RESULTS; ++i)
    UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j)
      gradients[i * WINOGRAD_RESULTS + j] = tile < s.count && t.h + i < s.result_h && t.w + j < s.result_w
                                                ? LOAD(plane, (t.h + i) * s.result_w + t.w + j)
                                                : (REAL)0;
  UNROLL for (int j = 0; j < WINOGRAD_RESULTS; ++j)
    results_to_components(lines + j * WINOGRAD_ELEMENTS, gradients + j, WINOGRAD_RESULTS);
  __global REAL *to = components_buffer + components_start + at;
  const long component = (long)s.rows * s.pitch;
  UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
    results_to_components(line, lines + i, WINOGRAD_ELEMENTS);
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) to[(i * WINOGRAD_ELEMENTS + j) * component] = line[j];
  }
}

__kernel void winograd_weight(BUFFER(const REAL, components), BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x),
                              BUFFER(STORAGE, dw), const ConvWinograd s) {
  const int at = get_global_id(0), row = at / s.channels, channel = REMAINDER(at, s.channels);
  if (row >= s.rows) return;
  REAL lines[WINOGRAD_ELEMENTS * 3], taps[9];
  __global const REAL *from = components_buffer + components_start + at;
  const long component = (long)s.rows * s.channels;
  UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j) {
    REAL column[WINOGRAD_ELEMENTS];
    UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) column[i] = from[(i * WINOGRAD_ELEMENTS + j) * component];
    components_to_taps(lines + j * 3, column, 1);
  }
  bool are_finite = true;
  UNROLL for (int i = 0; i < 3; ++i) {
    components_to_taps(taps + 3 * i, lines + i, 3);
    UNROLL for (int j = 0; j < 3; ++j) are_finite = are_finite && isfinite(taps[3 * i + j]);
  }
  __global STORAGE *to = dw_buffer + dw_start + (long)at * 9;
  UNROLL for (int tap = 0; tap < 9; ++tap) STORE(to, tap, taps[tap]);
  if (are_finite) return;
  __global const STORAGE *planes = x_buffer + x_start + (long)channel * s.source_h * s.source_w;
  __global const STORAGE *gradients = dy_buffer + dy_start + (long)row * s.result_h * s.result_w;
  for (int tap = 0; tap < 9; ++tap) STORE(to, tap, plain_weight(planes, gradients, s, tap / 3, tap % 3));
}
