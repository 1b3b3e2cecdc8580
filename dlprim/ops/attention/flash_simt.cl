// Attention in plain OpenCL C: a work group of FLASH_ITEMS items has FLASH_TILE queries and as many keys at a time; the
// item (y, x) of 16 x 16 the scores of queries 4 y … and keys 4 x …, and results of rows 4 y … and columns 4 x … of
// each part of FLASH_COLUMNS. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the operands), FLASH_PARTS: parts of
// the columns of results; FLASH_ONLY_MARKED: 1 for the groups that not_finite marks alone. Every loop around a barrier
// runs at least once, and no branch has one: PoCL would double what follows for each.
#include "ops/attention/flash.cl"

#define REAL4 JOIN(REAL, 4)

#define TILE FLASH_TILE
#define DEPTH 16          // of the panels of a product
#define PITCH (TILE + 4)  // of lines of the tile in local memory
#define WIDTH (FLASH_PARTS * FLASH_COLUMNS)
#define ROW_PITCH (WIDTH + 4)
#define PANELS (DEPTH * (ROW_PITCH > 2 * PITCH ? ROW_PITCH : 2 * PITCH))

#if FLASH_ONLY_MARKED
#define LEAVE_UNLESS_MARKED(first, lines) \
  if (!MARK_OF(first, lines)) return
#else
#define LEAVE_UNLESS_MARKED(first, lines)
#endif

#define FLASH_MEMORY                                                              \
  __local REAL panels[PANELS] __attribute__((aligned(4 * sizeof(REAL))));         \
  __local REAL weights[TILE * PITCH] __attribute__((aligned(4 * sizeof(REAL))));  \
  const int item = get_local_id(0), x = item % 16, y = item / 16

#define VECTOR_AT(pointer) (*(__local REAL4 *)(pointer))

#define CLEAR(sums, count) \
  UNROLL for (int i = 0; i < (count); ++i) sums[i] = (REAL4)0

// sums[i] += a's i-th element times b
inline void add_products(REAL4 *sums, const REAL4 a, const REAL4 b) {
  sums[0] = mad((REAL4)a.s0, b, sums[0]);
  sums[1] = mad((REAL4)a.s1, b, sums[1]);
  sums[2] = mad((REAL4)a.s2, b, sums[2]);
  sums[3] = mad((REAL4)a.s3, b, sums[3]);
}

// Some first rows of an operand from `first` on.
typedef struct {
  const __global STORAGE *first;
  long row, column;
  int rows, columns;
} Rows;

inline Rows rows_from(const __global STORAGE *operand, const OperandStrides s, const int first, const int all,
                      const int columns) {
  const Rows rows = {operand + first * s.row, s.row, s.column, min(TILE, all - first), columns};
  return rows;
}

inline REAL element_or_0(const Rows rows, const int row, const int column) {
  return row < rows.rows && column < rows.columns ? (REAL)LOAD(rows.first, row * rows.row + column * rows.column)
                                                  : (REAL)0;
}

// The score of a product of a query and a key. Both passes round it alike, and fuse no difference with it: the largest
// score less itself is 0.
inline REAL scaled(const REAL product, const REAL scale) {
  NOT_CONTRACTED
  return product * scale;
}

// sums[i], a vector over j: row 4 y + i of left times row 4 x + j of right.
inline void multiply_rows(REAL4 *sums, __local REAL *panels, const Rows left, const Rows right) {
  const int item = get_local_id(0), x = item % 16, y = item / 16;
  __local REAL *right_panel = panels + DEPTH * PITCH;
  CLEAR(sums, 4);
  int start = 0;
  do {
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int i = 0; i < TILE * DEPTH / FLASH_ITEMS; ++i) {
      const int k = item % DEPTH, row = item / DEPTH + i * (FLASH_ITEMS / DEPTH);
      panels[k * PITCH + row] = element_or_0(left, row, start + k);
      right_panel[k * PITCH + row] = element_or_0(right, row, start + k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int k = 0; k < DEPTH; ++k)
      add_products(sums, VECTOR_AT(panels + k * PITCH + 4 * y), VECTOR_AT(right_panel + k * PITCH + 4 * x));
  } while ((start += DEPTH) < left.columns);
}

