// One reduction over any dimensions of a strided tensor. reduce.cpp writes before this file:
//   T, T_IS_FLOATING     the type elements are read in
//   INPUT_TYPE, LOAD_INPUT(at)   storage of the input
//   LOWEST, HIGHEST      of T
//   index_t              the type of indices
//   BLOCK_T, TOTAL_T     of the first and the second accumulator; TO_TOTAL(x) turns one into the other
//   FINISHED_T           what FINISH gives
//   IDENTITY             the neutral element
//   MAP                  an element: an expression of its value a, its index, the shift s of its output and p
//   COMBINE              two partial results x and z joined
//   FINISH               the result: an expression of the joined x, the number of elements n, s and p
//   LANES, COLUMN_VECTORS   of a vector, and vectors of outputs that one item joins by columns (cpu)
//   COLUMN_LANES         items of a line of a group (simt)
//   IS_INDEXED           whether TOTAL_T is indexed_t: an index is stored beside the value
//   DTYPE_float32, …     the numbers of dtypes
//
// Accuracy: each lane joins at most CHAIN elements into a first accumulator, and those blocks into a second, wider one
// (a double where the device has it), so that no chain of roundings grows with the size; lanes and splits are joined in
// a fixed order, so that a run repeats exactly.

#include "core/in_vectors.cl"

#define CHAIN 32  // elements of a first accumulator

#if !T_IS_FLOATING
static long load_integer(__global const uchar *p, const long at, const int dtype) {
  switch (dtype) {
    case DTYPE_int64: return LOAD_int64((__global const long *)p, at);
    case DTYPE_int32: return LOAD_int32((__global const int *)p, at);
    case DTYPE_int16: return LOAD_int16((__global const short *)p, at);
    case DTYPE_int8: return LOAD_int8((__global const char *)p, at);
    default: return LOAD_uint8(p, at);
  }
}
#define BIND_INPUT __global const uchar *input = input_buffer + input_start * input_bytes
#else
#define BIND_INPUT BIND(const INPUT_TYPE, input)
#endif

// real_t: what numbers beside tensors come in. wide_t: what sums of blocks are kept and results finished in.
#if HAS_FP64
typedef double real_t;
typedef double2 real2_t;
#define TO_REAL2(x) convert_double2(x)
#else
typedef float real_t;
typedef float2 real2_t;
#define TO_REAL2(x) convert_float2(x)
#endif
#if T_IS_FLOATING
typedef real_t wide_t;
#else
typedef long wide_t;
#endif

typedef struct {
  index_t kept_size[MAX_RANK], kept_stride[MAX_RANK];
  index_t reduced_size[MAX_RANK], reduced_stride[MAX_RANK];  // innermost dimension first
} layout_t;

// An extreme and where it stands. The first among equals counts; NaN beats every number.
typedef struct {
  T value;
  long index;
} indexed_t;

static indexed_t indexed(const T value, const long index) {
  indexed_t x;
  x.value = value;
  x.index = index;
  return x;
}

static indexed_t more_extreme(const indexed_t x, const indexed_t z, const int x_beats_z) {
  const int x_nan = ISNAN(x.value), z_nan = ISNAN(z.value);
  const int same = x_nan ? z_nan : x.value == z.value;
  const int x_wins = x_nan ? !z_nan : !z_nan && x_beats_z;
  return same ? (x.index < z.index ? x : z) : x_wins ? x : z;
}

// The variance from the sum of the differences to a mean that is off by its rounding, and the sum of their squares.
static real_t variance(const real2_t sums, const real_t n, const real_t correction) {
  const real_t squares = sums.y - sums.x * sums.x / n;
  return (squares < 0 ? 0 : squares) / fmax(n - correction, (real_t)0);
}

// The offset of row number `row` of a space, innermost dimension first: of what lies along that.
static index_t offset_of_row(index_t row, const index_t *size, const index_t *stride) {
  index_t offset = 0;
  for (int d = 1; d < MAX_RANK && row > 0; ++d) {
    const index_t next = row / size[d];
    offset += (row - next * size[d]) * stride[d];
    row = next;
  }
  return offset;
}

// And of element number `linear`.
static index_t offset_of(const index_t linear, const index_t *size, const index_t *stride) {
  if (linear == 0) return 0;
  const index_t row = linear / size[0];
  return (linear - row * size[0]) * stride[0] + offset_of_row(row, size, stride);
}

