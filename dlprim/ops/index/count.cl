// How often each place occurs, or how many elements fall into each bin: every group counts a part of them in counts of
// its own, which are summed then.
// Macros: those of dtype_defines for count_in_bins, whose elements are of a floating dtype.
#include "core/common.cl"
#include "ops/index/index_shared.h"
#include "ops/sort/work.cl"

#pragma OPENCL FP_CONTRACT OFF  // elements on an edge fall where the rounded operations say

#if SHAPE_CPU
#define COUNT_ARGS const int n, const int bins
#define FIND_COUNTS __global int *counts = partial + group * bins;
#define CLEAR_COUNTS \
  for (int bin = 0; bin < bins; ++bin) counts[bin] = 0;
#define COUNT_ONE(bin) ++counts[bin]
#define KEEP_COUNTS
#else
// own: `bins` counts where these are few, which are in local memory then.
#define COUNT_ARGS const int n, const int bins, __local int *own
#define FIND_COUNTS                                \
  __global int *counts = partial + group * bins;   \
  const int is_local = bins <= MOST_LOCAL_BINS;
#define CLEAR_COUNTS                                                          \
  for (int bin = get_local_id(0); bin < bins; bin += get_local_size(0)) {     \
    if (is_local)                                                             \
      own[bin] = 0;                                                           \
    else                                                                      \
      counts[bin] = 0;                                                        \
  }                                                                           \
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#define COUNT_ONE(bin)         \
  {                            \
    if (is_local)              \
      atomic_inc(&own[bin]);   \
    else                       \
      atomic_inc(&counts[bin]); \
  }
#define KEEP_COUNTS                  \
  barrier(CLK_LOCAL_MEM_FENCE);      \
  if (is_local)                      \
    for (int bin = get_local_id(0); bin < bins; bin += get_local_size(0)) counts[bin] = own[bin];
#endif

#define COUNT_ALL(COUNT)                                                                              \
  {                                                                                                   \
    const long groups = get_num_groups(0), group = get_group_id(0);                                   \
    const int first = n * group / groups, end = n * (group + 1) / groups;                             \
    FIND_COUNTS                                                                                       \
    CLEAR_COUNTS                                                                                      \
    for (int i = first + get_local_id(0); i < end; i += get_local_size(0)) COUNT(i)                   \
    KEEP_COUNTS                                                                                       \
  }

#ifdef STORAGE
// The bins cut [low, high] evenly; what lies outside is left out, and so is NaN. width: high - low, as it is rounded.
__kernel void count_in_bins(BUFFER(const STORAGE, x), BUFFER(int, partial), const REAL low, const REAL high,
                            const REAL width, COUNT_ARGS) {
  BIND(const STORAGE, x);
  BIND(int, partial);
#define COUNT_ELEMENT(i)                                                            \
  {                                                                                 \
    const REAL element = LOAD(x, i);                                                \
    if (element >= low && element <= high) {                                        \
      const int bin = (int)clamp((long)floor((element - low) * bins / width), 0L, bins - 1L); \
      COUNT_ONE(bin);                                                               \
    }                                                                               \
  }
  COUNT_ALL(COUNT_ELEMENT)
}
#else
__kernel void count_places(BUFFER(const long, places), BUFFER(int, partial), COUNT_ARGS) {
  BIND(const long, places);
  BIND(int, partial);
#define COUNT_PLACE(i)                                    \
  {                                                       \
    const long place = places[i];                         \
    if (place >= 0 && place < bins) COUNT_ONE((int)place); \
  }
  COUNT_ALL(COUNT_PLACE)
}
#endif

__kernel void sum_counts(BUFFER(const int, partial), BUFFER(long, counts), const int parts, const int bins) {
  BIND(const int, partial);
  BIND(long, counts);
  FOR_MY(bin, bins) {
    long sum = 0;
    for (int part = 0; part < parts; ++part) sum += partial[(long)part * bins + bin];
    counts[bin] = sum;
  }
}
