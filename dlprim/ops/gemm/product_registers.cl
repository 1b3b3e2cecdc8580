// The engine of products in plain OpenCL C: an item makes ITEM_ROWS x ITEM_COLUMNS results in registers, in patches of
// 4 x 4 that lie as far apart as the items have patches, so that a vector read of a panel serves neighbouring items. Items
// stand in blocks of 4 x 8: hardware that runs 32 or 64 at a time then reads few different vectors.
#define PANEL_PADDING 4
#define OPERAND(value) (value)

#define ROW_ITEMS (TILE_ROWS / ITEM_ROWS)
#define COLUMN_ITEMS (TILE_COLUMNS / ITEM_COLUMNS)
#define BLOCKS_ACROSS (COLUMN_ITEMS / 8)

#define RESULT_ROWS ITEM_ROWS
#define RESULT_COLUMNS ITEM_COLUMNS
#define RESULT_ROW(i) ((i) / 4 * (4 * ROW_ITEMS) + first_row + (i) % 4)
#define RESULT_COLUMN(j) ((j) / 4 * (4 * COLUMN_ITEMS) + first_column + (j) % 4)
#define RESULT(i, j) result[i][j]

#define RESULTS                                                                                               \
  const int item_block = get_local_id(0) / 32, item_place = get_local_id(0) % 32;                             \
  const int first_row = 4 * (item_block / BLOCKS_ACROSS * 4 + item_place / 8);                                \
  const int first_column = 4 * (item_block % BLOCKS_ACROSS * 8 + item_place % 8);                             \
  REAL result[ITEM_ROWS][ITEM_COLUMNS];                                                                       \
  CHAIN_REGISTERS;                                                                                            \
  clear(result)

inline void clear(REAL (*sums)[ITEM_COLUMNS]) {
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i)
#pragma unroll
    for (int j = 0; j < ITEM_COLUMNS; ++j) sums[i][j] = 0;
}

inline void multiply_add(__local const REAL *left, __local const REAL *right, REAL (*sums)[ITEM_COLUMNS]) {
#pragma unroll
  for (int k = 0; k < TILE_DEPTH; ++k) {
    REAL l[ITEM_ROWS], r[ITEM_COLUMNS];
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; i += 4)
      vstore4(*(__local const REAL4 *)(left + k * (TILE_ROWS + PANEL_PADDING) + i * ROW_ITEMS), 0, l + i);
#pragma unroll
    for (int j = 0; j < ITEM_COLUMNS; j += 4)
      vstore4(*(__local const REAL4 *)(right + k * (TILE_COLUMNS + PANEL_PADDING) + j * COLUMN_ITEMS), 0, r + j);
#pragma unroll
    for (int i = 0; i < ITEM_ROWS; ++i)
#pragma unroll
      for (int j = 0; j < ITEM_COLUMNS; ++j) sums[i][j] = mad(l[i], r[j], sums[i][j]);
  }
}

inline void add_chain(REAL (*sums)[ITEM_COLUMNS], REAL (*chain)[ITEM_COLUMNS]) {
#pragma unroll
  for (int i = 0; i < ITEM_ROWS; ++i)
#pragma unroll
    for (int j = 0; j < ITEM_COLUMNS; ++j) sums[i][j] += chain[i][j];
  clear(chain);
}

// Deep sums are made of chains, which doubles the registers.
#if TILE_DEEP
#define CHAIN_REGISTERS            \
  REAL chain[ITEM_ROWS][ITEM_COLUMNS]; \
  clear(chain)
#define MULTIPLY(left, right)                                             \
  multiply_add((left) + first_row, (right) + first_column, chain);        \
  if (!more || (step + 1) % (PRODUCT_CHAIN / TILE_DEPTH) == 0) add_chain(result, chain)
#else
#define CHAIN_REGISTERS
#define MULTIPLY(left, right) multiply_add((left) + first_row, (right) + first_column, result)
#endif
