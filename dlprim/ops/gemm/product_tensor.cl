// The engine of products on NVIDIA's tensor cores (mma.sync, compute capability 8.0 and up): a warp makes WARP_ROWS x
// WARP_COLUMNS results in fragments of 16 x 8. TF32_PRODUCTS is 1, operands rounded to TF32 or words of two 16-bit
// numbers, which lie in fragments alike; or 3 for float32: x = big + small in TF32 numbers, and all but small * small
// counts (Ootomo and Yokota, arXiv 2203.03341). Tensor cores truncate where they add, so that sums that are to be
// float32's leave them after each 8 of the depth, and add what is small first: each truncation of a whole sum takes
// half of its last bit, from all results alike.

// A fragment is read by items that stand at 4 k of 8 lines: those lie on different banks either way.
#define LEFT_K (LEFT_BY_DEPTH ? 1 : TILE_ROWS + 8)
#define LEFT_LINE (LEFT_BY_DEPTH ? TILE_DEPTH + 4 : 1)
#define LEFT_SIZE (LEFT_BY_DEPTH ? TILE_ROWS * (TILE_DEPTH + 4) : TILE_DEPTH * (TILE_ROWS + 8))
#define RIGHT_K (RIGHT_BY_DEPTH ? 1 : TILE_COLUMNS + 8)
#define RIGHT_LINE (RIGHT_BY_DEPTH ? TILE_DEPTH + 4 : 1)
#define RIGHT_SIZE (RIGHT_BY_DEPTH ? TILE_COLUMNS * (TILE_DEPTH + 4) : TILE_DEPTH * (TILE_COLUMNS + 8))

#define ROW_FRAGMENTS (WARP_ROWS / 16)
#define COLUMN_FRAGMENTS (WARP_COLUMNS / 8)
#define WARPS_DOWN (TILE_ROWS / WARP_ROWS)

#define RESULT_ROWS (2 * ROW_FRAGMENTS)
#define RESULT_LINES (8 * WARPS_DOWN)
#define RESULT_PITCH TILE_COLUMNS
#define RESULT_MEMORY left_panels
#define ROW_OF_LINE(i, line) ((line) / 8 * WARP_ROWS + (i) * 8 + (line) % 8)
#define WRITE_LINE(lines, i)                                                                                \
  UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j)                                                         \
    *(__local float2 *)((lines) + (warp % WARPS_DOWN * 8 + lane / 4) * TILE_COLUMNS + warp_column + j * 8 +  \
                        lane % 4 * 2) = (float2)(result[(i) / 2][j][(i) % 2 * 2], result[(i) / 2][j][(i) % 2 * 2 + 1])

#define RESULTS                                                                                      \
  const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32;                                \
  const int warp_row = warp % WARPS_DOWN * WARP_ROWS, warp_column = warp / WARPS_DOWN * WARP_COLUMNS; \
  float result[ROW_FRAGMENTS][COLUMN_FRAGMENTS][4];                                                  \
  clear(result)

inline void clear(float (*sums)[COLUMN_FRAGMENTS][4]) {
  UNROLL for (int i = 0; i < ROW_FRAGMENTS; ++i)
    UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
      UNROLL for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
}

#if NUMBERS_IN_WORD == 2
#define MULTIPLY_WORDS "mma.sync.aligned.m16n8k16.row.col.f32." STRING(NUMBERS) "." STRING(NUMBERS) ".f32 "
#else
#define MULTIPLY_WORDS "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
#endif

