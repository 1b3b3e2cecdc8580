// Winograd's convolution by F(2x2, 3x3) in one launch, whose components never leave the work group: it makes the
// results of TILE_ROWS filters for FUSED_COLUMNS tiles, or (BY_WEIGHT) the taps of TILE_ROWS by FUSED_COLUMNS channels
// from a part of the tiles. Those are FUSED_COMPONENTS products, each of FUSED_ITEMS / FUSED_COMPONENTS items with
// ITEM_ROWS x ITEM_COLUMNS sums in registers, to which a step adds FUSED_DEPTH channels (tiles): while panels of
// components in local memory are multiplied, half of the items bring the elements of the step after the next and the
// other half the filters' components (the gradients).
//
// On an H200 a step of 64 x 32 takes 1850 cycles, of which the multiply-adds of two warps a scheduler would be 1024:
// with fewer rows (half of the multiply-adds) 420 of them stay, and what goes through local memory is near its
// bandwidth.
#include "core/common.cl"
#include "core/vectors4.cl"
#include "ops/conv/conv_winograd_fused_points.cl"
#include "ops/conv/conv_winograd_plain.cl"
#include "ops/conv/conv_winograd_tiles_simt.cl"

#define UNROLL _Pragma("unroll")
#define REAL2 JOIN(REAL, 2)

#define BRINGERS (FUSED_ITEMS / 2)
#define ITEMS_OF_COMPONENT (FUSED_ITEMS / FUSED_COMPONENTS)
#define ITEM_ROWS 8
#define ROW_ITEMS (TILE_ROWS / ITEM_ROWS)
#define COLUMN_ITEMS (ITEMS_OF_COMPONENT / ROW_ITEMS)
#define ITEM_COLUMNS (FUSED_COLUMNS / COLUMN_ITEMS)

// Panels lie [k][component][line]. Where neighbouring items bring the k of a line, their lines are swapped so that they
// do not meet in a bank.
#define LEFT_SIZE (FUSED_DEPTH * FUSED_COMPONENTS * TILE_ROWS)
#define RIGHT_SIZE (FUSED_DEPTH * FUSED_COMPONENTS * FUSED_COLUMNS)
#define LEFT_AT(k, component, row) (((k) * FUSED_COMPONENTS + (component)) * TILE_ROWS + SWAPPED(row, k))
#define RIGHT_AT(k, component, column) (((k) * FUSED_COMPONENTS + (component)) * FUSED_COLUMNS + SWAPPED(column, k))
#if BY_WEIGHT
#define SWAPPED(line, k) ((line) ^ (8 * (k)))
#else
#define SWAPPED(line, k) (line)
#endif

// ---- what is brought

#define ELEMENTS (FUSED_ELEMENTS * FUSED_ELEMENTS)

// Which elements of a tile lie in the plane, a bit each.
inline uint elements_inside(const ConvWinograd s, const Tile t) {
  uint inside = 0, columns = 0;
  UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j) columns |= (uint)((uint)(t.w + s.start_w + j) < (uint)s.source_w)
                                                             << j;
  UNROLL for (int i = 0; i < FUSED_ELEMENTS; ++i)
    if ((uint)(t.h + s.start_h + i) < (uint)s.source_h) inside |= columns << (i * FUSED_ELEMENTS);
  return inside;
}

inline void bring_elements(REAL *elements, __global const STORAGE *plane, const ConvWinograd s, const Tile t,
                           const uint inside) {
  __global const STORAGE *from = plane + (long)(t.h + s.start_h) * s.source_w + (t.w + s.start_w);
  UNROLL for (int i = 0; i < FUSED_ELEMENTS; ++i)
    UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j)
      elements[i * FUSED_ELEMENTS + j] =
          inside >> (i * FUSED_ELEMENTS + j) & 1 ? LOAD(from, i * s.source_w + j) : (REAL)0;
}

