// A Transposition on a GPU: a work group brings a block of BLOCK x BLOCK elements through local memory, so that it
// reads and writes what lies side by side. ELEMENT: an unsigned type of the elements' size; PITCH: elements from line
// to line there.
#include "ops/pointwise/transposition.cl"

#define LINES_AT_ONCE (TRANSPOSED_ITEMS / BLOCK)

__attribute__((reqd_work_group_size(TRANSPOSED_ITEMS, 1, 1)))
__kernel void transposed_copy(BUFFER(const ELEMENT, source), BUFFER(ELEMENT, destination), const Transposition t) {
  __local ELEMENT elements[BLOCK * PITCH];
  const int item = get_local_id(0), lane = item % BLOCK, first = item / BLOCK;
  const block_t block = block_of(t, get_group_id(0), BLOCK);
  __global const ELEMENT *from = source_buffer + source_start + block.source;
  __global ELEMENT *to = destination_buffer + destination_start + block.destination;
  const int along = min(BLOCK, t.along - block.along), across = min(BLOCK, t.across - block.across);
  _Pragma("unroll") for (int i = 0; i < BLOCK; i += LINES_AT_ONCE) {
    const int line = first + i;
    if (line < along && lane < across) elements[line * PITCH + lane] = from[line * t.source_stride + lane];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  _Pragma("unroll") for (int i = 0; i < BLOCK; i += LINES_AT_ONCE) {
    const int line = first + i;
    if (line < across && lane < along) to[line * t.destination_stride + lane] = elements[lane * PITCH + line];
  }
}
