// The engine of products on NVIDIA's tensor cores (mma.sync, compute capability 8.0 and up): a warp makes WARP_ROWS x
// WARP_COLUMNS results in fragments of 16 x 8. TF32_PRODUCTS is 1, operands rounded to TF32 as they enter the panels; or 3
// for float32: x = big + small in TF32 numbers, and all but small * small counts (Ootomo and Yokota, arXiv 2203.03341).
// Tensor cores truncate where they add, so that sums that are to be float32's leave them after each step.
#define PANEL_PADDING 8  // a fragment's four k lie 8 banks apart, its eight lines side by side

#define ROW_FRAGMENTS (WARP_ROWS / 16)
#define COLUMN_FRAGMENTS (WARP_COLUMNS / 8)
#define WARPS_DOWN (TILE_ROWS / WARP_ROWS)

#define RESULT_ROWS (2 * ROW_FRAGMENTS)
#define RESULT_COLUMNS (2 * COLUMN_FRAGMENTS)
#define RESULT_ROW(i) (warp_row + (i) / 2 * 16 + (i) % 2 * 8 + lane / 4)
#define RESULT_COLUMN(j) (warp_column + (j) / 2 * 8 + lane % 4 * 2 + (j) % 2)
#define RESULT(i, j) result[(i) / 2][(j) / 2][(i) % 2 * 2 + (j) % 2]

#define RESULTS                                                                                      \
  const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32;                                \
  const int warp_row = warp % WARPS_DOWN * WARP_ROWS, warp_column = warp / WARPS_DOWN * WARP_COLUMNS; \
  float result[ROW_FRAGMENTS][COLUMN_FRAGMENTS][4];                                                  \
  clear(result)

inline void clear(float (*sums)[COLUMN_FRAGMENTS][4]) {
#pragma unroll
  for (int i = 0; i < ROW_FRAGMENTS; ++i)
#pragma unroll
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
}

inline void multiply_fragments(float *d, const uint *a, const uint *b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

inline void load_fragment(uint *to, const int count, __local const float *from, const int line_step, const int k_step) {
#pragma unroll
  for (int e = 0; e < count; ++e)
    to[e] = as_uint(from[count == 4 ? e % 2 * line_step + e / 2 * k_step : e * k_step]);
}

#if TF32_PRODUCTS == 1

inline float to_tf32(const float value) {
  uint rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return as_float(rounded);
}
#define OPERAND(value) to_tf32(value)
#define MULTIPLY(left, right) multiply_add(LEFT_OF_LANE(left), RIGHT_OF_LANE(right), result)

inline void multiply_add(__local const float *left, __local const float *right, float (*sums)[COLUMN_FRAGMENTS][4]) {
#pragma unroll
  for (int k = 0; k < TILE_DEPTH; k += 8) {
    uint a[ROW_FRAGMENTS][4], b[COLUMN_FRAGMENTS][2];
#pragma unroll
    for (int i = 0; i < ROW_FRAGMENTS; ++i)
      load_fragment(a[i], 4, left + k * (TILE_ROWS + PANEL_PADDING) + i * 16, 8, 4 * (TILE_ROWS + PANEL_PADDING));
#pragma unroll
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
      load_fragment(b[j], 2, right + k * (TILE_COLUMNS + PANEL_PADDING) + j * 8, 0, 4 * (TILE_COLUMNS + PANEL_PADDING));
#pragma unroll
    for (int i = 0; i < ROW_FRAGMENTS; ++i)
#pragma unroll
      for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(sums[i][j], a[i], b[j]);
  }
}

#else

#define OPERAND(value) (value)

// An infinity has no small part that gives its products (inf * 0, inf - inf): a step that has one is summed plainly.
// infinite_steps are the last such steps, one for either pair of panels.
#define ENGINE_MEMORY __local int infinite_steps[2]
#define BEGIN_ENGINE                                              \
  if (get_local_id(0) < 2) infinite_steps[get_local_id(0)] = -1;  \
  barrier(CLK_LOCAL_MEM_FENCE)
#define NOTE_OPERANDS(number) \
  if (any_infinite(left_next, LEFT_COUNT) || any_infinite(right_next, RIGHT_COUNT)) infinite_steps[(number) & 1] = (number)

inline bool any_infinite(const float *values, const int count) {
  bool any = false;
#pragma unroll
  for (int i = 0; i < count; ++i) any |= fabs(values[i]) == INFINITY;
  return any;
}

inline void multiply_add_plainly(__local const float *left, __local const float *right,
                                 float (*sums)[COLUMN_FRAGMENTS][4]) {
  for (int i = 0; i < ROW_FRAGMENTS; ++i)
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
      for (int e = 0; e < 4; ++e)
        for (int k = 0; k < TILE_DEPTH; ++k)
          sums[i][j][e] += left[k * (TILE_ROWS + PANEL_PADDING) + i * 16 + e / 2 * 8] *
                           right[k * (TILE_COLUMNS + PANEL_PADDING) + j * 8 + e % 2];
}

// What TF32 leaves of each value.
inline void split(uint *big, uint *small, const int count) {
#pragma unroll
  for (int e = 0; e < count; ++e) {
    const float value = as_float(big[e]);
    big[e] &= 0xffffe000u;
    small[e] = as_uint(value - as_float(big[e]));
  }
}

inline void multiply_add(__local const float *left, __local const float *right, float (*sums)[COLUMN_FRAGMENTS][4]) {
  float step_sums[ROW_FRAGMENTS][COLUMN_FRAGMENTS][4];
  clear(step_sums);
#pragma unroll
  for (int k = 0; k < TILE_DEPTH; k += 8) {
    uint b[COLUMN_FRAGMENTS][2], b_small[COLUMN_FRAGMENTS][2];
#pragma unroll
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j) {
      load_fragment(b[j], 2, right + k * (TILE_COLUMNS + PANEL_PADDING) + j * 8, 0, 4 * (TILE_COLUMNS + PANEL_PADDING));
      split(b[j], b_small[j], 2);
    }
#pragma unroll
    for (int i = 0; i < ROW_FRAGMENTS; ++i) {
      uint a[4], a_small[4];
      load_fragment(a, 4, left + k * (TILE_ROWS + PANEL_PADDING) + i * 16, 8, 4 * (TILE_ROWS + PANEL_PADDING));
      split(a, a_small, 4);
#pragma unroll
      for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(step_sums[i][j], a_small, b[j]);
#pragma unroll
      for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(step_sums[i][j], a, b_small[j]);
#pragma unroll
      for (int j = 0; j < COLUMN_FRAGMENTS; ++j) multiply_fragments(step_sums[i][j], a, b[j]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROW_FRAGMENTS; ++i)
#pragma unroll
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] += step_sums[i][j][e];
}

#define MULTIPLY(left, right)                                                                               \
  if (infinite_steps[step & 1] == step)                                                                     \
    multiply_add_plainly((left) + warp_row + lane / 4, (right) + warp_column + lane % 4 * 2, result);       \
  else                                                                                                      \
    multiply_add(LEFT_OF_LANE(left), RIGHT_OF_LANE(right), result)

#endif

#define LEFT_OF_LANE(left) ((left) + lane % 4 * (TILE_ROWS + PANEL_PADDING) + warp_row + lane / 4)
#define RIGHT_OF_LANE(right) ((right) + lane % 4 * (TILE_COLUMNS + PANEL_PADDING) + warp_column + lane / 4)
