// Reductions over any dimensions of a strided tensor. reduce.cpp writes before this file:
//   T, index_t           what is joined, and the type of indices
//   INPUT_TYPE, LOAD_INPUT, OUTPUT_TYPE, STORE_OUTPUT   storage of input and output
//   IDENTITY             the neutral element
//   plain:      MAP(a), COMBINE(x, z), FINISH(x, n), element_t (the type MAP reads)
//   WITH_INDEX: BEATS(x, z), whether x is more extreme than z
//
// Accuracy: each lane joins at most BLOCK elements into a first accumulator, and those blocks into a second one, a double
// where the device has it, so that no chain of roundings grows with the size; lanes and splits are joined in a fixed order,
// so that a run repeats exactly.

#define RANK 8
#define BLOCK 32
#define LANES 16

typedef struct {
  index_t kept_size[RANK], kept_stride[RANK];
  index_t reduced_size[RANK], reduced_stride[RANK];  // innermost dimension first
} layout_t;

#if WITH_INDEX
typedef struct {
  T value;
  long index;
} acc_t;
static acc_t acc_identity(void) {
  acc_t acc;
  acc.value = IDENTITY;
  acc.index = LONG_MAX;
  return acc;
}
static acc_t acc_of(T value, long index) {
  acc_t acc;
  acc.value = value;
  acc.index = index;
  return acc;
}
// Of equal ones the first counts; NaN beats every number.
static acc_t acc_join(acc_t x, acc_t z) {
  const int x_nan = ISNAN(x.value), z_nan = ISNAN(z.value);
  const int same = x_nan ? z_nan : x.value == z.value;
  const int x_wins = x_nan ? !z_nan : !z_nan && BEATS(x.value, z.value);
  return same ? (x.index < z.index ? x : z) : x_wins ? x : z;
}
typedef acc_t total_t;
#define total_join(x, z) acc_join(x, z)
#define RESULT_OF(total) (total)
#define ELEMENT(p, at, index) acc_of((T)LOAD_INPUT(p, at), index)
#define RESULT_ARGS BUFFER(OUTPUT_TYPE, values), BUFFER(long, indices)
#define RESULT_BIND BIND(OUTPUT_TYPE, values); BIND(long, indices)
#define PARTIAL_ARGS BUFFER(T, partial_values), BUFFER(long, partial_indices)
#define PARTIAL_BIND BIND(T, partial_values); BIND(long, partial_indices)
#define STORE_RESULT(at, acc, n) \
  { if (values_buffer) STORE_OUTPUT(values, at, (acc).value); indices[at] = (acc).index; }
#define STORE_PARTIAL(at, acc) \
  { partial_values[at] = (acc).value; partial_indices[at] = (acc).index; }
#define LOAD_PARTIAL(at) acc_of(partial_values[at], partial_indices[at])
#define IS_WHOLE (!partial_values_buffer)
#else
typedef T acc_t;
#define acc_identity() IDENTITY
#define acc_join(x, z) COMBINE(x, z)
#if T_IS_FLOATING && HAS_FP64
typedef double total_t;
#else
typedef T total_t;
#endif
static total_t total_join(total_t x, total_t z) { return COMBINE(x, z); }
#define RESULT_OF(total) ((T)(total))
static T map_element(element_t a) { return MAP(a); }
#define ELEMENT(p, at, index) map_element((element_t)LOAD_INPUT(p, at))
#define RESULT_ARGS BUFFER(OUTPUT_TYPE, result)
#define RESULT_BIND BIND(OUTPUT_TYPE, result)
#define PARTIAL_ARGS BUFFER(T, partial)
#define PARTIAL_BIND BIND(T, partial)
static T finish(T x, T n) { return FINISH(x, n); }
#define STORE_RESULT(at, acc, n) { STORE_OUTPUT(result, at, finish(acc, (T)(n))); }
#define STORE_PARTIAL(at, acc) { partial[at] = acc; }
#define LOAD_PARTIAL(at) partial[at]
#define IS_WHOLE (!partial_buffer)
#endif

// The offset of element number `linear` of a space, innermost dimension first.
static index_t offset_of(index_t linear, const index_t *size, const index_t *stride) {
  index_t offset = 0;
  for (int d = 0; d < RANK && linear > 0; ++d) {
    const index_t next = linear / size[d];
    offset += (linear - next * size[d]) * stride[d];
    linear = next;
  }
  return offset;
}

