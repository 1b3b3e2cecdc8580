// Attention on NVIDIA's tensor cores (mma.sync, compute capability 8.0 and up). Each of four warps has 16 lines of the
// group's own block (queries; of flash_backward_key keys), in registers; the group walks through blocks of FLASH_STEP
// lines of the other kind in local memory. Scores never leave the registers: where a product gives a warp its results,
// lines g = lane / 4 and g + 8, columns 2 t and 2 t + 1 of each 8 (t = lane % 4), the next product wants the same
// lines, and of what it sums over the same columns of numbers of 16 bits, columns t and t + 4 of floats. Sums have no
// order, so columns 2 t and 2 t + 1 stand for those in the weights, and likewise in what they are multiplied with
// (add_weighted_lines). Lines lie in words of 32 bits: a float, or two numbers of 16 bits that follow each other along
// the columns. Macros: STORAGE, REAL (float), NUMBERS_IN_WORD and for two of them NUMBERS (f16, bf16;
// ops/gemm/product_copies.cl); FLASH_WIDTH: columns of operands, padded; FLASH_STEP; FLASH_OUTPUT, FLASH_BY_QUERY,
// FLASH_BY_KEY, FLASH_BY_VALUE: what is made, by a kernel of each but of the last two by one; FLASH_VECTORS: whether
// lines are aligned vectors of four words; FLASH_SHARES: warps that have the same own lines, each a share of their
// columns (wide ones need more registers than an item has); TF32_PRODUCTS: 1, or 3 for float32 of words of one
// (ops/gemm/product_tensor.cl); FLASH_MARKS: whether to note in not_finite.
#include "ops/attention/flash.cl"
#include "ops/gemm/product_copies.cl"

#define ITEMS (FLASH_TENSOR_ITEMS * FLASH_SHARES)
#define BLOCK FLASH_TILE
#define STEP FLASH_STEP
#define WORDS (FLASH_WIDTH / NUMBERS_IN_WORD)
#define PITCH (WORDS + 4)         // free of bank conflicts, read either way
#define PANEL (STEP * PITCH)
#define SHARE_WORDS (WORDS / FLASH_SHARES)
#define SHARE_COLUMNS (FLASH_WIDTH / FLASH_SHARES)
#define DEPTHS (SHARE_WORDS / 8)    // fragments along a share's columns of operands
#define WIDTHS (SHARE_COLUMNS / 8)  // along those of results
#define STEPS (STEP / 8)          // and along the lines of a step

// The first four warps of a share have the first columns.
#define FLASH_LANE                                                                     \
  const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32 % 4, g = lane / 4, t = lane % 4, \
            share = FLASH_SHARES > 1 ? get_local_id(0) / FLASH_TENSOR_ITEMS : 0

