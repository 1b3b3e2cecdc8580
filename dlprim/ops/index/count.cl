// How often each place occurs: each group counts a part of the places in bins of its own, which are summed then.
#include "core/common.cl"
#include "ops/sort/work.cl"

__kernel void count_places(BUFFER(const long, places), BUFFER(int, partial), const int n, const int bins) {
  BIND(const long, places);
  BIND(int, partial);
  const long groups = get_num_groups(0), group = get_group_id(0);
  const int first = n * group / groups, end = n * (group + 1) / groups;
  __global int *counts = partial + group * bins;
  for (int i = first + get_local_id(0); i < end; i += get_local_size(0)) {
    const long place = places[i];
    if (place < 0 || place >= bins) continue;
#if SHAPE_CPU
    ++counts[place];
#else
    atomic_inc(counts + place);
#endif
  }
}

__kernel void sum_counts(BUFFER(const int, partial), BUFFER(long, counts), const int parts, const int bins) {
  BIND(const int, partial);
  BIND(long, counts);
  FOR_MY(bin, bins) {
    long sum = 0;
    for (int part = 0; part < parts; ++part) sum += partial[(long)part * bins + bin];
    counts[bin] = sum;
  }
}