inline void multiply_fragments(float *d, const uint *a, const uint *b) {
  asm volatile(
      MULTIPLY_WORDS "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

inline void begin_fragments(float *d, const uint *a, const uint *b) {
  asm volatile(
      MULTIPLY_WORDS "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

// An item's part of the fragments of 16 rows, and of two times 8 columns, by 8 of the depth. Where 4 of the depth lie
// side by side (eight lines of them are a matrix), 8 items read a matrix and hand it round.
#define IS_IN_MATRICES(k_step) ((k_step) == 1)
inline void load_matrices(uint *to, __local const float *line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"((uint)(size_t)line)
               : "memory");
}
inline void load_rows(uint *to, __local const float *from) {
  if (IS_IN_MATRICES(LEFT_K))
    load_matrices(to, from);
  else
    UNROLL for (int e = 0; e < 4; ++e) to[e] = as_uint(from[e % 2 * 8 * LEFT_LINE + e / 2 * 4 * LEFT_K]);
}
inline void load_columns(uint (*to)[2], __local const float *from) {
  if (IS_IN_MATRICES(RIGHT_K)) {
    uint pair[4];
    load_matrices(pair, from);
    UNROLL for (int e = 0; e < 4; ++e) to[e / 2][e % 2] = pair[e];
  } else {
    UNROLL for (int e = 0; e < 4; ++e) to[e / 2][e % 2] = as_uint(from[e / 2 * 8 * RIGHT_LINE + e % 2 * 4 * RIGHT_K]);
  }
}

// Where an item reads in a panel: the first of its numbers, or the line of a matrix.
#define LEFT_OF_LANE(left)                                                                                         \
  ((left) + (IS_IN_MATRICES(LEFT_K) ? (warp_row + lane % 16) * LEFT_LINE + lane / 16 * 4                           \
                                    : (warp_row + lane / 4) * LEFT_LINE + lane % 4 * LEFT_K))
#define RIGHT_OF_LANE(right)                                                                                       \
  ((right) + (IS_IN_MATRICES(RIGHT_K) ? (warp_column + lane % 8 + lane / 16 * 8) * RIGHT_LINE + lane / 8 % 2 * 4   \
                                      : (warp_column + lane / 4) * RIGHT_LINE + lane % 4 * RIGHT_K))

#if TF32_PRODUCTS == 1

// Floats in memory go to the panels as they are, and are rounded on their way to a fragment, if it was not before.
#define ASYNCHRONOUS_COPIES (STORAGE_IS_REAL || BOTH_ARE_ROUNDED)
#if BOTH_ARE_ROUNDED
#define ROUND(fragment, count)
#else
#define ROUND(fragment, count) round_to_tf32(fragment, count)
#endif
#define ENGINE_MEMORY
#define BEGIN_ENGINE
#define NOTE_OPERANDS(number)
#define MULTIPLY(left, right) multiply_add(LEFT_OF_LANE(left), RIGHT_OF_LANE(right), result)
#define SHOW_PANELS(step) barrier(CLK_LOCAL_MEM_FENCE)
#define BEGIN_MULTIPLY(left, right)
#define END_MULTIPLY MULTIPLY(LEFT_OF_STEP(step), RIGHT_OF_STEP(step))

inline void multiply_add(__local const float *left, __local const float *right, float (*sums)[COLUMN_FRAGMENTS][4]) {
  UNROLL for (int k = 0; k < TILE_DEPTH; k += 8) {
    uint a[ROW_FRAGMENTS][4], b[COLUMN_FRAGMENTS][2];
    UNROLL for (int i = 0; i < ROW_FRAGMENTS; ++i) {
      load_rows(a[i], left + k * LEFT_K + i * 16 * LEFT_LINE);
      ROUND(a[i], 4);
    }
    UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; j += 2) {
      load_columns(b + j, right + k * RIGHT_K + j * 8 * RIGHT_LINE);
      ROUND(b[j], 2);
      ROUND(b[j + 1], 2);
    }
    UNROLL for (int i = 0; i < ROW_FRAGMENTS; ++i)
      UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(sums[i][j], a[i], b[j]);
  }
}

#else

#define ASYNCHRONOUS_COPIES 0

// A number that rounds to an infinity has no small part that gives its products (inf * 0, inf - inf): a step that has
// one is summed plainly. infinite_steps are the last such steps, one for either pair of panels.
#define ENGINE_MEMORY __local int infinite_steps[2]
#define BEGIN_ENGINE                                              \
  if (get_local_id(0) < 2) infinite_steps[get_local_id(0)] = -1;  \
  barrier(CLK_LOCAL_MEM_FENCE)
#define NOTE_OPERANDS(number) \
  if (any_infinite(left_to, LEFT_COUNT) || any_infinite(right_to, RIGHT_COUNT)) infinite_steps[(number) & 1] = (number)

inline bool any_infinite(const float *values, const int count) {
  bool any = false;
  UNROLL for (int i = 0; i < count; ++i) any |= fabs(values[i]) >= as_float(0x7f7ff000u);
  return any;
}

inline void multiply_add_plainly(__local const float *left, __local const float *right,
                                 float (*sums)[COLUMN_FRAGMENTS][4]) {
  for (int i = 0; i < ROW_FRAGMENTS; ++i)
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
      for (int e = 0; e < 4; ++e)
        for (int k = 0; k < TILE_DEPTH; ++k)
          sums[i][j][e] += left[k * LEFT_K + (i * 16 + e / 2 * 8) * LEFT_LINE] *
                           right[k * RIGHT_K + (j * 8 + e % 2) * RIGHT_LINE];
}

// Each value to the nearest TF32 number, and what that leaves (its last bit, which TF32 may lack, is worth 2^-24 of the
// value). A NaN is one of them at least.
inline void split(uint *big, uint *small, const int count) {
  UNROLL for (int e = 0; e < count; ++e) {
    const float value = as_float(big[e]);
    big[e] = (big[e] + 0x1000u) & 0xffffe000u;
    small[e] = as_uint(value - as_float(big[e]));
  }
}

inline void multiply_add(__local const float *left, __local const float *right, float (*sums)[COLUMN_FRAGMENTS][4]) {
  UNROLL for (int k = 0; k < TILE_DEPTH; k += 8) {
    uint b[COLUMN_FRAGMENTS][2], b_small[COLUMN_FRAGMENTS][2];
    UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; j += 2) {
      load_columns(b + j, right + k * RIGHT_K + j * 8 * RIGHT_LINE);
      split(b[j], b_small[j], 2);
      split(b[j + 1], b_small[j + 1], 2);
    }
    UNROLL for (int i = 0; i < ROW_FRAGMENTS; ++i) {
      uint a[4], a_small[4];
      float eighth[COLUMN_FRAGMENTS][4];
      load_rows(a, left + k * LEFT_K + i * 16 * LEFT_LINE);
      split(a, a_small, 4);
      UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j) begin_fragments(eighth[j], a_small, b[j]);
      UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(eighth[j], a, b_small[j]);
      UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(eighth[j], a, b[j]);
      UNROLL for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
        UNROLL for (int e = 0; e < 4; ++e) sums[i][j][e] += eighth[j][e];
    }
  }
}

#define MULTIPLY(left, right)                                                          \
  if (infinite_steps[step & 1] == step)                                                \
    multiply_add_plainly((left) + (warp_row + lane / 4) * LEFT_LINE,                   \
                         (right) + (warp_column + lane % 4 * 2) * RIGHT_LINE, result); \
  else                                                                                 \
    multiply_add(LEFT_OF_LANE(left), RIGHT_OF_LANE(right), result)

#endif
