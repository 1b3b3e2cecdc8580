// The engine of products in plain OpenCL C: an item makes ITEM_ROWS x ITEM_COLUMNS results in registers, in patches of
// 4 x 4 that lie as far apart as the items have patches, so that a vector read of a panel serves neighbouring items.
// Items stand in blocks of 4 x 8: hardware that runs 32 or 64 at a time then reads few different vectors; and so that
// each has a neighbour beside it and one below: NVIDIA's joins the reads of such pairs (row by row 4096 x 4096 x 4096
// took up to 12 % more). Panels lie line by line for that, with a padding that keeps what items bring along the depth
// off each other's banks.
#define LEFT_K (TILE_ROWS + 4)
#define RIGHT_K (TILE_COLUMNS + 4)
#define LEFT_LINE 1
#define RIGHT_LINE 1
#define LEFT_SIZE (TILE_DEPTH * LEFT_K)
#define RIGHT_SIZE (TILE_DEPTH * RIGHT_K)
#define ASYNCHRONOUS_COPIES 0
#define ENGINE_MEMORY
#define BEGIN_ENGINE
#define NOTE_OPERANDS(number)

#define ROW_ITEMS (TILE_ROWS / ITEM_ROWS)
#define COLUMN_ITEMS (TILE_COLUMNS / ITEM_COLUMNS)
#define BLOCKS_ACROSS (COLUMN_ITEMS / 8)

#define RESULT_ROWS ITEM_ROWS
#define RESULT_LINES ROW_ITEMS
#define RESULT_PITCH TILE_COLUMNS
#define RESULT_MEMORY left_panels
#define ROW_OF_LINE(i, line) ((i) / 4 * (4 * ROW_ITEMS) + 4 * (line) + (i) % 4)
#define WRITE_LINE(lines, i)                                                                              \
  UNROLL for (int j = 0; j < ITEM_COLUMNS; j += 4)                                                        \
    *(__local REAL4 *)((lines) + first_row / 4 * TILE_COLUMNS + j * COLUMN_ITEMS + first_column) =        \
        (REAL4)(result[i][j], result[i][j + 1], result[i][j + 2], result[i][j + 3])

inline void clear(REAL (*sums)[ITEM_COLUMNS]) {
  UNROLL for (int i = 0; i < ITEM_ROWS; ++i)
    UNROLL for (int j = 0; j < ITEM_COLUMNS; ++j) sums[i][j] = 0;
}

inline void multiply_add(__local const REAL *left, __local const REAL *right, REAL (*sums)[ITEM_COLUMNS]) {
  UNROLL for (int k = 0; k < TILE_DEPTH; ++k) {
    REAL l[ITEM_ROWS], r[ITEM_COLUMNS];
    UNROLL for (int i = 0; i < ITEM_ROWS; i += 4)
      vstore4(*(__local const REAL4 *)(left + k * LEFT_K + i * ROW_ITEMS), 0, l + i);
    UNROLL for (int j = 0; j < ITEM_COLUMNS; j += 4)
      vstore4(*(__local const REAL4 *)(right + k * RIGHT_K + j * COLUMN_ITEMS), 0, r + j);
    // Four columns at a time, back and forth: an operand is still where the next product wants it, and NVIDIA's
    // compiler finds registers whose banks do not collide (4096 x 4096 x 4096 row by row took 3 to 10 % more).
    UNROLL for (int first = 0; first < ITEM_COLUMNS; first += 4)
      UNROLL for (int i = 0; i < ITEM_ROWS; ++i)
        UNROLL for (int n = 0; n < 4; ++n) {
          const int j = first + (i % 2 == 0 ? n : 3 - n);
          sums[i][j] = mad(l[i], r[j], sums[i][j]);
        }
  }
}

#define PLACE_OF_ITEM                                                                                \
  const int item_block = get_local_id(0) / 32, item_place = get_local_id(0) % 32;                    \
  const int row_in_block = item_place / 2 % 2 + item_place / 16 * 2;                                 \
  const int column_in_block = item_place % 2 + item_place / 4 % 4 * 2;                               \
  const int first_row = 4 * (item_block / BLOCKS_ACROSS * 4 + row_in_block);                         \
  const int first_column = 4 * (item_block % BLOCKS_ACROSS * 8 + column_in_block)

#if TILE_CHAIN

// Deep sums are made of chains. Values that are asked for once a chain are volatile, so that they do not take the
// registers.
inline void add_chain(volatile REAL (*sums)[ITEM_COLUMNS], REAL (*chain)[ITEM_COLUMNS]) {
  UNROLL for (int i = 0; i < ITEM_ROWS; ++i)
    UNROLL for (int j = 0; j < ITEM_COLUMNS; ++j) sums[i][j] += chain[i][j];
  clear(chain);
}

#define RESULTS                                                                      \
  PLACE_OF_ITEM;                                                                     \
  volatile REAL result[ITEM_ROWS][ITEM_COLUMNS];                                     \
  REAL chain[ITEM_ROWS][ITEM_COLUMNS];                                               \
  clear(chain);                                                                      \
  UNROLL for (int i = 0; i < ITEM_ROWS; ++i)                                         \
    UNROLL for (int j = 0; j < ITEM_COLUMNS; ++j) result[i][j] = 0
#define MULTIPLY(left, right)                                      \
  multiply_add((left) + first_row, (right) + first_column, chain); \
  if (!more || (step + 1) % (TILE_CHAIN / TILE_DEPTH) == 0) add_chain(result, chain)

#else

#define RESULTS                          \
  PLACE_OF_ITEM;                         \
  REAL result[ITEM_ROWS][ITEM_COLUMNS];  \
  clear(result)
#define MULTIPLY(left, right) multiply_add((left) + first_row, (right) + first_column, result)

#endif
