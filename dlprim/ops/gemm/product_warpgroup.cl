// The engine of products on Hopper's tensor cores (wgmma, compute capability 9.0): a warp group of 128 items makes
// WARP_COLUMNS columns by all TILE_ROWS rows, 64 columns at a time. The right operand's fragments are in registers,
// where it is rounded; the left one's panels are read from local memory by the tensor cores themselves, and hold what
// is rounded already. So are the right one's where they are, too (BOTH_ARE_ROUNDED). TF32_PRODUCTS as in
// product_tensor.cl. With two NUMBERS_IN_WORD, 16-bit numbers of the depth, all is as with words of one: an instruction
// takes eight words of the depth either way.
//
// The instructions are beyond what the driver compiles OpenCL C for: lines that begin with //@90a are made part of the
// program in its binary (runtime/program_patch.h).

#define LEFT_PARTS (TF32_PRODUCTS == 3 ? 2 : 1)  // TF32 numbers of an element, each with a panel of its own
#define PARTS_APART (TILE_ROWS * TILE_DEPTH)
#define BLOCKS (WARP_COLUMNS / 64)
#define SUMS (TILE_ROWS / 2)  // results of an item in a block
#define EIGHTHS (TILE_DEPTH / 8)

// A panel that lies along the depth has lines of TILE_DEPTH numbers, in which vectors of four are swapped as wgmma
// takes them: what is brought, and what is read, meets on no bank twice. A copy whose vectors go to different 128 bytes
// of local memory takes as long as that many copies (measured: 65 TFLOP/s where this gives 300).
#define VECTORS (TILE_DEPTH / 4)
#define SWAPPED(line, vector) ((vector) ^ (line) / (32 / TILE_DEPTH) % VECTORS)
#define ALONG_DEPTH(line, k) ((line) * TILE_DEPTH + SWAPPED(line, (k) / 4) * 4 + (k) % 4)
#define PANEL_ALIGNMENT 1024
#define LEFT_PLACE(row, k) ALONG_DEPTH(row, k)
#define LEFT_SIZE (LEFT_PARTS * TILE_ROWS * TILE_DEPTH)
// A fragment is read by items that stand at 4 k of 8 columns: those lie on different banks either way.
#define RIGHT_PLACE(column, k) (RIGHT_BY_DEPTH ? ALONG_DEPTH(column, k) : (k) * TILE_COLUMNS + ((column) ^ (k) % 4 * 8))
#define RIGHT_SIZE (TILE_COLUMNS * TILE_DEPTH)
// Numbers that items place at once: in a vector where they have four k of a row.
#define PLACED_WIDTH (LEFT_IN_ROWS ? 4 : LEFT_WIDTH)

// Thirty-two rows leave at once: each pair of barriers costs a third of a step.
#define RESULT_MEMORY right_panels
#define RESULT_ROWS (TILE_ROWS / 32)
#define RESULT_LINES 32
#define RESULT_PITCH (TILE_COLUMNS + 4)
#define ROW_OF_LINE(i, line) (32 * (i) + (line))
#define WRITE_LINE(lines, i)                                                                                 \
  UNROLL for (int b = 0; b < BLOCKS; ++b)                                                                    \
    UNROLL for (int e = 0; e < 16; ++e)                                                                      \
      (lines)[(e / 4 * 8 + lane % 4 * 2 + e % 2) * RESULT_PITCH + warp_column + b * 64 + lane / 4 + e % 4 / 2 * 8] = \
          result[b][16 * (i) + e]

#define ENGINE_MEMORY

// ---- the instructions

#define OPERANDS_8(r, o)                                                                                     \
  "+f"((r)[(o)]), "+f"((r)[(o) + 1]), "+f"((r)[(o) + 2]), "+f"((r)[(o) + 3]), "+f"((r)[(o) + 4]), "+f"((r)[(o) + 5]), \
      "+f"((r)[(o) + 6]), "+f"((r)[(o) + 7])
#define OPERANDS_32(r, o) OPERANDS_8(r, o), OPERANDS_8(r, (o) + 8), OPERANDS_8(r, (o) + 16), OPERANDS_8(r, (o) + 24)
#define REGISTERS_32                                                                                     \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
  "%30,%31"