// Stores in a dtype that is known at run time only: once an output, so that programs need not be made for each.
#define STORE_AS(dtype, p, at, value)                                                        \
  switch (dtype) {                                                                           \
    case DTYPE_float32: STORE_float32((__global float *)(p), at, value); break;              \
    STORE_AS_FLOAT64(p, at, value)                                                           \
    case DTYPE_float16: STORE_float16((__global half *)(p), at, value); break;               \
    case DTYPE_bfloat16: STORE_bfloat16((__global ushort *)(p), at, value); break;           \
    case DTYPE_int64: STORE_int64((__global long *)(p), at, value); break;                   \
    case DTYPE_int32: STORE_int32((__global int *)(p), at, value); break;                    \
    case DTYPE_int16: STORE_int16((__global short *)(p), at, value); break;                  \
    case DTYPE_int8: STORE_int8((__global char *)(p), at, value); break;                     \
    case DTYPE_uint8: STORE_uint8((__global uchar *)(p), at, value); break;                  \
    case DTYPE_bool: STORE_bool((__global uchar *)(p), at, value); break;                    \
  }
#if HAS_FP64
#define STORE_AS_FLOAT64(p, at, value) \
  case DTYPE_float64: STORE_float64((__global double *)(p), at, value); break;
#else
#define STORE_AS_FLOAT64(p, at, value)
#endif

// The arguments of every kernel: the input; the result, of any dtype; of extremes where they stand; a row of totals for
// each split, where there are several; a number of type T for each output (shift) and one for all (p).
#define TENSOR_ARGS                                                                                            \
  BUFFER(const INPUT_TYPE, input), BUFFER(uchar, result), BUFFER(long, indices), BUFFER(long, partial),        \
      BUFFER(const T, shift), const int input_bytes, const int input_dtype, const int result_dtype, const real_t p,   \
      const index_t outputs, const index_t elements
#define LAYOUT_ARGS const index_t split_size, const layout_t layout

#define BIND_PARTIAL __global TOTAL_T *partial = (__global TOTAL_T *)(partial_buffer + partial_start)
#define LAYOUT_COPY \
  index_t kept_size[MAX_RANK], kept_stride[MAX_RANK], reduced_size[MAX_RANK], reduced_stride[MAX_RANK]; \
  for (int d = 0; d < MAX_RANK; ++d) { \
    kept_size[d] = layout.kept_size[d]; kept_stride[d] = layout.kept_stride[d]; \
    reduced_size[d] = layout.reduced_size[d]; reduced_stride[d] = layout.reduced_stride[d]; \
  }
// The split of a work item or group: elements first to last.
#define SPLIT_BIND                                                               \
  const index_t first = (index_t)get_group_id(1) * split_size;                   \
  const index_t last = min((index_t)(get_group_id(1) + 1) * split_size, elements);

#define SHIFT_OF(output) (shift_buffer ? finite_or_zero(shift_buffer[shift_start + (output)]) : (T)0)
static T finite_or_zero(const T s) { return ISFINITE(s) ? s : (T)0; }

#define FINISH_OUTPUT(output, total)                                          \
  if (partial_buffer) {                                                       \
    partial[(index_t)get_group_id(1) * outputs + (output)] = total;           \
  } else {                                                                    \
    STORE_ROW(output, total)                                                  \
  }

static BLOCK_T map_element(const T a, const long index, const T s, const real_t p) { return MAP; }
static BLOCK_T join_blocks(const BLOCK_T x, const BLOCK_T z) { return COMBINE; }
static TOTAL_T join_totals(const TOTAL_T x, const TOTAL_T z) { return COMBINE; }
static FINISHED_T finish(const TOTAL_T x, const wide_t n, const wide_t s, const real_t p) { return FINISH; }

#define ELEMENT(at, index, s) map_element((T)LOAD_INPUT(at), index, s, p)
#define END_BLOCK(total, block) total = join_totals(total, TO_TOTAL(block)), block = IDENTITY
#define JOIN_LANES(totals)                                              \
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2)     \
    for (int l = 0; l < half_lanes; ++l) totals[l] = join_totals(totals[l], totals[l + half_lanes]);

#if IS_INDEXED
#define STORE_ROW(output, total)                                                                            \
  if (result_buffer) STORE_AS(result_dtype, result_buffer, result_start + (output), (total).value)          \
  indices_buffer[indices_start + (output)] = (total).index;