inline void place_elements(__local REAL *right, const REAL *elements, const int k, const int column) {
  REAL lines[ELEMENTS], line[FUSED_ELEMENTS];
  UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j)
    elements_to_components(lines + j * FUSED_ELEMENTS, elements + j, FUSED_ELEMENTS);
  UNROLL for (int i = 0; i < FUSED_ELEMENTS; ++i) {
    elements_to_components(line, lines + i, FUSED_ELEMENTS);
    UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j) right[RIGHT_AT(k, i * FUSED_ELEMENTS + j, column)] = line[j];
  }
}

#if BY_WEIGHT

#define GRADIENTS (FUSED_RESULTS * FUSED_RESULTS)
#define BROUGHT_ROWS (TILE_ROWS / (BRINGERS / FUSED_DEPTH))
#define BROUGHT (GRADIENTS * BROUGHT_ROWS > ELEMENTS ? GRADIENTS * BROUGHT_ROWS : ELEMENTS)

inline void bring_gradients(REAL *gradients, __global const STORAGE *plane, const ConvWinograd s, const Tile t,
                            const bool has_tile) {
  __global const STORAGE *from = plane + (long)t.h * s.result_w + t.w;
  UNROLL for (int i = 0; i < FUSED_RESULTS; ++i)
    UNROLL for (int j = 0; j < FUSED_RESULTS; ++j)
      gradients[i * FUSED_RESULTS + j] =
          has_tile && t.h + i < s.result_h && t.w + j < s.result_w ? LOAD(from, i * s.result_w + j) : (REAL)0;
}

inline void place_gradients(__local REAL *left, const REAL *gradients, const int k, const int row) {
  REAL lines[FUSED_RESULTS * FUSED_ELEMENTS], line[FUSED_ELEMENTS];
  UNROLL for (int j = 0; j < FUSED_RESULTS; ++j)
    results_to_components(lines + j * FUSED_ELEMENTS, gradients + j, FUSED_RESULTS);
  UNROLL for (int i = 0; i < FUSED_ELEMENTS; ++i) {
    results_to_components(line, lines + i, FUSED_ELEMENTS);
    UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j) left[LEFT_AT(k, i * FUSED_ELEMENTS + j, row)] = line[j];
  }
}

#else

#define FILTER_VECTORS (LEFT_SIZE / 4 / BRINGERS)
#define BROUGHT (4 * FILTER_VECTORS > ELEMENTS ? 4 * FILTER_VECTORS : ELEMENTS)

// The components of all filters, as panels take them: [block of rows][channel][component][row of the block].
__kernel void winograd_filters(BUFFER(const STORAGE, weight), BUFFER(REAL, packed), const ConvWinograd s,
                               const int padded_channels, const int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int place = at / TILE_ROWS, channel = REMAINDER(place, padded_channels);
  const int row = place / padded_channels * TILE_ROWS + at % TILE_ROWS;
  const bool inside = row < s.rows && channel < s.channels;
  const long filter = weight_start + (long)row * s.row_filters + (long)channel * s.channel_filters;
  REAL taps[9], lines[3 * FUSED_ELEMENTS], line[FUSED_ELEMENTS];
  UNROLL for (int tap = 0; tap < 9; ++tap)
    taps[tap] = inside ? LOAD(weight_buffer, filter + (s.are_turned ? 8 - tap : tap)) : (REAL)0;
  UNROLL for (int j = 0; j < 3; ++j) taps_to_components(lines + j * FUSED_ELEMENTS, taps + j, 3);
  __global REAL *to = packed_buffer + packed_start + (long)place * (FUSED_COMPONENTS * TILE_ROWS) + at % TILE_ROWS;
  UNROLL for (int i = 0; i < FUSED_ELEMENTS; ++i) {
    taps_to_components(line, lines + i, FUSED_ELEMENTS);
    UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j) to[(i * FUSED_ELEMENTS + j) * TILE_ROWS] = line[j];
  }
}

#endif

// ---- the products

#define FOR_SUMS                             \
  UNROLL for (int i = 0; i < ITEM_ROWS; ++i) \
    UNROLL for (int j = 0; j < ITEM_COLUMNS; ++j)