// d += a times b, of 16 and 8 lines, 8 words deep.
inline void multiply_fragments(float *d, const uint *a, const uint *b) {
  asm volatile(
#if NUMBERS_IN_WORD == 2
      "mma.sync.aligned.m16n8k16.row.col.f32." STRING(NUMBERS) "." STRING(
          NUMBERS) ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#else
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#endif
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#if TF32_PRODUCTS == 1

#if NUMBERS_IN_WORD == 1
#define PREPARE(values, count) round_to_tf32(values, count)
#else
#define PREPARE(values, count)
#endif
#define MULTIPLY_ADD(sums, a, b) multiply_fragments(sums, a, b)
#define EXP(x) native_exp2((x) * 1.44269504f)

#else

#define PREPARE(values, count)
#define MULTIPLY_ADD(sums, a, b) multiply_add(sums, a, b)
#define EXP(x) exp(x)  // the other is off by half a unit of x, which is of the weight's where x is -1

// Each value to the nearest TF32 number, and what that leaves.
inline void split(const uint *values, uint *big, uint *small, const int count) {
  UNROLL for (int e = 0; e < count; ++e) {
    big[e] = (values[e] + 0x1000u) & 0xffffe000u;
    small[e] = as_uint(as_float(values[e]) - as_float(big[e]));
  }
}

inline void multiply_add(float *sums, const uint *a, const uint *b) {
  uint a_big[4], a_small[4], b_big[2], b_small[2];
  split(a, a_big, a_small, 4);
  split(b, b_big, b_small, 2);
  float eighth[4] = {0, 0, 0, 0};
  multiply_fragments(eighth, a_small, b_big);
  multiply_fragments(eighth, a_big, b_small);
  multiply_fragments(eighth, a_big, b_big);
  UNROLL for (int e = 0; e < 4; ++e) sums[e] += eighth[e];
}

#endif

#define CLEAR(sums, count) \
  UNROLL for (int i = 0; i < 4 * (count); ++i) sums[i / 4][i % 4] = 0

// Some lines of an operand, from `first` on, of which `count` are there.
typedef struct {
  const __global STORAGE *first;
  long line, column;
  int count, columns;
} Lines;

#if FLASH_VECTORS
#define COLUMN_STEP(from) 1
#else
#define COLUMN_STEP(from) (from).column
#endif

inline Lines lines_from(const __global STORAGE *operand, const OperandStrides s, const int first, const int all,
                        const int columns) {
  const Lines lines = {operand + first * s.row, s.row, s.column, all - first, columns};
  return lines;
}

#if FLASH_VECTORS || NUMBERS_IN_WORD == 1
inline uint word_at(const Lines from, const int line, const int word) {
  const bool inside = line < from.count && word * NUMBERS_IN_WORD < from.columns;
  return inside ? *(const __global uint *)(from.first + line * from.line + word * NUMBERS_IN_WORD * COLUMN_STEP(from))
                : 0;
}
#define COPY_WORD(to, from, line, word)                                                                  \
  {                                                                                                      \
    const bool inside = line < from.count && word < from.columns;                                        \
    copy_piece(1, to, inside ? from.first + line * from.line + word * from.column : from.first, inside); \
  }
#else
// A number's bits, or zero beyond the columns.
inline uint bits_at(const Lines from, const long line, const int column) {
  return column < from.columns ? ((const __global ushort *)from.first)[line * from.line + column * from.column] : 0;
}
inline uint word_at(const Lines from, const int line, const int word) {
  return line < from.count ? bits_at(from, line, 2 * word) | bits_at(from, line, 2 * word + 1) << 16 : 0;
}
#define COPY_WORD(to, from, line, word) *(to) = as_float(word_at(from, line, word))
#endif

// The i-th piece of `width` words of a panel that an item brings, if there is one.
#define PIECES(width) ((STEP * WORDS / (width) + ITEMS - 1) / ITEMS)
#define IS_PIECE(i, width) (((i) + 1) * ITEMS <= STEP * WORDS / (width) || line < STEP)
#define PIECE(i, width)                                                       \
  const int number = get_local_id(0) + (i) * ITEMS;                           \
  const int line = number / (WORDS / (width)), word = number % (WORDS / (width)) * (width)

// STEP lines on their way to a panel; zeros where there is nothing.
inline void copy_lines(__local float *panel, const Lines from) {
#if FLASH_VECTORS
  UNROLL for (int i = 0; i < PIECES(4); ++i) {
    PIECE(i, 4);
    if (!IS_PIECE(i, 4)) break;
    const int column = word * NUMBERS_IN_WORD;
    const bool inside = line < from.count && column < from.columns;
    copy_piece(4, panel + line * PITCH + word,
               (const __global float *)(inside ? from.first + line * from.line + column : from.first), inside);
  }
#else
  for (int i = 0; i < PIECES(1); ++i) {
    PIECE(i, 1);
    if (!IS_PIECE(i, 1)) break;
    COPY_WORD(panel + line * PITCH + word, from, line, word);
  }
#endif
}

// A warp's own lines as left fragments.
inline void load_own(uint (*own)[4], const Lines from) {
  FLASH_LANE;
  UNROLL for (int d = 0; d < DEPTHS; ++d) {
    UNROLL for (int c = 0; c < 4; ++c) own[d][c] =
        word_at(from, warp * 16 + g + c % 2 * 8, share * SHARE_WORDS + d * 8 + t + c / 2 * 4);
    PREPARE(own[d], 4);
  }
}

// Four blocks of 8 lines of 4 words: of block i an item gets word t of line g, if its neighbours give where the lines
// begin, item l of a warp line l % 8 of block l / 8. Across: of each number the eight in a column.
#define ADDRESS(pointer) ((uint)(size_t)(pointer))
inline void load_blocks(uint *to, const uint line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(line)
               : "memory");
}
inline void load_blocks_across(uint *to, const uint line) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(line)
               : "memory");
}