#else
#define STORE_ROW(output, total)                                                                            \
  STORE_AS(result_dtype, result_buffer, result_start + (output),                                            \
           finish(total, (wide_t)elements, (wide_t)SHIFT_OF(output), p))
#endif

#if SHAPE_CPU

#if IS_INDEXED
// Takes `count` elements, from number `element` on, into an extreme. First their own extreme without its place, in
// vectors. Few of them have a new one, whose place is then looked for.
#define FIND_EXTREME(total, start, stride, element, count)                                                 \
  {                                                                                                        \
    T lanes[LANES];                                                                                        \
    for (int l = 0; l < LANES; ++l) lanes[l] = (T)LOAD_INPUT(start);                                       \
    index_t i = 0;                                                                                         \
    for (; i + LANES <= count; i += LANES)                                                                 \
      IN_VECTORS(LANES) for (int l = 0; l < LANES; ++l)                                                    \
        lanes[l] = FURTHER(lanes[l], (T)LOAD_INPUT(start + (i + l) * (stride)));                           \
    for (; i < count; ++i) lanes[0] = FURTHER(lanes[0], (T)LOAD_INPUT(start + i * (stride)));              \
    for (int l = 1; l < LANES; ++l) lanes[0] = FURTHER(lanes[0], lanes[l]);                                \
    const int is_nan = ISNAN(lanes[0]);                                                                    \
    if (more_extreme(total, indexed(lanes[0], LONG_MAX), total.value BEATS lanes[0]).index == LONG_MAX) {  \
      index_t at = 0;                                                                                      \
      while (is_nan ? !ISNAN((T)LOAD_INPUT(start + at * (stride)))                                         \
                    : (T)LOAD_INPUT(start + at * (stride)) != lanes[0])                                    \
        ++at;                                                                                              \
      total = indexed((T)LOAD_INPUT(start + at * (stride)), (long)(element) + at);                         \
    }                                                                                                      \
  }
#endif

// One work item joins one split of its share of the outputs, one after another: a work group costs PoCL as much time as
// 64 elements do. Lanes run along the innermost reduced dimension.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_rows(TENSOR_ARGS, LAYOUT_ARGS) {
  BIND_INPUT;
  BIND_PARTIAL;
  LAYOUT_COPY
  SPLIT_BIND
  const index_t share = (outputs + get_global_size(0) - 1) / get_global_size(0), mine = get_global_id(0) * share;
  for (index_t output = mine; output < min(outputs, mine + share); ++output) {
    const index_t base = offset_of(output, kept_size, kept_stride);
#if IS_INDEXED
    indexed_t total = IDENTITY;
    for (index_t element = first; element < last;) {
      const index_t column = element % reduced_size[0];
      const index_t count = min(min(reduced_size[0] - column, last - element), (index_t)(CHAIN * LANES));
      const index_t start = base + offset_of(element, reduced_size, reduced_stride);
      if (reduced_stride[0] == 1)
        FIND_EXTREME(total, start, 1, element, count)
      else
        FIND_EXTREME(total, start, reduced_stride[0], element, count)
      element += count;
    }
    FINISH_OUTPUT(output, total)
#else
    const T s = SHIFT_OF(output);
    BLOCK_T block[LANES];
    TOTAL_T total[LANES];
    for (int l = 0; l < LANES; ++l) block[l] = IDENTITY, total[l] = TO_TOTAL(block[l]);
    int in_block = 0;
    for (index_t element = first; element < last;) {
      const index_t column = element % reduced_size[0];
      const index_t count = min(reduced_size[0] - column, last - element);
      const index_t row = base + offset_of(element, reduced_size, reduced_stride);
      index_t i = 0;
      while (i + LANES <= count) {
        const index_t stop = min(count - count % LANES, i + (CHAIN - in_block) * LANES);
        const index_t from = i;
        if (reduced_stride[0] == 1) {
          for (; i < stop; i += LANES)
            IN_VECTORS(LANES) for (int l = 0; l < LANES; ++l)
              block[l] = join_blocks(block[l], ELEMENT(row + i + l, (long)element + i + l, s));
        } else {
          for (; i < stop; i += LANES)
            for (int l = 0; l < LANES; ++l)
              block[l] = join_blocks(block[l], ELEMENT(row + (i + l) * reduced_stride[0], (long)element + i + l, s));
        }
        in_block += (i - from) / LANES;
        if (in_block >= CHAIN) {
          for (int l = 0; l < LANES; ++l) END_BLOCK(total[l], block[l]);
          in_block = 0;
        }
      }
      for (int l = 0; i < count; ++i, ++l)
        block[l] = join_blocks(block[l], ELEMENT(row + i * reduced_stride[0], (long)element + i, s));
      if (++in_block >= CHAIN) {
        for (int l = 0; l < LANES; ++l) END_BLOCK(total[l], block[l]);
        in_block = 0;
      }
      element += count;
    }
    for (int l = 0; l < LANES; ++l) END_BLOCK(total[l], block[l]);
    JOIN_LANES(total)
    FINISH_OUTPUT(output, total[0])
#endif
  }
}

