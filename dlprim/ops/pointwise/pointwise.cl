// The two kernels around a generated pointwise expression (pointwise.cpp writes what stands before this file):
//   T            type the expression is computed in
//   index_t      int, or long where an index needs more than 32 bits
//   OPERANDS     number of tensors, inputs first
//   PARAMETERS   kernel parameters: the tensors, then numbers
//   BIND_ALL     pointers to the tensors' first elements
//   ELEMENT(AT)  evaluates one element; AT(k) is the index into the k-th tensor

#define RANK 8

// Sizes and strides, innermost dimension first.
typedef struct {
  index_t size[RANK];
  index_t stride[OPERANDS * RANK];  // [operand][dimension]; one dimension for the sake of rusticl (docs/known-issues.md)
} layout_t;

#define FLAT_AT(k) i

// CPU: one work item walks `chunk` neighbours, a loop the compiler vectorises. SIMT: one element a work item.
__kernel void pointwise_flat(PARAMETERS const index_t numel, const index_t chunk) {
  BIND_ALL
#if SHAPE_CPU
  const index_t first = get_global_id(0) * chunk;
  const index_t last = min(first + chunk, numel);
  for (index_t i = first; i < last; ++i) ELEMENT(FLAT_AT)
#else
  const index_t i = get_global_id(0);
  if (i < numel) ELEMENT(FLAT_AT)
#endif
}

#define STRIDED_AT(k) (at[k] + i * layout.stride[(k) * RANK])

// SIMT: unrolled, since llvmpipe cannot index kernel arguments by a variable in divergent control flow.
#if SHAPE_CPU
#define FOR_OUTER(d) for (int d = 1; d < RANK && rest > 0; ++d)
#else
#define FOR_OUTER(d) _Pragma("unroll") for (int d = 1; d < RANK; ++d) if (rest > 0)
#endif

// Leaves in at[] where the row of element `element` starts in each tensor.
#define FIND_ROW(element)                             \
  index_t at[OPERANDS];                               \
  _Pragma("unroll") for (int k = 0; k < OPERANDS; ++k) at[k] = 0; \
  index_t rest = (element) / layout.size[0];          \
  FOR_OUTER(d) {                                      \
    const index_t next = rest / layout.size[d];       \
    const index_t coordinate = rest - next * layout.size[d]; \
    _Pragma("unroll") for (int k = 0; k < OPERANDS; ++k) at[k] += coordinate * layout.stride[k * RANK + d]; \
    rest = next;                                      \
  }

__kernel void pointwise_strided(PARAMETERS const index_t numel, const index_t chunk, const layout_t layout) {
  BIND_ALL
#if SHAPE_CPU
  index_t element = get_global_id(0) * chunk;
  const index_t last = min(element + chunk, numel);
  while (element < last) {
    FIND_ROW(element)
    const index_t first = element % layout.size[0];
    const index_t count = min(layout.size[0] - first, last - element);
    for (index_t i = first; i < first + count; ++i) ELEMENT(STRIDED_AT)
    element += count;
  }
#else
  const index_t element = get_global_id(0);
  if (element >= numel) return;
  FIND_ROW(element)
  const index_t i = element % layout.size[0];
  ELEMENT(STRIDED_AT)
#endif
}