// products[s], columns 8 s …: own lines times lines of a panel.
inline void multiply_lines(float (*products)[4], uint (*own)[4], __local const float *panel) {
  FLASH_LANE;
  const uint lines = ADDRESS(panel + lane % 8 * PITCH + share * SHARE_WORDS + lane / 8 * 4);
  CLEAR(products, STEPS);
  UNROLL for (int d = 0; d < DEPTHS; d += 2)
    UNROLL for (int s = 0; s < STEPS; ++s) {
      uint b[4];
      load_blocks(b, lines + 4 * (s * 8 * PITCH + d * 8));
      PREPARE(b, 4);
      MULTIPLY_ADD(products[s], own[d], b);
      MULTIPLY_ADD(products[s], own[d + 1], b + 2);
    }
}

// Products of a share's columns to those of all of them, by memory that nobody reads any more.
#if FLASH_SHARES > 1
#define JOINT_MEMORY __local float4 joint[ITEMS * STEPS]
#define JOIN_SHARES(products) join_shares(products, joint)
#define AWAIT_JOINED barrier(CLK_LOCAL_MEM_FENCE)
inline void join_shares(float (*products)[4], __local float4 *joint) {
  const int item = get_local_id(0);
  UNROLL for (int s = 0; s < STEPS; ++s)
    joint[s * ITEMS + item] = (float4)(products[s][0], products[s][1], products[s][2], products[s][3]);
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int s = 0; s < STEPS; ++s) {
    float4 all = 0;
    UNROLL for (int share = 0; share < FLASH_SHARES; ++share)
      all += joint[s * ITEMS + share * FLASH_TENSOR_ITEMS + item % FLASH_TENSOR_ITEMS];
    products[s][0] = all.x;
    products[s][1] = all.y;
    products[s][2] = all.z;
    products[s][3] = all.w;
  }
}
#else
#define JOINT_MEMORY
#define JOIN_SHARES(products)
#define AWAIT_JOINED
#endif

// sums[d], columns 8 d …: += weights, by own lines and lines of a panel, times those lines.
inline void add_weighted_lines(float (*sums)[4], float (*weights)[4], __local const float *panel) {
  FLASH_LANE;
#if NUMBERS_IN_WORD == 2
  const uint lines = ADDRESS(panel + lane % 16 * PITCH + share * SHARE_WORDS + lane / 16 * 4);
  UNROLL for (int s = 0; s < STEPS; s += 2) {
    uint a[4];
    UNROLL for (int e = 0; e < 4; ++e) a[e] = as_uint(word_of(weights[s + e / 2] + e % 2 * 2));
    UNROLL for (int d = 0; d < WIDTHS; d += 2) {
      uint b[4];
      load_blocks_across(b, lines + 4 * (s * 8 * PITCH + d * 4));
      MULTIPLY_ADD(sums[d], a, b);
      MULTIPLY_ADD(sums[d + 1], a, b + 2);
    }
  }
#else
  UNROLL for (int s = 0; s < STEPS; ++s) {
    uint a[4];
    UNROLL for (int e = 0; e < 4; ++e) a[e] = as_uint(weights[s][e % 2 * 2 + e / 2]);
    PREPARE(a, 4);
    UNROLL for (int d = 0; d < WIDTHS; ++d) {
      __local const float *at = panel + (s * 8 + 2 * t) * PITCH + share * SHARE_COLUMNS + d * 8 + g;
      uint b[2] = {as_uint(at[0]), as_uint(at[PITCH])};
      PREPARE(b, 2);
      MULTIPLY_ADD(sums[d], a, b);
    }
  }
#endif
}

