// Joins over a work group, or each of its lines, of `size` work items (a power of two), of which this one is `lid`.

// Leaves COMBINE over all of shared[0 … size) in shared[0], for every work item to read.
#define JOIN_GROUP(shared, COMBINE)                                           \
  for (int width = size / 2; width > 0; width /= 2) {                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    if (lid < width) shared[lid] = COMBINE(shared[lid], shared[lid + width]); \
  }                                                                           \
  barrier(CLK_LOCAL_MEM_FENCE)
#define ADD(a, b) ((a) + (b))

// Where the lines of a group have a row each (line_per_row_range): this item's row, and its line's part of `shared`.
#define ROW_OF_LINE (get_group_id(0) * (long)get_local_size(1) + get_local_id(1))
#define OF_LINE(shared) ((shared) + get_local_id(1) * get_local_size(0))