inline void clear(REAL (*sums)[ITEM_COLUMNS]) {
  FOR_SUMS sums[i][j] = 0;
}

// An item's sums are patches of 4 x 4, as far apart as the items of a component have patches: its first one begins at
// `row` and `column`.
inline void multiply_add(__local const REAL *left, __local const REAL *right, const int component, const int row,
                         const int column, REAL (*sums)[ITEM_COLUMNS]) {
  UNROLL for (int k = 0; k < FUSED_DEPTH; ++k) {
    REAL l[ITEM_ROWS], r[ITEM_COLUMNS];
    UNROLL for (int i = 0; i < ITEM_ROWS; i += 4)
      vstore4(*(__local const REAL4 *)(left + LEFT_AT(k, component, row + i * ROW_ITEMS)), 0, l + i);
    UNROLL for (int j = 0; j < ITEM_COLUMNS; j += 4)
      vstore4(*(__local const REAL4 *)(right + RIGHT_AT(k, component, column + j * COLUMN_ITEMS)), 0, r + j);
    // In the order of product_registers.cl.
    UNROLL for (int first = 0; first < ITEM_COLUMNS; first += 4)
      UNROLL for (int i = 0; i < ITEM_ROWS; ++i)
        UNROLL for (int n = 0; n < 4; ++n) {
          const int j = first + (i % 2 == 0 ? n : 3 - n);
          sums[i][j] = mad(l[i], r[j], sums[i][j]);
        }
  }
}

#if CHAIN

// Deep sums are made of chains. Values that are asked for once a chain are volatile, so that they do not take the
// registers.
inline void add_chain(volatile REAL (*sums)[ITEM_COLUMNS], REAL (*chain)[ITEM_COLUMNS]) {
  FOR_SUMS sums[i][j] += chain[i][j];
  clear(chain);
}

#define SUMS                                   \
  volatile REAL sums[ITEM_ROWS][ITEM_COLUMNS]; \
  REAL chain[ITEM_ROWS][ITEM_COLUMNS];         \
  clear(chain);                                \
  FOR_SUMS sums[i][j] = 0
#define MULTIPLY(step, left, right)                         \
  multiply_add(left, right, component, row, column, chain); \
  if (((step) + 1) % (CHAIN / FUSED_DEPTH) == 0 || (step) + 1 == steps) add_chain(sums, chain)

#else

#define SUMS                          \
  REAL sums[ITEM_ROWS][ITEM_COLUMNS]; \
  clear(sums)
#define MULTIPLY(step, left, right) multiply_add(left, right, component, row, column, sums)

#endif

#define MEMORY \
  __local REAL panels[2 * (LEFT_SIZE + RIGHT_SIZE)] __attribute__((aligned(16)))
#define LEFT_OF_STEP(step) (panels + (step) % 2 * LEFT_SIZE)
#define RIGHT_OF_STEP(step) (panels + 2 * LEFT_SIZE + (step) % 2 * RIGHT_SIZE)

#define PLACE_OF_ITEM                                                                 \
  const int item = get_local_id(0), bringer = item % BRINGERS;                        \
  const bool brings_elements = item < BRINGERS;                                       \
  const int component = item / ITEMS_OF_COMPONENT, place = item % ITEMS_OF_COMPONENT; \
  const int row = place / COLUMN_ITEMS * 4, column = place % COLUMN_ITEMS * 4

// BRING(step) and PLACE(step, left, right) are done by each item. Elements that are brought wait in registers for a
// step, and are placed before its items multiply: then others multiply meanwhile.
#define PRODUCT(steps, BRING, PLACE)                                                          \
  SUMS;                                                                                       \
  REAL brought[BROUGHT];                                                                      \
  BRING(0);                                                                                   \
  PLACE(0, LEFT_OF_STEP(0), RIGHT_OF_STEP(0));                                                \
  if ((steps) > 1) BRING(1);                                                                  \
  for (int step = 0; step < (steps); ++step) {                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                             \
    if (step + 1 < (steps)) PLACE(step + 1, LEFT_OF_STEP(step + 1), RIGHT_OF_STEP(step + 1)); \
    if (step + 2 < (steps)) BRING(step + 2);                                                  \
    MULTIPLY(step, LEFT_OF_STEP(step), RIGHT_OF_STEP(step));                                  \
  }

