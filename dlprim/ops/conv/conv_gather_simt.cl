// A convolution and its gradient by the input on a GPU: products of packed filters and a right operand that is gathered
// where it lies, 0 outside. The depth runs over the channels, TILE_DEPTH at a time, and, within those, over the taps,
// which meet nearly the same elements: they come from the cache nearest to the unit. With FLAT, for few channels, it
// runs over channels and taps at once, and looks up where each element lies. With CHANNELS_LAST the source was packed
// before (operand_pack_simt.cl): [images][groups][source_h][source_w][PIXEL_WORDS], with the zeros around it, so that
// taps meet vectors of channels, all of them inside. The depth is counted in words of panels.
#ifndef CHANNELS_LAST
#define CHANNELS_LAST 0
#endif
#if CHANNELS_LAST
#define RIGHT_BY_DEPTH 1
#define BOTH_ARE_ROUNDED 1
#endif
#include "ops/conv/conv_packed_simt.cl"

inline int tap_at(const int start, const int phase, const int tap, const int step) {
  return start + phase + tap * step;
}

#define FLAT_LOOKUP (FLAT && !CHANNELS_LAST)
// CHANNELS_LAST: of a pixel, its channels and what pads them; FLAT: a tap's part of the depth.
#define PIXEL_WORDS(s) (FLAT ? ((s).channels + 4 * NUMBERS_IN_WORD - 1) / (4 * NUMBERS_IN_WORD) * 4 : (s).padded_depth)

// Where the element of a depth lies, from that of tap 0 of the first channel; behind what is packed.
typedef struct {
  long offset;
  int dh, dw;
} FlatElement;
#define OUTSIDE (1 << 30)  // as dh

inline FlatElement flat_element(const ConvGather s, const int k) {
  const int taps = s.taps_h * s.taps_w, channel = k / taps, tap = REMAINDER(k, taps);
  const int dh = tap_at(s.start_h, 0, tap / s.taps_w, s.tap_h),
            dw = tap_at(s.start_w, 0, REMAINDER(tap, s.taps_w), s.tap_w);
  const FlatElement element = {((long)channel * s.source_h + dh) * s.source_w + dw,
                               k < s.channels * taps ? dh : OUTSIDE, dw};
  return element;
}

// Where an item's words of the packed filters stand: in which panel of a tap's, and which row and depth they are.
typedef struct {
  int panel, group, row, k;
} PackedPlace;

inline PackedPlace packed_place(const ConvGather s, const int panel, const int place) {
  const int steps = s.padded_depth / TILE_DEPTH, block_of_group = panel / steps, blocks = s.padded_rows / TILE_ROWS;
  const PackedPlace found = {panel, block_of_group / blocks,
                             REMAINDER(block_of_group, blocks) * TILE_ROWS + PACKED_ROW(place),
                             REMAINDER(panel, steps) * TILE_DEPTH + PACKED_DEPTH(place)};
  return found;
}

// An item packs all taps of a row's word of channels, which lie side by side; FLAT: one.
__kernel void pack_filters(BUFFER(const STORAGE, weight), BUFFER(REAL, packed), const ConvGather s,
                           const int row_stride, const int channel_stride, const int count) {
  const int at = get_global_id(0), place = at % PANEL_ELEMENTS;
  if (at >= count) return;
  const int taps = s.taps_h * s.taps_w, panels = FLAT ? 1 : taps;
  const PackedPlace p = packed_place(s, at / PANEL_ELEMENTS, place);
#if FLAT && CHANNELS_LAST
  const int first_tap = p.k / PIXEL_WORDS(s), channel = REMAINDER(p.k, PIXEL_WORDS(s)) * NUMBERS_IN_WORD;
#else
  const int channel = FLAT ? p.k / taps : p.k * NUMBERS_IN_WORD, first_tap = FLAT ? REMAINDER(p.k, taps) : 0;
#endif
  const int channels = p.row < s.rows && first_tap < taps ? s.channels - channel : 0;
  const long from = weight_start + (long)p.group * s.rows * s.channels * taps + (long)p.row * row_stride +
                    (long)channel * channel_stride + first_tap;
  __global REAL *to = packed_buffer + packed_start + (long)p.panel * panels * (LEFT_PARTS * PANEL_ELEMENTS);
  for (int panel = 0; panel < panels; ++panel) {
    REAL numbers[NUMBERS_IN_WORD];
    UNROLL for (int n = 0; n < NUMBERS_IN_WORD; ++n)
      numbers[n] = n < channels ? LOAD(weight_buffer, from + panel + (long)n * channel_stride) : (REAL)0;
    place_packed(to + (long)panel * (LEFT_PARTS * PANEL_ELEMENTS), place, numbers);
  }
#if FLAT_LOOKUP
  if (at < s.padded_depth)
    ((__global FlatElement *)(packed_buffer + packed_start + (long)LEFT_PARTS * count))[at] = flat_element(s, at);
#endif
}