#if NUMBERS_IN_WORD == 2
#define OF_NUMBERS "k16.f32." STRING(NUMBERS) "." STRING(NUMBERS)
#define LIE_ACROSS ", " STRING(RIGHT_ACROSS) ", " STRING(LEFT_ACROSS)
#else
#define OF_NUMBERS "k8.f32.tf32.tf32"
#define LIE_ACROSS
#endif
#if TILE_ROWS == 64
#define WGMMA "wgmma.mma_async.sync.aligned.m64n64" OF_NUMBERS " {" REGISTERS_32 "}, "
#define ALL_SUMS(r) OPERANDS_32(r, 0)
#define OF_FRAGMENT "{%32,%33,%34,%35}, %36, p, 1, 1;"
#define OF_FRAGMENT_SCALE "%37"
#define OF_PANELS "%32, %33, p, 1, 1" LIE_ACROSS ";"
#define OF_PANELS_SCALE "%34"
#else
#define WGMMA                                                                                                     \
  "wgmma.mma_async.sync.aligned.m64n128" OF_NUMBERS " {" REGISTERS_32                                           \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58," \
  "%59,%60,%61,%62,%63}, "
#define ALL_SUMS(r) OPERANDS_32(r, 0), OPERANDS_32(r, 32)
#define OF_FRAGMENT "{%64,%65,%66,%67}, %68, p, 1, 1;"
#define OF_FRAGMENT_SCALE "%69"
#define OF_PANELS "%64, %65, p, 1, 1" LIE_ACROSS ";"
#define OF_PANELS_SCALE "%66"
#endif

// sums = fragment * what `panel` describes, + sums unless it is the first.
inline void begin_product(float *sums, const uint *fragment, const ulong panel, const int first) {
  asm volatile("//@90a { .reg .pred p; setp.eq.b32 p, " OF_FRAGMENT_SCALE ", 0; " WGMMA OF_FRAGMENT " }"
               : ALL_SUMS(sums)
               : "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3]), "l"(panel), "r"(first)
               : "memory");
}
// The product with the panel that `columns` describes in place of the fragment.
inline void begin_product_of_panels(float *sums, const ulong columns, const ulong panel, const int first) {
  asm volatile("//@90a { .reg .pred p; setp.eq.b32 p, " OF_PANELS_SCALE ", 0; " WGMMA OF_PANELS " }"
               : ALL_SUMS(sums)
               : "l"(columns), "l"(panel), "r"(first)
               : "memory");
}
inline void open_products(void) { asm volatile("//@90a wgmma.fence.sync.aligned;" : : : "memory"); }
inline void close_products(void) { asm volatile("//@90a wgmma.commit_group.sync.aligned;" : : : "memory"); }
// The wait names the sums, so that nothing is done with them before.
inline void await_products(float (*sums)[SUMS]) {
  UNROLL for (int b = 0; b < BLOCKS; ++b)
    asm volatile("//@90a wgmma.wait_group.sync.aligned 0;" : ALL_SUMS(sums[b]) : : "memory");
}
// The products that were closed before the last ones.
inline void await_products_before(void) { asm volatile("//@90a wgmma.wait_group.sync.aligned 1;" : : : "memory"); }
// Items' writes to local memory become visible to the tensor cores' own reads.
inline void show_panels(void) { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }

// A panel, as wgmma takes it: address and distance of eight lines, or of eight of the depth, in 16 bytes, and how
// vectors are swapped, among 128 bytes (1) or 64 (2). One that lies across the depth is blocks of 64 lines side by
// side, which have a distance.
#define BLOCK_ELEMENTS (64 * TILE_DEPTH)
#define NEXT_BLOCK (BLOCK_ELEMENTS * 4 / 16)
#define NEXT_EIGHTH(across) ((across) ? 16 * 128 / 16 : 2)  // of the depth
inline ulong describe(__local const float *panel, const int across) {
  const uint address = (uint)(size_t)panel;
  return (ulong)((address & 0x3ffff) >> 4) | (ulong)(across ? NEXT_BLOCK : 1) << 16 | (ulong)(2 * TILE_DEPTH) << 32 |
         (ulong)(TILE_DEPTH == 32 ? 1 : 2) << 62;
}

// The b-th block's fragment of an eighth.
inline void load_fragment(uint *to, __local const float *right, const int lane, const int warp_column, const int eighth,
                          const int b) {
  UNROLL for (int e = 0; e < 4; ++e)
    to[e] = as_uint(right[RIGHT_PLACE(warp_column + 64 * b + lane / 4 + e % 2 * 8, 8 * eighth + lane % 4 + e / 2 * 4)]);
}

