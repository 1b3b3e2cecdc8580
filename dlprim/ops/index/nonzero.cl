// Where a bool tensor holds. Every stretch of TRUE_STRETCH elements is counted, the counts are summed (sums_before),
// and every stretch writes its places from there on.
#include "core/common.cl"
#include "ops/index/index_shared.h"
#include "ops/sort/work.cl"

#if SHAPE_CPU
#define TRUE_STRETCH CPU_TRUE_STRETCH
#else
#define TRUE_STRETCH SIMT_TRUE_STRETCH
#endif

__kernel void count_true(BUFFER(const uchar, x), BUFFER(int, counts), const long numel) {
  BIND(const uchar, x);
  BIND(int, counts);
  FOR_MY(stretch, (numel + TRUE_STRETCH - 1) / TRUE_STRETCH) {
    const long first = stretch * TRUE_STRETCH, end = min(first + TRUE_STRETCH, numel);
    int count = 0;
    for (long i = first; i < end; ++i) count += x[i] != 0;
    counts[stretch] = count;
  }
}

// Writes the coordinates of every true element; a tensor of rank 0 is given as one of rank 1.
__kernel void write_true(BUFFER(const uchar, x), BUFFER(const int, starts), BUFFER(long, places), const long numel,
                         const TrueShape given_shape) {
  BIND(const uchar, x);
  BIND(const int, starts);
  BIND(long, places);
  const TrueShape s = given_shape;
  FOR_MY(stretch, (numel + TRUE_STRETCH - 1) / TRUE_STRETCH) {
    const long first = stretch * TRUE_STRETCH, end = min(first + TRUE_STRETCH, numel);
    long to = starts[stretch];
    for (long i = first; i < end; ++i) {
      if (!x[i]) continue;
      long rest = i;
      for (int d = 0; d < s.rank; ++d) {
        const long next = rest / s.size[d];
        places[to * s.count_stride + (s.rank - 1 - d) * s.dim_stride] = rest - next * s.size[d];
        rest = next;
      }
      ++to;
    }
  }
}