#if WARP_GROUPS
// Packs filters of one tap: an item packs four words along the depth. Neighbouring items read neighbouring numbers,
// which stand along the rows where the filters are met from behind. With more taps an item has enough to do.
__kernel void pack_vectors(BUFFER(const STORAGE, weight), BUFFER(REAL, packed), const ConvGather s,
                           const int row_stride, const int channel_stride, const int count) {
  const int id = get_global_id(0), item = id % (PANEL_ELEMENTS / 4);
  if (id >= count / 4) return;
  const int place =
      row_stride < channel_stride ? item % TILE_ROWS * TILE_DEPTH + item / TILE_ROWS * 4 : item * 4;
  const PackedPlace p = packed_place(s, id / (PANEL_ELEMENTS / 4), place);
  __global const STORAGE *from =
      weight_buffer + weight_start + (long)p.group * s.rows * s.channels + (long)p.row * row_stride;
  REAL words[4][NUMBERS_IN_WORD];
  UNROLL for (int w = 0; w < 4; ++w)
    UNROLL for (int n = 0; n < NUMBERS_IN_WORD; ++n) {
      const int channel = (p.k + w) * NUMBERS_IN_WORD + n;
      words[w][n] = p.row < s.rows && channel < s.channels ? LOAD(from, (long)channel * channel_stride) : (REAL)0;
    }
  place_packed_words(packed_buffer + packed_start + (long)p.panel * (LEFT_PARTS * PANEL_ELEMENTS), place, words);
}
#endif

// The taps, in one direction, that the results of a phase meet: each `step`-th from `first` on. Where the first one's
// element lies from a column's own, and how far from it the next one's.
typedef struct {
  int first, step, count;
  int offset, offset_step;
} Taps;

inline Taps taps_of_phase(const int start, const int phase, const int taps, const int step, const int phases) {
  Taps met = {0, 1, phases == 1 ? taps : 0, start, step};
  if (phases == 1) return met;
  for (int tap = 0; tap < taps; ++tap) {
    if (tap_at(start, phase, tap, step) % phases != 0) continue;
    if (met.count == 0) met.first = tap;
    if (met.count == 1) met.step = tap - met.first;
    ++met.count;
  }
  met.offset = tap_at(start, phase, met.first, step) / phases;
  met.offset_step = met.step * step / phases;
  return met;
}

typedef struct {
  __global const REAL *filters;    // this item's first vector of the next panel
  __global const BROUGHT *planes;  // of the image and group of this item's columns: this item's first of the next panel
  __global const BROUGHT *source;  // its element there, where it is inside
#if CHANNELS_LAST
  uint offsets[RIGHT_PIECES];  // from there to the pixels of this item's pieces
#endif
#if FLAT_LOOKUP
  __global const FlatElement *elements;  // of this item's pieces of the next panel
#else
  __global const REAL *filters_of_step;
  Taps taps_h, taps_w;
#endif
  int kh, kw, channel;             // of the next panel, among the taps that are met
  int h, w;                        // of this item's column at a tap with offset 0
  bool in_range, inside;           // the column; its element at this tap
} Gather;

// Whether the column's element at offsets (dh, dw) is inside, and where.
inline bool is_inside(const Gather *g, const ConvGather s, const int dh, const int dw) {
  return g->in_range && (uint)(g->h + dh) < (uint)s.source_h && (uint)(g->w + dw) < (uint)s.source_w;
}
inline int place_of(const Gather *g, const ConvGather s, const int dh, const int dw) {
  return (g->h + dh) * s.source_w + g->w + dw;
}

// The place of this item's i-th piece of the right operand. Pieces may be vectors where elements lie as the results
// that meet them do.
#define PIECE_DEPTH(i) RIGHT_DEPTH((int)get_local_id(0), i)

#if !FLAT
inline void enter_tap(Gather *g, const ConvGather s) {
  const int dh = g->taps_h.offset + g->kh * g->taps_h.offset_step,
            dw = g->taps_w.offset + g->kw * g->taps_w.offset_step;
#if CHANNELS_LAST
  g->source = g->planes + (long)(dh * s.source_w + dw) * PIXEL_WORDS(s);
#else
  g->inside = is_inside(g, s, dh, dw);
  g->source = g->planes + place_of(g, s, dh, dw);
#endif
  const int tap = (g->taps_h.first + g->kh * g->taps_h.step) * s.taps_w + g->taps_w.first + g->kw * g->taps_w.step;
  g->filters = g->filters_of_step + tap * (LEFT_PARTS * PANEL_ELEMENTS);
}

