// How a kernel reaches the tensors of many parameters: see ParameterPack. Needs core/common.cl and STORAGE.
// A row of the table is a chunk: the places of up to PACK_TENSORS tensors, then the number of elements.
// A place is the buffer's number in the top bits and the first element in the others.
#include "ops/optim/optim_shared.h"

#define WHOLE_BUFFER(k) __global STORAGE *b##k, const ulong b##k##_start
#define PACK_ARGS                                                                                       \
  WHOLE_BUFFER(0), WHOLE_BUFFER(1), WHOLE_BUFFER(2), WHOLE_BUFFER(3), WHOLE_BUFFER(4), WHOLE_BUFFER(5),   \
      WHOLE_BUFFER(6), WHOLE_BUFFER(7), WHOLE_BUFFER(8), WHOLE_BUFFER(9), WHOLE_BUFFER(10),              \
      WHOLE_BUFFER(11), WHOLE_BUFFER(12), WHOLE_BUFFER(13), WHOLE_BUFFER(14), WHOLE_BUFFER(15),          \
      BUFFER(const ulong, table), const ulong first_chunk

#define BUFFER_NUMBER(place) ((int)((place) >> BUFFER_NUMBER_SHIFT))
#define CHOOSE(n)                                             \
  (n < 8 ? CHOOSE8(n, b0, b1, b2, b3, b4, b5, b6, b7)          \
         : CHOOSE8((n - 8), b8, b9, b10, b11, b12, b13, b14, b15))
#define CHOOSE8(n, p0, p1, p2, p3, p4, p5, p6, p7) \
  (n < 4 ? (n < 2 ? (n < 1 ? p0 : p1) : (n < 3 ? p2 : p3)) : (n < 6 ? (n < 5 ? p4 : p5) : (n < 7 ? p6 : p7)))

// This work group's chunk (of a cpu launch: this work item's).
#define THIS_CHUNK (first_chunk + get_group_id(0))
#define BIND_CHUNK                                                             \
  const __global ulong *chunk = table_buffer + table_start + THIS_CHUNK * PACK_ROW; \
  const int count = (int)chunk[PACK_TENSORS]
// First element of the chunk in its parameter's tensor number k.
#define CHUNK_TENSOR(k) (CHOOSE(BUFFER_NUMBER(chunk[k])) + (chunk[k] & ((1UL << BUFFER_NUMBER_SHIFT) - 1)))

// The one number of float32 that place k names.
#define CHUNK_NUMBER(k) \
  (((const __global float *)CHOOSE(BUFFER_NUMBER(chunk[k])))[chunk[k] & ((1UL << BUFFER_NUMBER_SHIFT) - 1)])

#if SHAPE_CPU
#define FOR_EACH_ELEMENT(i) for (int i = 0; i < count; ++i)
#else
#define FOR_EACH_ELEMENT(i) for (int i = get_local_id(0); i < count; i += get_local_size(0))
#endif
