#include "core/common.cl"

// output[o, indices[o, i], i] = values[o, i], for an output [outer, size, inner] of zeros whose elements have `bytes`
// bytes.
#define PLACE(type)                                                                                       \
  ((__global type *)output_buffer)[output_start + (item / inner * size + indices[item]) * inner + item % inner] = \
      ((__global const type *)values_buffer)[values_start + item]

__kernel void place_at_index(BUFFER(const uchar, values), BUFFER(const long, indices), BUFFER(uchar, output),
                             const int bytes, const long items, const long size, const long inner) {
  BIND(const long, indices);
  const long item = get_global_id(0);
  if (item >= items) return;
  if (bytes == 8)
    PLACE(ulong);
  else if (bytes == 4)
    PLACE(uint);
  else if (bytes == 2)
    PLACE(ushort);
  else
    PLACE(uchar);
}
