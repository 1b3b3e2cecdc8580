// Joins over a work group of `size` work items (a power of two), of which this one is `lid`.

// Leaves COMBINE over all of shared[0 … size) in shared[0], for every work item to read.
#define JOIN_GROUP(shared, COMBINE)                                           \
  for (int width = size / 2; width > 0; width /= 2) {                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    if (lid < width) shared[lid] = COMBINE(shared[lid], shared[lid + width]); \
  }                                                                           \
  barrier(CLK_LOCAL_MEM_FENCE)
#define ADD(a, b) ((a) + (b))