inline float of_quad(float value, const int other) {
  float result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(result) : "f"(value), "r"(other));
  return result;
}
inline float sum_of_quad(float value) {
  value += of_quad(value, 1);
  return value + of_quad(value, 2);
}
inline float largest_of_quad(float value) {
  value = fmax(value, of_quad(value, 1));
  return fmax(value, of_quad(value, 2));
}

#if FLASH_OUTPUT
#define RESULT OUTPUT
#define STORE_RESULT STORE_OUTPUT
#else
#define RESULT STORAGE
#define STORE_RESULT STORE
#endif
// Rows of a result [batch, rows, columns] that is contiguous, from row `first` on. Whether all are finite.
inline bool store_scaled(__global RESULT *result, float (*sums)[4], const float scale, const long batch,
                         const int first, const int lines, const int columns) {
  FLASH_LANE;
  bool are_finite = true;
  UNROLL for (int d = 0; d < WIDTHS; ++d)
    UNROLL for (int c = 0; c < 4; ++c) {
      const int line = first + warp * 16 + g + c / 2 * 8, column = share * SHARE_COLUMNS + d * 8 + 2 * t + c % 2;
      const float scaled = sums[d][c] * scale;
      if (line >= lines || column >= columns) continue;
      are_finite = are_finite && isfinite(scaled);
      STORE_RESULT(result, (batch * lines + line) * columns + column, scaled);
    }
  return are_finite;
}

// At a kernel's end: what FLASH_ARGS says of not_finite, of own lines from `first` on, from what each item says.
#if FLASH_MARKS
#define MARK_MEMORY __local int is_marked
#define MARK_UNLESS(are_finite, first, lines)                       \
  {                                                                 \
    if (get_local_id(0) == 0) is_marked = 0;                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                   \
    if (!(are_finite)) is_marked = 1;                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                   \
    if (get_local_id(0) == 0) MARK_OF(first, lines) = is_marked;    \
  }
#else
#define MARK_MEMORY
#define MARK_UNLESS(are_finite, first, lines) (void)(are_finite)
#endif

// Bit 4 s + c: whether dropout keeps the weight of own line `own` + c / 2 * 8 and the step's line `other` + 8 s + c
// % 2.
inline uint kept_ones(const long batch, const int own, const int other, const bool owns_keys, const FlashExtents e,
                      const ulong seed, const ulong offset) {
  uint kept = 0;
  DO_NOT_UNROLL for (int n = 0; n < 4 * STEPS; ++n) {
    const int mine = own + n / 2 % 2 * 8, met = other + n / 4 * 8 + n % 2;
    kept |= (uint)is_kept(batch, owns_keys ? met : mine, owns_keys ? mine : met, e, seed, offset) << n;
  }
  return kept;
}
#define IS_KEPT(kept, s, c) ((kept) >> (4 * (s) + (c)) & 1)
#define EACH_SCORE                       \
  UNROLL for (int s = 0; s < STEPS; ++s) \
    UNROLL for (int c = 0; c < 4; ++c)

// Pairs of panels, of which one is on its way while the other is used.
#define PANEL_MEMORY \
  MARK_MEMORY;       \
  JOINT_MEMORY;      \
  __local float panels[4 * PANEL] __attribute__((aligned(16)))
#define FIRST_PANEL(step) (panels + ((step) & 1) * (2 * PANEL))
#define SECOND_PANEL(step) (FIRST_PANEL(step) + PANEL)
#define COPY_STEP(step, first_lines, second_lines) \
  {                                                \
    copy_lines(FIRST_PANEL(step), first_lines);    \
    copy_lines(SECOND_PANEL(step), second_lines);  \
    close_copies();                                \
  }
// Until the step's panels are there for all items, which have left the panels of the step before then.
#define AWAIT_STEP                                          \
  {                                                         \
    asm volatile("cp.async.wait_group 0;" : : : "memory");  \
    barrier(CLK_LOCAL_MEM_FENCE);                           \
  }
#define KEYS_FROM(first) lines_from(key, e.key, first, e.keys, e.columns)
#define VALUES_FROM(first) lines_from(value, e.value, first, e.keys, e.value_columns)
#define QUERIES_FROM(first) lines_from(query, e.query, first, e.queries, e.columns)
#define GRADIENTS_FROM(first) lines_from(grad_output, grad_strides, first, e.queries, e.value_columns)