// sums[4 p + i], a vector over columns: += weights[k][4 y + i] times row k of right, over all its rows.
inline void add_weighted_rows(REAL4 *sums, __local const REAL *weights, __local REAL *panels, const Rows right) {
  const int item = get_local_id(0), x = item % 16, y = item / 16;
  int start = 0;
  do {
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int i = 0; i < DEPTH * WIDTH / FLASH_ITEMS; ++i) {
      const int at = item + i * FLASH_ITEMS, k = at / WIDTH, column = at % WIDTH;
      panels[k * ROW_PITCH + column] = element_or_0(right, start + k, column);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int k = 0; k < DEPTH; ++k) {
      const REAL4 weight = *(__local const REAL4 *)(weights + (start + k) * PITCH + 4 * y);
      UNROLL for (int p = 0; p < FLASH_PARTS; ++p)
        add_products(sums + 4 * p, weight, VECTOR_AT(panels + k * ROW_PITCH + p * FLASH_COLUMNS + 4 * x));
    }
  } while ((start += DEPTH) < right.rows);
}

// Bit 4 i + j: whether dropout keeps the weight of query q + i and key k + j.
inline uint kept_ones(const long batch, const int q, const int k, const FlashExtents e, const ulong seed,
                      const ulong offset) {
  uint kept = 0;
  DO_NOT_UNROLL for (int n = 0; n < 16; ++n) kept |= (uint)is_kept(batch, q + n / 4, k + n % 4, e, seed, offset) << n;
  return kept;
}
#define ALL_KEPT 0xffffu
#define IS_KEPT(kept, i, j) ((kept) >> (4 * (i) + (j)) & 1)

// The sixteen items of a row leave their numbers, and each gets what COMBINE makes of them.
#define COMBINE_ROWS(values, COMBINE)                                               \
  {                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                   \
    UNROLL for (int i = 0; i < 4; ++i) panels[(4 * y + i) * 16 + x] = values[i];    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                   \
    UNROLL for (int i = 0; i < 4; ++i)                                              \
      for (int other = 0; other < 16; ++other)                                      \
        values[i] = other ? COMBINE(values[i], panels[(4 * y + i) * 16 + other]) : panels[(4 * y + i) * 16]; \
  }
#define ADD(a, b) ((a) + (b))

// Stores rows of a result [batch, rows, columns] that is contiguous, from row `first` on; PUT: STORE or STORE_OUTPUT.
#define STORE_ROWS(PUT, result, sums, batch, first, rows, columns)                 \
  UNROLL for (int p = 0; p < FLASH_PARTS; ++p)                                     \
    UNROLL for (int i = 0; i < 4; ++i) {                                           \
      REAL values[4];                                                              \
      vstore4((sums)[4 * p + i], 0, values);                                       \
      const int row = (first) + 4 * y + i;                                         \
      UNROLL for (int j = 0; j < 4; ++j) {                                         \
        const int column = p * FLASH_COLUMNS + 4 * x + j;                          \
        if (row < (rows) && column < (columns))                                    \
          PUT((result), ((batch) * (rows) + row) * (columns) + column, values[j]); \
      }                                                                            \
    }

