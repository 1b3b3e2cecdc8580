// The two kernels of a pointwise program (pointwise_source.cpp writes what stands before this file):
//   T               type the expressions are computed in
//   T_LANES         how many of it one AVX-512 register holds
//   index_t         int, or long where an index needs more than 32 bits
//   FLAT, STRIDED   the kernels' names: for tensors that are one contiguous range each, and for any others
//   OPERANDS        number of tensors of the largest variant, inputs first
//   PER_ITEM        elements that an item takes in shape simt
//   VECTORS         whether FLAT moves PER_ITEM neighbours at once (in shape simt)
//   ROW_STEPS       two bits a tensor, in shape cpu: RowStep of pointwise_source.h
//   ROUNDED         what a stored value is when it is read again
//   PARAMETERS      kernel parameters: the tensors, then numbers
//   VARIANTS(AT)    the cases of a switch, one for each variant; AT(k) is the index into the k-th tensor
// One kernel for all variants, since a kernel costs PoCL three times as much to build as a loop in it does.
#include "core/in_vectors.cl"

// A tensor of the dtype that the variant at hand takes.
#define TYPED(type, name) __global type *restrict name = (__global type *)name##_buffer + name##_start;

// Integers and bool are computed with in 64 bits. Written as arithmetic, which compilers turn into the plain
// conversion, since Mesa's llvmpipe compares a converted number wrongly (docs/driver-faults.md).
#define WIDENED(x) ((long)(((ulong)(uint)(x) ^ 0x80000000UL) - 0x80000000UL))
#define WIDENED_int64(p, i) LOAD_int64(p, i)
#define WIDENED_int32(p, i) WIDENED(LOAD_int32(p, i))
#define WIDENED_int16(p, i) WIDENED(LOAD_int16(p, i))
#define WIDENED_int8(p, i) WIDENED(LOAD_int8(p, i))
#define WIDENED_uint8(p, i) WIDENED(LOAD_uint8(p, i))
#define WIDENED_bool(p, i) WIDENED(LOAD_bool(p, i))

#if T_IS_FLOATING
#define ROUNDED_float32(x) (x)
#define ROUNDED_float64(x) (x)
INLINED float ROUNDED_bfloat16(float x) { return as_float((uint)to_bfloat16(x) << 16); }
INLINED float ROUNDED_float16(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half *)&bits);
  return vload_half(0, (half *)&bits);
}
#endif

// CPU: one work item walks `chunk` neighbours, a loop the compiler vectorises (gelu in whole registers 0.7 ns, was
// 1.3, backward 1.2, was 1.8). SIMT: an item takes PER_ITEM elements, a group's size apart, and reads all before it
// stores any, since an output may be an input: so that enough of memory is under way.
//   FOR_ELEMENTS             what is done for every element i
//   FETCHED(name, element)   before that, what is read of it; AVAILABLE(name, element) is the value in it
#if SHAPE_CPU
#define FOR_ELEMENTS IN_VECTORS(T_LANES) for (index_t i = begin; i < end; ++i)
#define FETCHED(name, element)
#define AVAILABLE(name, element) element
#else
#define FOR_ELEMENTS                                             \
  _Pragma("unroll") for (int part = 0; part < PER_ITEM; ++part) \
    if ((i = begin + part * step) < end)
#define FETCHED(name, element) \
  T some_##name[PER_ITEM];     \
  FOR_ELEMENTS some_##name[part] = element;
#define AVAILABLE(name, element) some_##name[part]
#endif

#define FLAT_AT(k) i