// Whether all of the step's keys, or queries, are met, if there is no mask.
#define HAS_MASK (keep || bias)
#define ALL_KEYS_MET (!HAS_MASK && first_key + STEP <= (e.is_causal ? min(e.keys, first + 1) : e.keys))
#define ALL_QUERIES_MET \
  (!HAS_MASK && first_query + STEP <= e.queries && !(e.is_causal && first_query < first + BLOCK - 1))
// The own line that an item's score is of, and the step's.
#define OWN(s, c) (line + (c) / 2 * 8)
#define STEP_KEY(s, c) (first_key + (s) * 8 + 2 * t + (c) % 2)
#define STEP_QUERY(s, c) (first_query + (s) * 8 + 2 * t + (c) % 2)
// The score of a product of a query and a key. Both passes round it alike, and fuse no difference with it: the largest
// score less itself is 0.
inline float scaled(const float product, const float scale) {
  float score;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(score) : "f"(product), "f"(scale));
  return score;
}

// In place of products of queries and keys, scores less SHIFT(s, c); -inf of what does not meet. Plain: all meet, or
// are own lines beyond those that are there, which nobody looks at.
#define MAKE_SCORES(scores, q_of, k_of, plain, SHIFT)                                                     \
  if (plain) {                                                                                            \
    EACH_SCORE scores[s][c] = scaled(scores[s][c], scale) - SHIFT(s, c);                                  \
  } else {                                                                                                \
    EACH_SCORE {                                                                                          \
      const int q = q_of(s, c), k = k_of(s, c);                                                           \
      const bool met = is_met(q, k, e);                                                                   \
      scores[s][c] =                                                                                      \
          met ? masked_score(scaled(scores[s][c], scale), q, k, e, keep, bias) - SHIFT(s, c) : -INFINITY; \
    }                                                                                                     \
  }

#if FLASH_OUTPUT

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void flash_forward(FLASH_ARGS, BUFFER(RESULT, output), BUFFER(REAL, log_sums)) {
  FLASH_BIND;
  FLASH_LANE;
  PANEL_MEMORY;
  const int first = block * BLOCK, line = first + warp * 16 + g;
  const int end = e.is_causal ? min(e.keys, min(e.queries, first + BLOCK)) : e.keys;
  COPY_STEP(0, KEYS_FROM(0), VALUES_FROM(0));
  uint own[DEPTHS][4];
  load_own(own, QUERIES_FROM(first));
  float results[WIDTHS][4], tops[2], sums[2];
  CLEAR(results, WIDTHS);
  UNROLL for (int h = 0; h < 2; ++h) {
    tops[h] = -INFINITY;
    sums[h] = 0;
  }
  for (int step = 0, first_key = 0; first_key < end; ++step, first_key += STEP) {
    AWAIT_STEP;
    if (first_key + STEP < end) COPY_STEP(step + 1, KEYS_FROM(first_key + STEP), VALUES_FROM(first_key + STEP));
    float scores[STEPS][4], highest[2], shifts[2];
    multiply_lines(scores, own, FIRST_PANEL(step));
    JOIN_SHARES(scores);
#define NO_SHIFT(s, c) 0
    MAKE_SCORES(scores, OWN, STEP_KEY, ALL_KEYS_MET, NO_SHIFT);
    UNROLL for (int h = 0; h < 2; ++h) highest[h] = tops[h];
    EACH_SCORE highest[c / 2] = fmax(highest[c / 2], scores[s][c]);
    UNROLL for (int h = 0; h < 2; ++h) {
      highest[h] = largest_of_quad(highest[h]);
      shifts[h] = shift_of(highest[h]);
      const float factor = EXP(tops[h] - shifts[h]);
      tops[h] = highest[h];
      sums[h] *= factor;
      UNROLL for (int d = 0; d < WIDTHS; ++d) {
        results[d][2 * h] *= factor;
        results[d][2 * h + 1] *= factor;
      }
    }
    EACH_SCORE {
      scores[s][c] = EXP(scores[s][c] - shifts[c / 2]);
      sums[c / 2] += scores[s][c];
    }
    if (e.threshold) {
      const uint kept = kept_ones(batch, OWN(0, 0), STEP_KEY(0, 0), false, e, seed, offset);
      EACH_SCORE scores[s][c] = IS_KEPT(kept, s, c) ? scores[s][c] * kept_scale : 0;
    }
    add_weighted_lines(results, scores, SECOND_PANEL(step));
  }
  UNROLL for (int h = 0; h < 2; ++h) {
    const float sum = sum_of_quad(sums[h]), divisor = divisor_of(sum);
    const int q = OWN(0, 2 * h);
    UNROLL for (int d = 0; d < WIDTHS; ++d) {
      results[d][2 * h] /= divisor;
      results[d][2 * h + 1] /= divisor;
    }
    if (log_sums_buffer && share == 0 && t == 0 && q < e.queries)
      log_sums_buffer[log_sums_start + batch * e.queries + q] = shift_of(tops[h]) + log(sum);
  }
  MARK_UNLESS(store_scaled(output_buffer + output_start, results, 1, batch, first, e.queries, e.value_columns), first,
              e.queries);
}