__kernel __attribute__((reqd_work_group_size(FLASH_ITEMS, 1, 1)))
void flash_forward(FLASH_ARGS, BUFFER(OUTPUT, output), BUFFER(REAL, log_sums)) {
  FLASH_BIND;
  FLASH_MEMORY;
  const int first = block * TILE;
  LEAVE_UNLESS_MARKED(first, e.queries);
  const Rows queries = rows_from(query, e.query, first, e.queries, e.columns);
  const int end = e.is_causal ? min(e.keys, first + queries.rows) : e.keys;
  REAL4 results[4 * FLASH_PARTS];
  CLEAR(results, 4 * FLASH_PARTS);
  REAL tops[4], sums[4];
  UNROLL for (int i = 0; i < 4; ++i) {
    tops[i] = -INFINITY;
    sums[i] = 0;
  }
  int first_key = 0;
  do {
    REAL4 products[4];
    REAL scores[4][4], highest[4];
    multiply_rows(products, panels, queries, rows_from(key, e.key, first_key, e.keys, e.columns));
    UNROLL for (int i = 0; i < 4; ++i) {
      vstore4(products[i], 0, scores[i]);
      highest[i] = tops[i];
      UNROLL for (int j = 0; j < 4; ++j) {
        const int q = first + 4 * y + i, k = first_key + 4 * x + j;
        scores[i][j] = is_met(q, k, e) ? masked_score(scaled(scores[i][j], scale), q, k, e, keep, bias) : -INFINITY;
        highest[i] = fmax(highest[i], scores[i][j]);
      }
    }
    COMBINE_ROWS(highest, fmax);
    const uint kept = e.threshold ? kept_ones(batch, first + 4 * y, first_key + 4 * x, e, seed, offset) : ALL_KEPT;
    UNROLL for (int i = 0; i < 4; ++i) {
      const REAL shift = shift_of(highest[i]), factor = exp(tops[i] - shift);
      tops[i] = highest[i];
      sums[i] *= factor;
      UNROLL for (int p = 0; p < FLASH_PARTS; ++p) results[4 * p + i] *= factor;
      UNROLL for (int j = 0; j < 4; ++j) {
        const REAL weight = exp(scores[i][j] - shift);
        sums[i] += weight;
        weights[(4 * x + j) * PITCH + 4 * y + i] = IS_KEPT(kept, i, j) ? weight * kept_scale : (REAL)0;
      }
    }
    add_weighted_rows(results, weights, panels, rows_from(value, e.value, first_key, e.keys, e.value_columns));
  } while ((first_key += TILE) < end);
  COMBINE_ROWS(sums, ADD);
  UNROLL for (int i = 0; i < 4; ++i) {
    UNROLL for (int p = 0; p < FLASH_PARTS; ++p) results[4 * p + i] /= divisor_of(sums[i]);
    const int q = first + 4 * y + i;
    if (log_sums_buffer && x == 0 && q < e.queries)
      log_sums_buffer[log_sums_start + batch * e.queries + q] = shift_of(tops[i]) + log(sums[i]);
  }
  STORE_ROWS(STORE_OUTPUT, output_buffer + output_start, results, batch, first, e.queries, e.value_columns);
}

// For each query, the sum of output times its gradient, which is that of what its weights and their gradients
// multiply to. Sixteen items take a query.
__kernel __attribute__((reqd_work_group_size(FLASH_ITEMS, 1, 1)))
void flash_dots(BUFFER(const OUTPUT, output), BUFFER(const STORAGE, grad_output), BUFFER(REAL, dots), const long rows,
                const int columns) {
  const __global OUTPUT *output = output_buffer + output_start;
  const __global STORAGE *grad_output = grad_output_buffer + grad_output_start;
  __local REAL shares[FLASH_ITEMS];
  const int item = get_local_id(0), x = item % 16;
  const long row = get_group_id(0) * (FLASH_ITEMS / 16) + item / 16;
  REAL sum = 0;
  if (row < rows)
    for (int c = x; c < columns; c += 16)
      sum += LOAD_OUTPUT(output, row * columns + c) * LOAD(grad_output, row * columns + c);
  shares[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x || row >= rows) return;
  for (int other = 1; other < 16; ++other) sum += shares[item + other];
  dots_buffer[dots_start + row] = sum;
}

// For the block of queries from first_query on and that of keys from first_key on: the weights that dropout left, and
// the gradients by products of queries and keys.
#define MAKE_WEIGHTS(left, by_scores)                                                                              \
  {                                                                                                                \
    REAL4 products[4];                                                                                             \
    multiply_rows(products, panels, rows_from(query, e.query, first_query, e.queries, e.columns),                  \
                  rows_from(key, e.key, first_key, e.keys, e.columns));                                            \
    UNROLL for (int i = 0; i < 4; ++i) vstore4(products[i], 0, left[i]);                                           \
    multiply_rows(products, panels, rows_from(grad_output, grad_strides, first_query, e.queries, e.value_columns), \
                  rows_from(value, e.value, first_key, e.keys, e.value_columns));                                  \
    const uint kept =                                                                                              \
        e.threshold ? kept_ones(batch, first_query + 4 * y, first_key + 4 * x, e, seed, offset) : ALL_KEPT;        \
    UNROLL for (int i = 0; i < 4; ++i) {                                                                           \
      vstore4(products[i], 0, by_scores[i]);                                                                       \
      const int q = first_query + 4 * y + i;                                                                       \
      const REAL shift = q < e.queries ? shift_of(log_sums[q]) : (REAL)0, dot = q < e.queries ? dots[q] : (REAL)0; \
      UNROLL for (int j = 0; j < 4; ++j) {                                                                         \
        const int k = first_key + 4 * x + j;                                                                       \
        const bool met = is_met(q, k, e);                                                                          \
        const REAL score = scaled(left[i][j], scale);                                                              \
        const REAL likely = met ? exp(masked_score(score, q, k, e, keep, bias) - shift) : (REAL)0;                 \
        const bool is_left = IS_KEPT(kept, i, j);                                                                  \
        left[i][j] = is_left ? likely * kept_scale : (REAL)0;                                                      \
        by_scores[i][j] = is_left ? by_scores[i][j] * kept_scale : (REAL)0;                                        \
        by_scores[i][j] = met ? likely * (by_scores[i][j] - dot) : (REAL)0;                                        \
      }                                                                                                            \
    }                                                                                                              \
  }

