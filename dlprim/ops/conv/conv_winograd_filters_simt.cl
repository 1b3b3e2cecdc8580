// The components of all filters for conv_winograd_simt.cl, packed as the products' left operands: a component is a
// group.
#include "ops/conv/conv_packed_simt.cl"
#include "ops/conv/conv_winograd_points.cl"

// count: filters of a component, with what pads them.
__kernel void winograd_filters(BUFFER(const STORAGE, weight), BUFFER(REAL, packed), const ConvWinograd s,
                               const int padded_depth, const int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int panel = at / PANEL_ELEMENTS, place = at % PANEL_ELEMENTS, steps = padded_depth / TILE_DEPTH;
  const int row = panel / steps * TILE_ROWS + PACKED_ROW(place);
  const int channel = REMAINDER(panel, steps) * TILE_DEPTH + PACKED_DEPTH(place);
  const bool inside = row < s.rows && channel < s.channels;
  const long filter = weight_start + (long)row * s.row_filters + (long)channel * s.channel_filters;
  REAL taps[9], lines[18], components[WINOGRAD_ELEMENTS];
  UNROLL for (int tap = 0; tap < 9; ++tap)
    taps[tap] = inside ? LOAD(weight_buffer, filter + (s.are_turned ? 8 - tap : tap)) : (REAL)0;
  UNROLL for (int j = 0; j < 3; ++j) taps_to_components(lines + j * WINOGRAD_ELEMENTS, taps + j, 3);
  __global REAL *to = packed_buffer + packed_start + (long)panel * (LEFT_PARTS * PANEL_ELEMENTS);
  UNROLL for (int i = 0; i < WINOGRAD_ELEMENTS; ++i) {
    taps_to_components(components, lines + i, WINOGRAD_ELEMENTS);
    UNROLL for (int j = 0; j < WINOGRAD_ELEMENTS; ++j)
      place_packed(to + (long)(i * WINOGRAD_ELEMENTS + j) * (LEFT_PARTS * count), place, components + j);
  }
}