#endif

// The weights that dropout left, in place of products of queries and keys, and the gradients by those products in place
// of products of the output's gradients and values. SHIFT(s, c), DOT(s, c): log_sums and dots of the query.
#define MAKE_WEIGHTS(weights, by_scores, q_of, k_of, plain, owns_keys, SHIFT, DOT)                      \
  {                                                                                                     \
    MAKE_SCORES(weights, q_of, k_of, plain, SHIFT);                                                     \
    EACH_SCORE weights[s][c] = EXP(weights[s][c]);                                                      \
    if (e.threshold) {                                                                                  \
      {                                                                                                 \
        const int q = q_of(0, 0), k = k_of(0, 0);                                                       \
        const uint kept = kept_ones(batch, owns_keys ? k : q, owns_keys ? q : k, owns_keys, e, seed, offset);         \
        EACH_SCORE {                                                                                    \
          const bool is_left = IS_KEPT(kept, s, c);                                                     \
          by_scores[s][c] = weights[s][c] * ((is_left ? by_scores[s][c] * kept_scale : 0) - DOT(s, c)); \
          weights[s][c] = is_left ? weights[s][c] * kept_scale : 0;                                     \
        }                                                                                               \
      }                                                                                                 \
    } else {                                                                                            \
      EACH_SCORE by_scores[s][c] = weights[s][c] * (by_scores[s][c] - DOT(s, c));                       \
    }                                                                                                   \
    if (!(plain)) EACH_SCORE if (!is_met(q_of(s, c), k_of(s, c), e)) by_scores[s][c] = 0;               \
  }

#if FLASH_BY_QUERY

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void flash_backward_query(FLASH_BACKWARD_ARGS, BUFFER(STORAGE, by_query)) {
  FLASH_BIND_BACKWARD;
  FLASH_LANE;
  PANEL_MEMORY;
  const int first = block * BLOCK, line = first + warp * 16 + g;
  const int end = e.is_causal ? min(e.keys, min(e.queries, first + BLOCK)) : e.keys;
  COPY_STEP(0, KEYS_FROM(0), VALUES_FROM(0));
  uint own_queries[DEPTHS][4], own_gradients[DEPTHS][4];
  load_own(own_queries, QUERIES_FROM(first));
  load_own(own_gradients, GRADIENTS_FROM(first));
  float shifts[2], own_dots[2], results[WIDTHS][4];
  UNROLL for (int h = 0; h < 2; ++h) {
    const int q = min(OWN(0, 2 * h), e.queries - 1);
    shifts[h] = shift_of(log_sums[q]);
    own_dots[h] = dots[q];
  }
  CLEAR(results, WIDTHS);
  for (int step = 0, first_key = 0; first_key < end; ++step, first_key += STEP) {
    AWAIT_STEP;
    if (first_key + STEP < end) COPY_STEP(step + 1, KEYS_FROM(first_key + STEP), VALUES_FROM(first_key + STEP));
    float weights[STEPS][4], by_scores[STEPS][4];
    multiply_lines(weights, own_queries, FIRST_PANEL(step));
    JOIN_SHARES(weights);
    multiply_lines(by_scores, own_gradients, SECOND_PANEL(step));
    AWAIT_JOINED;
    JOIN_SHARES(by_scores);
#define SHIFT(s, c) shifts[(c) / 2]
#define DOT(s, c) own_dots[(c) / 2]
    MAKE_WEIGHTS(weights, by_scores, OWN, STEP_KEY, ALL_KEYS_MET, false, SHIFT, DOT);
    add_weighted_lines(results, by_scores, FIRST_PANEL(step));
  }
  MARK_UNLESS(store_scaled(by_query_buffer + by_query_start, results, scale, batch, first, e.queries, e.columns), first,
              e.queries);
}