__kernel __attribute__((reqd_work_group_size(FLASH_ITEMS, 1, 1)))
void flash_backward_query(FLASH_BACKWARD_ARGS, BUFFER(STORAGE, by_query)) {
  FLASH_BIND_BACKWARD;
  FLASH_MEMORY;
  const int first_query = block * TILE;
  LEAVE_UNLESS_MARKED(first_query, e.queries);
  const int end = e.is_causal ? min(e.keys, min(e.queries, first_query + TILE)) : e.keys;
  REAL4 results[4 * FLASH_PARTS];
  CLEAR(results, 4 * FLASH_PARTS);
  int first_key = 0;
  do {
    REAL left[4][4], by_scores[4][4];
    MAKE_WEIGHTS(left, by_scores);
    UNROLL for (int j = 0; j < 4; ++j)
      VECTOR_AT(weights + (4 * x + j) * PITCH + 4 * y) =
          (REAL4)(by_scores[0][j], by_scores[1][j], by_scores[2][j], by_scores[3][j]);
    add_weighted_rows(results, weights, panels, rows_from(key, e.key, first_key, e.keys, e.columns));
  } while ((first_key += TILE) < end);
  UNROLL for (int i = 0; i < 4 * FLASH_PARTS; ++i) results[i] *= scale;
  STORE_ROWS(STORE, by_query_buffer + by_query_start, results, batch, first_query, e.queries, e.columns);
}

// Either gradient may be absent.
__kernel __attribute__((reqd_work_group_size(FLASH_ITEMS, 1, 1)))
void flash_backward_key(FLASH_BACKWARD_ARGS, BUFFER(STORAGE, by_key), BUFFER(STORAGE, by_value)) {
  FLASH_BIND_BACKWARD;
  FLASH_MEMORY;
  const int first_key = (e.blocks - 1 - block) * TILE;  // early ones meet most queries
  LEAVE_UNLESS_MARKED(first_key, e.keys);
  REAL4 key_results[4 * FLASH_PARTS], value_results[4 * FLASH_PARTS];
  CLEAR(key_results, 4 * FLASH_PARTS);
  CLEAR(value_results, 4 * FLASH_PARTS);
  int first_query = e.is_causal ? min(first_key, (e.queries - 1) / TILE * TILE) : 0;
  do {
    REAL left[4][4], by_scores[4][4];
    MAKE_WEIGHTS(left, by_scores);
    UNROLL for (int i = 0; i < 4; ++i) VECTOR_AT(weights + (4 * y + i) * PITCH + 4 * x) = vload4(0, left[i]);
    add_weighted_rows(value_results, weights, panels,
                      rows_from(grad_output, grad_strides, first_query, e.queries, e.value_columns));
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int i = 0; i < 4; ++i) VECTOR_AT(weights + (4 * y + i) * PITCH + 4 * x) = vload4(0, by_scores[i]);
    add_weighted_rows(key_results, weights, panels, rows_from(query, e.query, first_query, e.queries, e.columns));
  } while ((first_query += TILE) < e.queries);
  UNROLL for (int i = 0; i < 4 * FLASH_PARTS; ++i) key_results[i] *= scale;
  if (by_key_buffer) STORE_ROWS(STORE, by_key_buffer + by_key_start, key_results, batch, first_key, e.keys, e.columns);
  if (by_value_buffer)
    STORE_ROWS(STORE, by_value_buffer + by_value_start, value_results, batch, first_key, e.keys, e.value_columns);
}