// Items that take neighbours read and store them as vectors, which their tensors are multiples of.
#if VECTORS
#define FETCHED_AS(dtype, name, p) \
  T some_##name[PER_ITEM];         \
  if (begin < end) vstore4(LOAD_##dtype##_4(p, begin / PER_ITEM), 0, some_##name);
#define STORE_AS(dtype, p, kept) \
  if (begin < end) STORE_##dtype##_4(p, begin / PER_ITEM, vload4(0, kept));
#endif

__kernel void FLAT(PARAMETERS const int variant, const index_t numel, const index_t chunk) {
  NOT_CONTRACTED
#if SHAPE_CPU
  const index_t begin = get_global_id(0) * chunk;
  const index_t end = min(begin + chunk, numel);
#else
  const index_t step = VECTORS ? 1 : get_local_size(0), end = numel;
  const index_t begin = VECTORS ? (index_t)get_global_id(0) * PER_ITEM
                                : (index_t)get_group_id(0) * (PER_ITEM * step) + get_local_id(0);
  index_t i;
#endif
  switch (variant) { VARIANTS(FLAT_AT) }
}

#if !VECTORS

// Sizes and strides, innermost dimension first.
typedef struct {
  index_t size[MAX_RANK];
  index_t stride[OPERANDS * MAX_RANK];  // [operand][dimension]; one dimension for rusticl (docs/driver-faults.md)
  index_t factor[MAX_RANK], shift[MAX_RANK];  // to divide by size; see quotient
} layout_t;

#if SHAPE_CPU

// A compiler makes vectors of rows whose steps it knows, or finds to be 1.
#define ROW_STEP(k) (ROW_STEPS >> 2 * (k) & 3)
#define STRIDED_AT(k) \
  (at[k] + (ROW_STEP(k) == 1 ? 0 : ROW_STEP(k) == 2 ? -i : i * layout.stride[(k) * MAX_RANK]))

#define FOR_OPERANDS _Pragma("unroll") for (int k = 0; k < OPERANDS; ++k)

// Where the row of element `element` starts in each tensor, and among the rows.
#define FIND_ROW(element)                                                           \
  index_t at[OPERANDS], coordinate[MAX_RANK];                                       \
  FOR_OPERANDS at[k] = 0;                                                           \
  index_t rest = (element) / layout.size[0];                                        \
  for (int d = 1; d < MAX_RANK; ++d) {                                              \
    const index_t next = rest > 0 ? rest / layout.size[d] : 0;                      \
    coordinate[d] = rest - next * layout.size[d];                                   \
    FOR_OPERANDS at[k] += coordinate[d] * layout.stride[k * MAX_RANK + d];          \
    rest = next;                                                                    \
  }

// The places of the row behind it. Divisions for each took longer than to copy rows of 64.
#define FIND_NEXT_ROW                                                               \
  for (int d = 1; d < MAX_RANK; ++d) {                                              \
    FOR_OPERANDS at[k] += layout.stride[k * MAX_RANK + d];                          \
    if (++coordinate[d] < layout.size[d]) break;                                    \
    FOR_OPERANDS at[k] -= layout.size[d] * layout.stride[k * MAX_RANK + d];         \
    coordinate[d] = 0;                                                              \
  }

__kernel void STRIDED(PARAMETERS const int variant, const index_t numel, const index_t chunk, const layout_t layout) {
  NOT_CONTRACTED
  index_t element = get_global_id(0) * chunk;
  const index_t last = min(element + chunk, numel);
  FIND_ROW(element)
  index_t begin = element % layout.size[0];
  while (element < last) {
    const index_t end = min(layout.size[0], begin + last - element);
    switch (variant) { VARIANTS(STRIDED_AT) }
    element += end - begin;
    begin = 0;
    FIND_NEXT_ROW
  }
}

#else

#define STRIDED_AT(k) at[part * OPERANDS + (k)]

// The quotient of n >= 0 and a size, by a product where that is 32 bits (Granlund and Montgomery, "Division by
// Invariant Integers using Multiplication", 1994): divisions took most of the time.
inline index_t quotient(const index_t n, const index_t size, const index_t factor, const index_t shift) {
  return sizeof(index_t) == 4 ? (index_t)((mul_hi((uint)n, (uint)factor) + (uint)n) >> (uint)shift) : n / size;
}

// Unrolled, since llvmpipe cannot index kernel arguments by a variable in divergent control flow.
__kernel void STRIDED(PARAMETERS const int variant, const index_t numel, const index_t chunk, const layout_t layout) {
  NOT_CONTRACTED
  const index_t step = get_local_size(0), begin = (index_t)get_group_id(0) * (PER_ITEM * step) + get_local_id(0),
                end = numel;
  index_t i, at[PER_ITEM * OPERANDS];
  FOR_ELEMENTS {
    _Pragma("unroll") for (int k = 0; k < OPERANDS; ++k) at[part * OPERANDS + k] = 0;
    index_t rest = i;
    _Pragma("unroll") for (int d = 0; d < MAX_RANK; ++d) if (rest > 0) {
      const index_t next = quotient(rest, layout.size[d], layout.factor[d], layout.shift[d]);
      const index_t coordinate = rest - next * layout.size[d];
      _Pragma("unroll") for (int k = 0; k < OPERANDS; ++k)
        at[part * OPERANDS + k] += coordinate * layout.stride[k * MAX_RANK + d];
      rest = next;
    }
  }
  switch (variant) { VARIANTS(STRIDED_AT) }
}

#endif
#endif