#endif

#if FLASH_BY_KEY || FLASH_BY_VALUE

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void flash_backward_key(FLASH_BACKWARD_ARGS, BUFFER(STORAGE, by_key), BUFFER(STORAGE, by_value)) {
  FLASH_BIND_BACKWARD;
  FLASH_LANE;
  PANEL_MEMORY;
  __local float rows[2][2][STEP];  // log_sums and dots of a step's queries
  const int first = (e.blocks - 1 - block) * BLOCK, line = first + warp * 16 + g;  // early keys meet most queries
  const int begin = e.is_causal ? min(first, (e.queries - 1) / STEP * STEP) : 0;
#define COPY_QUERIES(step, first_query)                                                                    \
  {                                                                                                        \
    const int number = get_local_id(0) % STEP, row = (first_query) + number;                               \
    if (get_local_id(0) < 2 * STEP)                                                                        \
      copy_piece(1, &rows[(step) & 1][get_local_id(0) / STEP][number],                                     \
                 (get_local_id(0) < STEP ? log_sums : dots) + min(row, e.queries - 1), true);              \
    COPY_STEP(step, QUERIES_FROM(first_query), GRADIENTS_FROM(first_query));                               \
  }
  COPY_QUERIES(0, begin);
  uint own_keys[DEPTHS][4];
  load_own(own_keys, KEYS_FROM(first));
#if FLASH_BY_KEY
  uint own_values[DEPTHS][4];
  load_own(own_values, VALUES_FROM(first));
  float key_results[WIDTHS][4];
  CLEAR(key_results, WIDTHS);
#endif
#if FLASH_BY_VALUE
  float value_results[WIDTHS][4];
  CLEAR(value_results, WIDTHS);
#endif
  for (int step = 0, first_query = begin; first_query < e.queries; ++step, first_query += STEP) {
    AWAIT_STEP;
    if (first_query + STEP < e.queries) COPY_QUERIES(step + 1, first_query + STEP);
    float weights[STEPS][4], by_scores[STEPS][4];
    multiply_lines(weights, own_keys, FIRST_PANEL(step));
    JOIN_SHARES(weights);
#if FLASH_BY_KEY
    multiply_lines(by_scores, own_values, SECOND_PANEL(step));
    AWAIT_JOINED;
    JOIN_SHARES(by_scores);
#else
    CLEAR(by_scores, STEPS);
#endif
#define SHIFT(s, c) shift_of(rows[step & 1][0][(s) * 8 + 2 * t + (c) % 2])
#define DOT(s, c) rows[step & 1][1][(s) * 8 + 2 * t + (c) % 2]
    MAKE_WEIGHTS(weights, by_scores, STEP_QUERY, OWN, ALL_QUERIES_MET, true, SHIFT, DOT);
#if FLASH_BY_VALUE
    add_weighted_lines(value_results, weights, SECOND_PANEL(step));
#endif
#if FLASH_BY_KEY
    add_weighted_lines(key_results, by_scores, FIRST_PANEL(step));
#endif
  }
  bool are_finite = true;
#if FLASH_BY_VALUE
  are_finite &= store_scaled(by_value_buffer + by_value_start, value_results, 1, batch, first, e.keys, e.value_columns);
#endif
#if FLASH_BY_KEY
  are_finite &= store_scaled(by_key_buffer + by_key_start, key_results, scale, batch, first, e.keys, e.columns);
#endif
  MARK_UNLESS(are_finite, first, e.keys);
}

#endif