// One work item joins one split of up to COLUMN_VECTORS times LANES neighbouring outputs, block of rows by block of
// rows. One cache line of each row at a time (a narrower item) made 700 x 10000 four times as slow. Outputs of few
// elements each, which lie apart, are joined here too: an item of its own takes 80 ns for each of them.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_columns(TENSOR_ARGS, LAYOUT_ARGS) {
  BIND_INPUT;
  BIND_PARTIAL;
  LAYOUT_COPY
  SPLIT_BIND
  const index_t first_output = get_global_id(0) * (COLUMN_VECTORS * LANES);
  const int width = min((index_t)(COLUMN_VECTORS * LANES), outputs - first_output);
  TOTAL_T total[COLUMN_VECTORS][LANES];
  for (int v = 0; v < COLUMN_VECTORS; ++v)
    for (int l = 0; l < LANES; ++l) {
      const BLOCK_T none = IDENTITY;
      total[v][l] = TO_TOTAL(none);
    }
  for (index_t start = first; start < last; start += CHAIN) {
    const int rows = min((index_t)CHAIN, last - start);
    index_t row[CHAIN];
    for (int r = 0; r < rows; ++r) row[r] = offset_of(start + r, reduced_size, reduced_stride);
    for (int v = 0; v * LANES < width; ++v) {
      const index_t output = first_output + v * LANES;
      const int lanes = min(LANES, width - v * LANES);
      BLOCK_T block[LANES];
      T s[LANES];
      for (int l = 0; l < LANES; ++l) block[l] = IDENTITY, s[l] = l < lanes ? SHIFT_OF(output + l) : (T)0;
      const int is_one_run = output % kept_size[0] + LANES <= kept_size[0];
      if (is_one_run && kept_stride[0] == 1) {
        const index_t base = offset_of(output, kept_size, kept_stride);
        for (int r = 0; r < rows; ++r) {
          const index_t at = row[r] + base;
          IN_VECTORS(LANES) for (int l = 0; l < LANES; ++l)
            block[l] = join_blocks(block[l], ELEMENT(at + l, (long)start + r, s[l]));
        }
      } else if (is_one_run) {
        const index_t base = offset_of(output, kept_size, kept_stride), step = kept_stride[0];
        for (int r = 0; r < rows; ++r) {
          const index_t at = row[r] + base;
          IN_VECTORS(LANES) for (int l = 0; l < LANES; ++l)
            block[l] = join_blocks(block[l], ELEMENT(at + l * step, (long)start + r, s[l]));
        }
      } else {
        for (int l = 0; l < lanes; ++l) {
          const index_t base = offset_of(output + l, kept_size, kept_stride);
          for (int r = 0; r < rows; ++r)
            block[l] = join_blocks(block[l], ELEMENT(row[r] + base, (long)start + r, s[l]));
        }
      }
      for (int l = 0; l < LANES; ++l) END_BLOCK(total[v][l], block[l]);
    }
  }
  for (int v = 0; v < COLUMN_VECTORS; ++v)
    for (int l = 0; l < LANES && v * LANES + l < width; ++l) {
      FINISH_OUTPUT(first_output + v * LANES + l, total[v][l])
    }
}

// Joins the splits of every output.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void join_splits(TENSOR_ARGS, const index_t splits) {
  BIND_PARTIAL;
  const index_t output = get_global_id(0);
  TOTAL_T total[LANES];
  for (int l = 0; l < LANES; ++l) {
    const BLOCK_T none = IDENTITY;
    total[l] = TO_TOTAL(none);
    for (index_t split = l; split < splits; split += LANES)
      total[l] = join_totals(total[l], partial[split * outputs + output]);
  }
  JOIN_LANES(total)
  STORE_ROW(output, total[0])
}

#else

#define SOME 4  // elements that an item reads before it joins any

