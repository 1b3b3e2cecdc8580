// Where the blocks of a Transposition lie.
#include "core/common.cl"
#include "ops/pointwise/transposition_shared.h"

typedef struct {
  int along, across;         // elements before it
  long source, destination;  // where it begins in both
} block_t;

inline block_t block_of(const Transposition t, const int number, const int edge) {
  const int row = number / t.blocks_along;
  int plane = row / t.blocks_across;
  block_t b;
  b.along = (number - row * t.blocks_along) * edge;
  b.across = (row - plane * t.blocks_across) * edge;
  b.source = b.along * t.source_stride + b.across;
  b.destination = b.across * t.destination_stride + b.along;
  // Most have few others: to divide by all sizes took as long as to move the elements.
  _Pragma("unroll") for (int d = 0; d < OTHER_DIMENSIONS; ++d) if (t.size[d] > 1) {
    const int next = plane / t.size[d], coordinate = plane - next * t.size[d];
    b.source += coordinate * t.source_strides[d];
    b.destination += coordinate * t.destination_strides[d];
    plane = next;
  }
  return b;
}