inline void next_tap(Gather *g, const ConvGather s) {
  if (++g->kw < g->taps_w.count) return;
  g->kw = 0;
  if (++g->kh < g->taps_h.count) return;
  g->kh = 0;
  g->channel += TILE_DEPTH;
  g->planes += CHANNELS_LAST ? (long)TILE_DEPTH : (long)TILE_DEPTH * s.source_h * s.source_w;
  g->filters_of_step += s.taps_h * s.taps_w * (LEFT_PARTS * PANEL_ELEMENTS);
}
#endif

inline void fetch(Gather *g, const ConvGather s, LEFT_PANEL left_to, RIGHT_PANEL right_to) {
  UNROLL for (int i = 0; i < VECTOR_COUNT; ++i) BRING_VECTOR(i, g->filters + 4 * i * TILE_ITEMS);
#if FLAT && CHANNELS_LAST
  const int tap = g->channel / PIXEL_WORDS(s), kh = tap / s.taps_w, kw = REMAINDER(tap, s.taps_w);
  __global const BROUGHT *source =
      g->planes + REMAINDER(g->channel, PIXEL_WORDS(s)) +
      (long)((s.start_h + kh * s.tap_h) * s.source_w + s.start_w + kw * s.tap_w) * PIXEL_WORDS(s);
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i) BRING_RIGHT(i, kh < s.taps_h, source + g->offsets[i]);
  g->filters += LEFT_PARTS * PANEL_ELEMENTS;
  g->channel += TILE_DEPTH;
#elif FLAT
  g->filters += LEFT_PARTS * PANEL_ELEMENTS;
  UNROLL for (int i = 0; i < RIGHT_COUNT; ++i) {
    const FlatElement element = g->elements[PIECE_DEPTH(i)];
    BRING_RIGHT(i, is_inside(g, s, element.dh, element.dw), g->source + element.offset);
  }
  g->elements += TILE_DEPTH;
#elif CHANNELS_LAST
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i) BRING_RIGHT(i, true, g->source + g->offsets[i]);
  next_tap(g, s);
  enter_tap(g, s);
#else
  const int plane = s.source_h * s.source_w, left = g->inside ? s.channels - g->channel : 0;
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i)
    BRING_RIGHT(i, PIECE_DEPTH(i) < left, g->source + (long)(i * DEPTHS_APART(TILE_COLUMNS, RIGHT_WIDTH)) * plane);
  if (s.taps_h * s.taps_w == 1) {
    g->filters += LEFT_PARTS * PANEL_ELEMENTS;
    g->source += (long)TILE_DEPTH * plane;
    g->channel += TILE_DEPTH;
    return;
  }
  next_tap(g, s);
  enter_tap(g, s);
#endif
}

// The elements around a result of a lone phase, as far as no other result stores it: rows above and below, columns
// before and from it on, of a plane that wide.
typedef struct {
  int above, before, below, behind, width;
} Zeros;

inline void store_among_zeros(__global STORAGE *result, const long at, const Zeros *zeros, const REAL value) {
  for (int h = -zeros->above; h < zeros->below; ++h) {
#if STORAGE_IS_REAL
    if (zeros->before == 0 && zeros->behind == 2 && zeros->width % 2 == 0 && at % 2 == 0) {
      vstore2((REAL2)(h == 0 ? value : 0, 0), 0, result + at + h * zeros->width);
      continue;
    }
#endif
    for (int w = -zeros->before; w < zeros->behind; ++w)
      STORE(result, at + h * zeros->width + w, h == 0 && w == 0 ? value : (REAL)0);
  }
}

__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void conv_gather(BUFFER(const BROUGHT, source), BUFFER(const REAL, packed), BUFFER(const STORAGE, bias),
                          BUFFER(STORAGE, result), BUFFER(REAL, partials), const ConvGather s, const int has_bias,
                          const int parts, const int part_depth, const int lone_phase) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), group = get_group_id(2) / parts, part = REMAINDER((int)get_group_id(2), parts);
  // Groups of all phases of the same results follow each other: the cache joins what they store. If one alone meets
  // taps, it stores the zeros between its results. Then those of the other rows: of what they gather the cache has the
  // most.
  const int phases = lone_phase < 0 ? s.phases_h * s.phases_w : 1, block = get_group_id(0) / phases;
  const int row_blocks = s.padded_rows / TILE_ROWS, row_block = REMAINDER(block, row_blocks);
  const int block_row = row_block * TILE_ROWS, block_column = block / row_blocks * TILE_COLUMNS;
  const int phase = lone_phase < 0 ? REMAINDER((int)get_group_id(0), phases) : lone_phase;
  const int phase_h = phase / s.phases_w, phase_w = REMAINDER(phase, s.phases_w);
  const int grid_h = (s.result_h - phase_h + s.phases_h - 1) / s.phases_h;
  const int grid_w = (s.result_w - phase_w + s.phases_w - 1) / s.phases_w;
  const int grid = grid_h * grid_w, columns = s.images * grid;
  const Taps met_h = taps_of_phase(s.start_h, phase_h, s.taps_h, s.tap_h, s.phases_h);
  const Taps met_w = taps_of_phase(s.start_w, phase_w, s.taps_w, s.tap_w, s.phases_w);
  const int taps_met = met_h.count * met_w.count;
  if (block_column >= columns || taps_met == 0) return;  // the host has set what no tap meets to 0

  Gather g;