// ---- the results: components come together in local memory, EXCHANGED_ROWS at a time

#define EXCHANGED_ROWS 16
#define ROWS_AT_ONCE (EXCHANGED_ROWS / ROW_ITEMS)
#define EXCHANGED_AT(component, line, column)                \
  (((component) * EXCHANGED_ROWS + (line)) * FUSED_COLUMNS + \
   ((column) ^ (4 * COLUMN_ITEMS * ((line) / ROWS_AT_ONCE) % FUSED_COLUMNS)))
#define ROW_OF_LINE(first, line) \
  ((first) / 4 * (4 * ROW_ITEMS) + (line) / ROWS_AT_ONCE * 4 + (first) % 4 + (line) % ROWS_AT_ONCE)

// STATEMENT stores what becomes of `components` of `result_row`, counted from first_of_tile, and this item's column,
// item % FUSED_COLUMNS.
#define FOR_RESULTS(first_of_tile, STATEMENT)                                                                         \
  UNROLL for (int first = 0; first < ITEM_ROWS; first += ROWS_AT_ONCE) {                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                     \
    UNROLL for (int i = 0; i < ROWS_AT_ONCE; ++i)                                                                     \
      UNROLL for (int j = 0; j < ITEM_COLUMNS; j += 4)                                                                \
        *(__local REAL4 *)(panels + EXCHANGED_AT(component, row / 4 * ROWS_AT_ONCE + i, column + j * COLUMN_ITEMS)) = \
            (REAL4)(sums[first + i][j], sums[first + i][j + 1], sums[first + i][j + 2], sums[first + i][j + 3]);      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                     \
    for (int line = item / FUSED_COLUMNS; line < EXCHANGED_ROWS; line += FUSED_ITEMS / FUSED_COLUMNS) {               \
      const int result_row = (first_of_tile) + ROW_OF_LINE(first, line);                                              \
      REAL components[FUSED_COMPONENTS];                                                                              \
      UNROLL for (int c = 0; c < FUSED_COMPONENTS; ++c)                                                               \
        components[c] = panels[EXCHANGED_AT(c, line, item % FUSED_COLUMNS)];                                          \
      STATEMENT;                                                                                                      \
    }                                                                                                                 \
  }

#if BY_WEIGHT

inline void store_taps(__global REAL *to, const REAL *components) {
  REAL lines[3 * FUSED_ELEMENTS], taps[3];
  UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j) components_to_taps(lines + j * 3, components + j, FUSED_ELEMENTS);
  UNROLL for (int i = 0; i < 3; ++i) {
    components_to_taps(taps, lines + i, 3);
    UNROLL for (int j = 0; j < 3; ++j) to[3 * i + j] = taps[j];
  }
}