// One work item's share of a split, elements from `start` to `end`, every `step`-th, VECTOR of which READ_INPUT(to, at)
// reads: element INDEX_OF(element, v) of output OUTPUT_OF(output, v). It goes along the innermost reduced dimension and
// looks for the next row only at its end: divisions took most of the time.
#define JOIN_SHARE(totals, output, start, end, step)                                                          \
  T s[VECTOR];                                                                                                \
  BLOCK_T block[VECTOR];                                                                                      \
  TOTAL_T totals[VECTOR];                                                                                     \
  _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) {                                                        \
    s[v] = SHIFT_OF(OUTPUT_OF(output, v));                                                                    \
    block[v] = IDENTITY;                                                                                      \
    totals[v] = TO_TOTAL(block[v]);                                                                           \
  }                                                                                                           \
  const index_t base = offset_of(output, kept_size, kept_stride), columns = max(reduced_size[0], (index_t)1); \
  int in_block = 0;                                                                                           \
  index_t row = (start) / columns, column = (start) - row * columns;                                          \
  index_t row_start = base + offset_of_row(row, reduced_size, reduced_stride);                                \
  const index_t rows_on = (step) / columns, columns_on = (step) - rows_on * columns;                          \
  for (index_t element = start; element < (end);) {                                                           \
    BLOCK_T some[SOME][VECTOR];                                                                               \
    int count = 0;                                                                                            \
    _Pragma("unroll") for (int k = 0; k < SOME; ++k)                                                          \
      if (element < (end)) {                                                                                  \
        T values[VECTOR];                                                                                     \
        READ_INPUT(values, row_start + column * reduced_stride[0]);                                           \
        _Pragma("unroll") for (int v = 0; v < VECTOR; ++v)                                                    \
          some[k][v] = map_element(values[v], INDEX_OF(element, v), s[v], p);                                 \
        ++count;                                                                                              \
        element += step;                                                                                      \
        column += columns_on;                                                                                 \
        const int wraps = column >= columns;                                                                  \
        if (wraps) column -= columns;                                                                         \
        if (wraps + rows_on > 0) {                                                                            \
          row += wraps + rows_on;                                                                             \
          row_start = base + offset_of_row(row, reduced_size, reduced_stride);                                \
        }                                                                                                     \
      }                                                                                                       \
    _Pragma("unroll") for (int k = 0; k < SOME; ++k)                                                          \
      if (k < count)                                                                                          \
        _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) block[v] = join_blocks(block[v], some[k][v]);      \
    in_block += SOME;                                                                                         \
    if (in_block == CHAIN) {                                                                                  \
      _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) END_BLOCK(totals[v], block[v]);                      \
      in_block = 0;                                                                                           \
    }                                                                                                         \
  }                                                                                                           \
  _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) END_BLOCK(totals[v], block[v]);
#define READ_ONE(to, at) to[0] = (T)LOAD_INPUT(at)

// Leaves what all lines of a group joined in the items of the first. Items stand in `lines` lines of `lanes`; a power
// of two.
#define JOIN_LINES(totals, vectors, lines, lanes)                                                                    \
  for (int half_lines = (lines) / 2; half_lines > 0; half_lines /= 2) {                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                    \
    if (item < half_lines * (lanes))                                                                                 \
      _Pragma("unroll") for (int v = 0; v < vectors; ++v) totals[v * MAX_GROUP + item] =                             \
          join_totals(totals[v * MAX_GROUP + item], totals[v * MAX_GROUP + item + half_lines * (lanes)]);            \
  }

// Joins the splits of every output: an item of each line takes some.
__kernel void join_splits(TENSOR_ARGS, const index_t splits) {
  __local TOTAL_T totals[MAX_GROUP];
  BIND_PARTIAL;
  const int item = get_local_id(0), line = item / COLUMN_LANES, lines = get_local_size(0) / COLUMN_LANES;
  const index_t output = (index_t)get_group_id(0) * COLUMN_LANES + item % COLUMN_LANES;
  const BLOCK_T none = IDENTITY;
  TOTAL_T total = TO_TOTAL(none);
  if (output < outputs)
    for (index_t split = line; split < splits; split += lines)
      total = join_totals(total, partial[split * outputs + output]);
  totals[item] = total;
  JOIN_LINES(totals, 1, lines, COLUMN_LANES)
  if (line == 0 && output < outputs) {
    STORE_ROW(output, totals[item])
  }
}
#endif