#if CHANNELS_LAST
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i) {
    const int brought = min(block_column + RIGHT_COLUMN(item, i), columns - 1),
              place_brought = REMAINDER(brought, grid);
    const int h = place_brought / grid_w * s.step_h, w = REMAINDER(place_brought, grid_w) * s.step_w;
    g.offsets[i] = ((((uint)(brought / grid) * s.groups + group) * s.source_h + h) * s.source_w + w) * PIXEL_WORDS(s);
  }
  g.planes = source_buffer + source_start;
#else
  const int brought = block_column + RIGHT_COLUMN(item, 0), place_brought = REMAINDER(brought, grid);
  g.in_range = brought < columns;
  g.h = place_brought / grid_w * s.step_h;
  g.w = REMAINDER(place_brought, grid_w) * s.step_w;
  g.planes =
      source_buffer + source_start + ((long)(brought / grid) * s.groups + group) * s.channels * s.source_h * s.source_w;
#endif
  const int panels_of_step = FLAT ? 1 : s.taps_h * s.taps_w, first = part * part_depth;
  const int block_of_group = group * row_blocks + row_block;
  const long panel = ((long)block_of_group * s.padded_depth + first) / TILE_DEPTH * panels_of_step;
  g.filters = packed_buffer + packed_start + panel * (LEFT_PARTS * PANEL_ELEMENTS) + 4 * item;
  g.kh = g.kw = 0;
  g.channel = first;
#if FLAT && CHANNELS_LAST
  g.channel = RIGHT_DEPTH(item, 0);
#elif FLAT
  g.source = g.planes + place_of(&g, s, 0, 0);
  g.elements = (__global const FlatElement *)(packed_buffer + packed_start +
                                              (long)LEFT_PARTS * s.groups * s.padded_rows * s.padded_depth) + first;
#endif
  const int steps = (FLAT ? 1 : taps_met) * (min(part_depth, s.padded_depth - first) / TILE_DEPTH);
#if !FLAT
  g.planes += CHANNELS_LAST ? first + PIECE_DEPTH(0) : (long)(first + PIECE_DEPTH(0)) * s.source_h * s.source_w;
  g.filters_of_step = g.filters;
  g.taps_h = met_h;
  g.taps_w = met_w;
  enter_tap(&g, s);
#endif
  PRODUCT(steps, fetch(&g, s, left_to, right_to))

  const int own = block_column + LINE_OF_ITEM(item, TILE_COLUMNS), image = own / grid, place = REMAINDER(own, grid);
  const int h_of_result = place / grid_w * s.phases_h + phase_h,
            w_of_result = REMAINDER(place, grid_w) * s.phases_w + phase_w;
  const long plane = (long)s.result_h * s.result_w;
  const long place_of_first =
      ((long)image * s.groups + group) * s.rows * plane + (long)h_of_result * s.result_w + w_of_result;
  const long start_of_result = result_start + place_of_first;
  __global STORAGE *out = result_buffer + start_of_result;
  const Zeros among = {phase_h, phase_w, min(s.phases_h - phase_h, s.result_h - h_of_result),
                       min(s.phases_w - phase_w, s.result_w - w_of_result), s.result_w};
  __global REAL *partial =
      partials_buffer + partials_start + (long)part * s.images * s.groups * s.rows * plane + place_of_first;
#define STORE_RESULT                                                                            \
  if (block_row + row < s.rows && own < columns) {                                               \
    if (parts > 1) {                                                                             \
      partial[(block_row + row) * plane] = value;                                                \
    } else {                                                                                     \
      if (has_bias) value += LOAD(bias_buffer, bias_start + group * s.rows + block_row + row);   \
      if (lone_phase < 0)                                                                        \
        STORE(out, (block_row + row) * plane, value);                                            \
      else                                                                                       \
        store_among_zeros(result_buffer, start_of_result + (block_row + row) * plane, &among, value); \
    }                                                                                            \
  }
  STORE_RESULTS(STORE_RESULT)
}