// A group does part get_group_id(2) of `tiles`, which has part_tiles of them, a multiple of FUSED_DEPTH.
__kernel __attribute__((reqd_work_group_size(FUSED_ITEMS, 1, 1))) void winograd_fused_weight(
    BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(REAL, sums), const ConvWinograd s, const int tiles,
    const int part_tiles) {
  MEMORY;
  PLACE_OF_ITEM;
  const int first_row = get_group_id(0) * TILE_ROWS, first_column = get_group_id(1) * FUSED_COLUMNS;
  const int part = get_group_id(2), end = min(tiles - part * part_tiles, part_tiles);
  const int brought_k = bringer % FUSED_DEPTH, brought_line = bringer / FUSED_DEPTH;
  const long source_plane = (long)s.source_h * s.source_w, result_plane = (long)s.result_h * s.result_w;
  Tile t = tile_at(s, part * part_tiles + brought_k, FUSED_RESULTS);
  const int steps = (end + FUSED_DEPTH - 1) / FUSED_DEPTH;

#define BRING(step)                                                                                             \
  {                                                                                                             \
    const bool has_tile = (step) * FUSED_DEPTH + brought_k < end;                                               \
    if (brings_elements) {                                                                                      \
      const int channel = first_column + brought_line;                                                          \
      bring_elements(brought, x_buffer + x_start + ((long)t.image * s.channels + channel) * source_plane, s, t, \
                     has_tile && channel < s.channels ? elements_inside(s, t) : 0);                             \
    } else {                                                                                                    \
      UNROLL for (int n = 0; n < BROUGHT_ROWS; ++n) {                                                           \
        const int brought_row = first_row + brought_line + n * (BRINGERS / FUSED_DEPTH);                        \
        bring_gradients(brought + n * GRADIENTS,                                                                \
                        dy_buffer + dy_start + ((long)t.image * s.rows + brought_row) * result_plane, s, t,     \
                        has_tile && brought_row < s.rows);                                                      \
      }                                                                                                         \
    }                                                                                                           \
    t.w += FUSED_DEPTH * FUSED_RESULTS;                                                                         \
    while (t.w >= s.tiles_w * FUSED_RESULTS) {                                                                  \
      t.w -= s.tiles_w * FUSED_RESULTS;                                                                         \
      t.h += FUSED_RESULTS;                                                                                     \
      if (t.h >= s.tiles_h * FUSED_RESULTS) t.h = 0, ++t.image;                                                 \
    }                                                                                                           \
  }
#define PLACE(step, left, right)                                                                                \
  {                                                                                                             \
    if (brings_elements)                                                                                        \
      place_elements(right, brought, brought_k, brought_line);                                                  \
    else                                                                                                        \
      UNROLL for (int n = 0; n < BROUGHT_ROWS; ++n)                                                             \
        place_gradients(left, brought + n * GRADIENTS, brought_k, brought_line + n * (BRINGERS / FUSED_DEPTH)); \
  }
  PRODUCT(steps, BRING, PLACE);

  const int channel = first_column + item % FUSED_COLUMNS;
  __global REAL *to = sums_buffer + sums_start + (long)part * s.rows * s.channels * 9;
  FOR_RESULTS(first_row, if (result_row < s.rows && channel < s.channels)
                             store_taps(to + ((long)result_row * s.channels + channel) * 9, components));
}

// Gradients that are not finite are summed anew.
__kernel void winograd_fused_mend(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(STORAGE, dw),
                                  const ConvWinograd s) {
  const int at = get_global_id(0), tap = at % 9, filter = at / 9;
  if (filter >= s.rows * s.channels) return;
  __global STORAGE *to = dw_buffer + dw_start + at;
  if (isfinite(LOAD(to, 0))) return;
  const int row = filter / s.channels, channel = REMAINDER(filter, s.channels);
  STORE(to, 0, plain_weight(x_buffer + x_start + (long)channel * s.source_h * s.source_w,
                            dy_buffer + dy_start + (long)row * s.result_h * s.result_w, s, tap / 3, tap % 3));
}

#else

// Whether all results are finite, which are stored in any case. in_vectors: rows of the result begin at even elements.
inline bool store_results(__global STORAGE *to, const REAL *components, const ConvWinograd s, const Tile t,
                          const REAL addend, const int in_vectors) {
  REAL lines[FUSED_ELEMENTS * FUSED_RESULTS], results[FUSED_RESULTS];
  bool are_finite = true;
  UNROLL for (int j = 0; j < FUSED_ELEMENTS; ++j)
    components_to_results(lines + j * FUSED_RESULTS, components + j, FUSED_ELEMENTS);
  UNROLL for (int i = 0; i < FUSED_RESULTS; ++i) {
    components_to_results(results, lines + i, FUSED_RESULTS);
    are_finite = are_finite && isfinite(results[0]) && isfinite(results[1]);
    const REAL2 pair = (REAL2)(results[0], results[1]) + addend;
    if (t.h + i >= s.result_h) continue;
    if (in_vectors) {
      *(__global REAL2 *)(to + (long)i * s.result_w) = pair;
    } else {
      STORE(to, (long)i * s.result_w, pair.x);
      if (t.w + 1 < s.result_w) STORE(to, (long)i * s.result_w + 1, pair.y);
    }
  }
  return are_finite;
}

