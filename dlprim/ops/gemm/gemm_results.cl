// The finish of the sums of a matrix product: alpha * sum + bias + beta * c; of a part of the depth, partials
// (product_join_simt.cl).
#define FINISH(value, c, at, column)                               \
  {                                                                \
    value *= alpha;                                                \
    if (has_bias) value += LOAD(bias_buffer, bias_start + column); \
    if (beta != 0) value += beta * LOAD(c, at);                    \
  }
// A part of STORE_RESULTS.
#define STORE_RESULT(m, n, splits)                        \
  if (block_row + row < m && column < n) {                \
    const long at = (long)(block_row + row) * n + column; \
    if (splits > 1) {                                     \
      partial[at] = value;                                \
    } else {                                              \
      FINISH(value, c, at, column)                        \
      STORE(c, at, value);                                \
    }                                                     \
  }