#define LAYOUT_COPY \
  index_t kept_size[RANK], kept_stride[RANK], reduced_size[RANK], reduced_stride[RANK]; \
  for (int d = 0; d < RANK; ++d) { \
    kept_size[d] = layout.kept_size[d]; kept_stride[d] = layout.kept_stride[d]; \
    reduced_size[d] = layout.reduced_size[d]; reduced_stride[d] = layout.reduced_stride[d]; \
  }

#define FINISH_OUTPUT(output, acc) \
  if (IS_WHOLE) STORE_RESULT(output, acc, elements) \
  else STORE_PARTIAL((index_t)get_group_id(1) * outputs + (output), acc)

#if SHAPE_CPU

// One work item joins one split of one output; lanes run along the innermost reduced dimension.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_rows(
    BUFFER(const INPUT_TYPE, input), RESULT_ARGS, PARTIAL_ARGS, const index_t outputs, const index_t elements,
    const index_t split_size, const layout_t layout) {
  BIND(const INPUT_TYPE, input);
  RESULT_BIND;
  PARTIAL_BIND;
  LAYOUT_COPY
  const index_t output = get_global_id(0);
  const index_t last = min((index_t)(get_global_id(1) + 1) * split_size, elements);
  const index_t base = offset_of(output, kept_size, kept_stride);
  acc_t block[LANES];
  total_t total[LANES];
  for (int l = 0; l < LANES; ++l) total[l] = block[l] = acc_identity();
  int in_block = 0;
  for (index_t element = get_global_id(1) * split_size; element < last;) {
    const index_t column = element % reduced_size[0];
    const index_t count = min(reduced_size[0] - column, last - element);
    __global const INPUT_TYPE *row = input + base + offset_of(element, reduced_size, reduced_stride);
    index_t i = 0;
    while (i + LANES <= count) {
      const index_t stop = min(count - count % LANES, i + (BLOCK - in_block) * LANES);
      const index_t from = i;
      if (reduced_stride[0] == 1) {
        for (; i < stop; i += LANES)
          for (int l = 0; l < LANES; ++l) block[l] = acc_join(block[l], ELEMENT(row, i + l, (long)element + i + l));
      } else {
        for (; i < stop; i += LANES)
          for (int l = 0; l < LANES; ++l)
            block[l] = acc_join(block[l], ELEMENT(row, (i + l) * reduced_stride[0], (long)element + i + l));
      }
      in_block += (i - from) / LANES;
      if (in_block >= BLOCK) {
        for (int l = 0; l < LANES; ++l) total[l] = total_join(total[l], block[l]), block[l] = acc_identity();
        in_block = 0;
      }
    }
    for (int l = 0; i < count; ++i, ++l)
      block[l] = acc_join(block[l], ELEMENT(row, i * reduced_stride[0], (long)element + i));
    if (++in_block >= BLOCK) {
      for (int l = 0; l < LANES; ++l) total[l] = total_join(total[l], block[l]), block[l] = acc_identity();
      in_block = 0;
    }
    element += count;
  }
  for (int l = 0; l < LANES; ++l) total[l] = total_join(total[l], block[l]);
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2)
    for (int l = 0; l < half_lanes; ++l) total[l] = total_join(total[l], total[l + half_lanes]);
  FINISH_OUTPUT(output, RESULT_OF(total[0]))
}

// One work item joins one split of LANES neighbouring outputs.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_columns(
    BUFFER(const INPUT_TYPE, input), RESULT_ARGS, PARTIAL_ARGS, const index_t outputs, const index_t elements,
    const index_t split_size, const layout_t layout) {
  BIND(const INPUT_TYPE, input);
  RESULT_BIND;
  PARTIAL_BIND;
  LAYOUT_COPY
  const index_t first_output = get_global_id(0) * LANES;
  const int lanes = min((index_t)LANES, outputs - first_output);
  index_t base[LANES];
  for (int l = 0; l < lanes; ++l) base[l] = offset_of(first_output + l, kept_size, kept_stride);
  const int together = lanes == LANES && base[LANES - 1] - base[0] == LANES - 1;
  const index_t last = min((index_t)(get_global_id(1) + 1) * split_size, elements);
  acc_t block[LANES];
  total_t total[LANES];
  for (int l = 0; l < LANES; ++l) total[l] = block[l] = acc_identity();
  int in_block = 0;
  for (index_t element = get_global_id(1) * split_size; element < last; ++element) {
    __global const INPUT_TYPE *row = input + offset_of(element, reduced_size, reduced_stride);
    if (together) {
      for (int l = 0; l < LANES; ++l) block[l] = acc_join(block[l], ELEMENT(row, base[0] + l, (long)element));
    } else {
      for (int l = 0; l < lanes; ++l) block[l] = acc_join(block[l], ELEMENT(row, base[l], (long)element));
    }
    if (++in_block == BLOCK) {
      for (int l = 0; l < LANES; ++l) total[l] = total_join(total[l], block[l]), block[l] = acc_identity();
      in_block = 0;
    }
  }
  for (int l = 0; l < lanes; ++l) {
    total[l] = total_join(total[l], block[l]);
    FINISH_OUTPUT(first_output + l, RESULT_OF(total[l]))
  }
}