// row_blocks: of TILE_ROWS; groups that follow each other do those of the same tiles.
__kernel __attribute__((reqd_work_group_size(FUSED_ITEMS, 1, 1))) void winograd_fused(
    BUFFER(const REAL, packed), BUFFER(const STORAGE, source), BUFFER(const STORAGE, weight),
    BUFFER(const STORAGE, bias), BUFFER(STORAGE, result), const ConvWinograd s, const int tiles, const int row_blocks,
    const int padded_channels, const int has_bias, const int in_vectors) {
  MEMORY;
  PLACE_OF_ITEM;
  const int group = get_group_id(0), row_block = REMAINDER(group, row_blocks);
  const int tile = group / row_blocks * FUSED_COLUMNS + item % FUSED_COLUMNS;
  const Tile t = tile_at(s, tile, FUSED_RESULTS);
  const int brought_k = bringer / FUSED_COLUMNS;
  const uint inside = tile < tiles ? elements_inside(s, t) : 0;
  const long plane = (long)s.source_h * s.source_w;
  __global const STORAGE *planes = source_buffer + source_start + (long)t.image * s.channels * plane;
  __global const REAL *filters =
      packed_buffer + packed_start + (long)row_block * padded_channels * (FUSED_COMPONENTS * TILE_ROWS) + 4 * bringer;
  const int steps = padded_channels / FUSED_DEPTH;

#define BRING(step)                                                                                              \
  {                                                                                                              \
    if (brings_elements) {                                                                                       \
      const int channel = (step) * FUSED_DEPTH + brought_k;                                                      \
      bring_elements(brought, planes + channel * plane, s, t, channel < s.channels ? inside : 0);                \
    } else {                                                                                                     \
      UNROLL for (int n = 0; n < FILTER_VECTORS; ++n)                                                            \
        vstore4(*(__global const REAL4 *)(filters + (long)(step) * LEFT_SIZE + n * (4 * BRINGERS)), n, brought); \
    }                                                                                                            \
  }
#define PLACE(step, left, right)                                                            \
  {                                                                                         \
    if (brings_elements)                                                                    \
      place_elements(right, brought, brought_k, item % FUSED_COLUMNS);                      \
    else                                                                                    \
      UNROLL for (int n = 0; n < FILTER_VECTORS; ++n)                                       \
        *(__local REAL4 *)((left) + 4 * bringer + n * (4 * BRINGERS)) = vload4(n, brought); \
  }
  PRODUCT(steps, BRING, PLACE);

  const long result_plane = (long)s.result_h * s.result_w;
  __global STORAGE *results =
      result_buffer + result_start + (long)t.image * s.rows * result_plane + (long)t.h * s.result_w + t.w;
  const int first_row = row_block * TILE_ROWS;
  ulong to_mend = 0;  // rows of this item that are not finite, a bit each
  FOR_RESULTS(first_row, if (result_row < s.rows && tile < tiles &&
                             !store_results(results + result_row * result_plane, components, s, t,
                                            has_bias ? LOAD(bias_buffer, bias_start + result_row) : (REAL)0,
                                            in_vectors)) to_mend |= (ulong)1 << (result_row - first_row));
  for (int r = 0; r < TILE_ROWS && to_mend >> r; ++r) {
    if (!(to_mend >> r & 1)) continue;
    const int result_row = first_row + r;
    const REAL addend = has_bias ? LOAD(bias_buffer, bias_start + result_row) : (REAL)0;
    for (int i = 0; i < FUSED_RESULTS && t.h + i < s.result_h; ++i)
      for (int j = 0; j < FUSED_RESULTS && t.w + j < s.result_w; ++j)
        STORE(results, result_row * result_plane + (long)i * s.result_w + j,
              addend + plain_result(planes, weight_buffer + weight_start + (long)result_row * s.row_filters, s, t.h + i,
                                    t.w + j));
  }
}

#endif