inline void clear(float (*sums)[SUMS]) {
  UNROLL for (int b = 0; b < BLOCKS; ++b)
    UNROLL for (int e = 0; e < SUMS; ++e) sums[b][e] = 0;
}

// Registers are given out so that TILE_RESIDENT groups of items fit a unit.
#define PLACE_OF_LANE                                                  \
  asm volatile("//@entry .minnctapersm " STRING(TILE_RESIDENT));       \
  const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32; \
  const int warp_column = warp / 4 * WARP_COLUMNS + warp % 4 * 16

#if TF32_PRODUCTS == 1

#define RESULTS                 \
  PLACE_OF_LANE;                \
  float result[BLOCKS][SUMS];   \
  clear(result)

inline void find_parts(const float value, float *parts) { parts[0] = word_of(&value); }

#define SHOW_PANELS(step) \
  show_panels();          \
  barrier(CLK_LOCAL_MEM_FENCE)

inline void begin_step(__local const float *left, __local const float *right, const int lane, const int warp_column,
                       float (*sums)[SUMS]) {
#if BOTH_ARE_ROUNDED
  const ulong panel = describe(left, LEFT_ACROSS),
              columns = describe(right + warp_column / 64 * BLOCK_ELEMENTS, RIGHT_ACROSS);
  open_products();
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b)
      begin_product_of_panels(sums[b], columns + b * NEXT_BLOCK + k * NEXT_EIGHTH(RIGHT_ACROSS),
                              panel + k * NEXT_EIGHTH(LEFT_ACROSS), 0);
  close_products();
#else
  uint fragments[EIGHTHS][BLOCKS][4];
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b) {
      load_fragment(fragments[k][b], right, lane, warp_column, k, b);
      round_to_tf32(fragments[k][b], 4);
    }
  const ulong panel = describe(left, 0);
  open_products();
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b) begin_product(sums[b], fragments[k][b], panel + k * NEXT_EIGHTH(0), 0);
  close_products();
#endif
}
#define BEGIN_MULTIPLY(left, right) begin_step(left, right, lane, warp_column, result)
#define END_MULTIPLY await_products(result)

#else

// Tensor cores truncate where they add, so that sums leave them after each step; and what is small is added first,
// where it costs next to nothing: each truncation of a whole sum takes half of its last bit, from all results alike.
#define RESULTS                                      \
  PLACE_OF_LANE;                                     \
  float result[BLOCKS][SUMS], step_sums[BLOCKS][SUMS]; \
  int is_plain = 0;                                  \
  clear(result);                                     \
  clear(step_sums)

// A number that rounds to an infinity has no small part that gives its products (inf * 0, inf - inf): a step that has
// one, or a NaN, is summed plainly.
inline bool is_infinite(const float value) { return !(fabs(value) < as_float(0x7f7ff000u)); }

// To the nearest TF32 number, and what that leaves; its last bit, which TF32 may lack, is worth 2^-24 of the value.
inline void split(uint *big, uint *small) {
  const float value = as_float(*big);
  *big = (*big + 0x1000u) & 0xffffe000u;
  *small = as_uint(value - as_float(*big));
}

inline void find_parts(const float value, float *parts) {
  uint big = as_uint(value), small = 0;
  if (!is_infinite(value)) split(&big, &small);
  parts[0] = as_float(big);
  parts[1] = as_float(small);
}

inline int any_of_group(const int mine) {
  int any;
  asm volatile("{ .reg .pred p, q; setp.ne.b32 q, %1, 0; bar.red.or.pred p, 0, q; selp.b32 %0, 1, 0, p; }"
               : "=r"(any)
               : "r"(mine)
               : "memory");
  return any;
}

// Each item looks at what it brought itself.
inline int brought_infinite(__local const float *left, __local const float *right) {
  int any = 0;
  const int width = LEFT_BY_VECTORS ? 4 : PLACED_WIDTH, of_piece = LEFT_BY_VECTORS ? 4 : LEFT_WIDTH;
  UNROLL for (int i = 0; i < LEFT_COUNT; i += width)
    UNROLL for (int e = 0; e < width; ++e) any |= is_infinite(left[left_place(i / of_piece) + e]);
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i)
    UNROLL for (int e = 0; e < RIGHT_WIDTH; ++e) any |= is_infinite(right[right_place(i) + e]);
  return any;
}
#define SHOW_PANELS(step)                                                                                    \
  show_panels();                                                                                             \
  is_plain = any_of_group(brought_infinite(LEFT_OF_STEP(step), RIGHT_OF_STEP(step)))