#else

// One work item's share of a split: every `step`-th element from `first`.
#define JOIN_SHARE(first, step)                                                                  \
  total_t joined = acc_identity();                                                               \
  acc_t block = acc_identity();                                                                  \
  int in_block = 0;                                                                              \
  for (index_t element = first; element < last; element += step) {                               \
    const index_t at = base + offset_of(element, reduced_size, reduced_stride);                  \
    block = acc_join(block, ELEMENT(input, at, (long)element));                                  \
    if (++in_block == BLOCK) joined = total_join(joined, block), block = acc_identity(), in_block = 0; \
  }                                                                                              \
  acc_t total = RESULT_OF(total_join(joined, block));

// One work group joins one split of one output. The local size is a power of two.
__kernel void reduce_rows(BUFFER(const INPUT_TYPE, input), RESULT_ARGS, PARTIAL_ARGS, __local T *lane_values,
                          __local long *lane_indices, const index_t outputs, const index_t elements,
                          const index_t split_size, const layout_t layout) {
  BIND(const INPUT_TYPE, input);
  RESULT_BIND;
  PARTIAL_BIND;
  LAYOUT_COPY
  const index_t output = get_group_id(0);
  const int lane = get_local_id(0);
  const index_t last = min((index_t)(get_group_id(1) + 1) * split_size, elements);
  const index_t base = offset_of(output, kept_size, kept_stride);
  JOIN_SHARE((index_t)get_group_id(1) * split_size + lane, (index_t)get_local_size(0))
#if WITH_INDEX
#define PUT(acc) lane_values[lane] = (acc).value, lane_indices[lane] = (acc).index
#define GET(l) acc_of(lane_values[l], lane_indices[l])
#else
#define PUT(acc) lane_values[lane] = acc
#define GET(l) lane_values[l]
#endif
  PUT(total);
  for (int half_lanes = get_local_size(0) / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) {
      total = acc_join(GET(lane), GET(lane + half_lanes));
      PUT(total);
    }
  }
  if (lane == 0) {
    FINISH_OUTPUT(output, total)
  }
}

// One work item joins one split of one output; neighbours read neighbouring memory.
__kernel void reduce_columns(BUFFER(const INPUT_TYPE, input), RESULT_ARGS, PARTIAL_ARGS, const index_t outputs,
                             const index_t elements, const index_t split_size, const layout_t layout) {
  BIND(const INPUT_TYPE, input);
  RESULT_BIND;
  PARTIAL_BIND;
  LAYOUT_COPY
  const index_t output = get_global_id(0);
  if (output >= outputs) return;
  const index_t last = min((index_t)(get_group_id(1) + 1) * split_size, elements);
  const index_t base = offset_of(output, kept_size, kept_stride);
  JOIN_SHARE((index_t)get_group_id(1) * split_size, 1)
  FINISH_OUTPUT(output, total)
}

#endif

__kernel void join_splits(RESULT_ARGS, PARTIAL_ARGS, const index_t outputs, const index_t elements, const index_t splits) {
  RESULT_BIND;
  PARTIAL_BIND;
  const index_t output = get_global_id(0);
  if (output >= outputs) return;
  // Lanes again: one chain over all splits would lose what the splits have gained.
  acc_t lanes[LANES];
  for (int l = 0; l < LANES; ++l) {
    lanes[l] = acc_identity();
    for (index_t s = l; s < splits; s += LANES) lanes[l] = acc_join(lanes[l], LOAD_PARTIAL(s * outputs + output));
  }
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2)
    for (int l = 0; l < half_lanes; ++l) lanes[l] = acc_join(lanes[l], lanes[l + half_lanes]);
  STORE_RESULT(output, lanes[0], elements)
}