inline void begin_step(__local const float *left, __local const float *right, const int lane, const int warp_column,
                       float (*sums)[SUMS]) {
  uint big[EIGHTHS][BLOCKS][4], small[EIGHTHS][BLOCKS][4];
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b) {
      load_fragment(big[k][b], right, lane, warp_column, k, b);
      UNROLL for (int e = 0; e < 4; ++e) split(&big[k][b][e], &small[k][b][e]);
    }
  const ulong big_panel = describe(left, 0), small_panel = describe(left + PARTS_APART, 0);
  open_products();
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b) {
      begin_product(sums[b], small[k][b], big_panel + k * NEXT_EIGHTH(0), k == 0);
      begin_product(sums[b], big[k][b], small_panel + k * NEXT_EIGHTH(0), 0);
    }
  UNROLL for (int k = 0; k < EIGHTHS; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b) begin_product(sums[b], big[k][b], big_panel + k * NEXT_EIGHTH(0), 0);
  close_products();
}

inline void multiply_plainly(__local const float *left, __local const float *right, const int lane,
                             const int warp_column, float (*sums)[SUMS]) {
  _Pragma("unroll 1") for (int k = 0; k < TILE_DEPTH; ++k)
    UNROLL for (int b = 0; b < BLOCKS; ++b)
      UNROLL for (int e = 0; e < SUMS; ++e) {
        const int row = LEFT_PLACE(e / 4 * 8 + lane % 4 * 2 + e % 2, k);
        const int column = RIGHT_PLACE(warp_column + 64 * b + lane / 4 + e % 4 / 2 * 8, k);
        sums[b][e] += (left[row] + left[row + PARTS_APART]) * right[column];
      }
}

// The products are begun in any case: in a branch they would wait for each other.
#define BEGIN_MULTIPLY(left, right) begin_step(left, right, lane, warp_column, step_sums)
#define END_MULTIPLY                                                                                                   \
  await_products(step_sums);                                                                                           \
  if (is_plain)                                                                                                        \
    multiply_plainly(LEFT_OF_STEP(step), RIGHT_OF_STEP(step), lane, warp_column, result);                              \
  else                                                                                                                 \
    UNROLL for (int b = 0; b < BLOCKS; ++b)                                                                            \
      UNROLL for (int e = 0; e < SUMS; ++e) result[b][e] += step_sums[b][e]

#endif

// Puts a piece's numbers, which follow each other along the depth, into a panel in local memory,
inline void place_parts(__local float *to, const float *values) {
  float piece[LEFT_PARTS][PLACED_WIDTH];
  UNROLL for (int e = 0; e < PLACED_WIDTH; ++e) {
    float parts[LEFT_PARTS];
    find_parts(values[e], parts);
    UNROLL for (int p = 0; p < LEFT_PARTS; ++p) piece[p][e] = parts[p];
  }
  UNROLL for (int p = 0; p < LEFT_PARTS; ++p) place_piece(to + p * PARTS_APART, piece[p], PLACED_WIDTH, 1);
}

// or a word's numbers into a packed one,
inline void find_packed(const float *numbers, float *parts) {
#if TF32_PRODUCTS == 1
  parts[0] = word_of(numbers);
#else
  find_parts(*numbers, parts);
#endif
}
inline void place_packed(__global float *panel, const int place, const float *numbers) {
  float parts[LEFT_PARTS];
  find_packed(numbers, parts);
  UNROLL for (int p = 0; p < LEFT_PARTS; ++p) panel[place + p * PARTS_APART] = parts[p];
}
// or those of four words that lie side by side.
inline void place_packed_words(__global float *panel, const int place, float (*words)[NUMBERS_IN_WORD]) {
  float parts[4][LEFT_PARTS];
  UNROLL for (int w = 0; w < 4; ++w) find_packed(words[w], parts[w]);
  UNROLL for (int p = 0; p < LEFT_PARTS; ++p) * (__global float4 *)(panel + place + p * PARTS_APART) =
      (float4)(parts[0][p], parts[1][p], parts[2][p], parts[3][p]);
}
