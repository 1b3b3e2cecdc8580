// How kernels that serve both shapes share out work, and prefix sums. Include it after core/common.cl.
//   FOR_MY(part, parts)   shape cpu: the work items share the parts in even ranges; shape simt: a part a work item
#if SHAPE_CPU
#define FOR_MY(part, parts)                                                  \
  for (long part = (parts) * (long)get_global_id(0) / (long)get_global_size(0), \
            part##_end = (parts) * ((long)get_global_id(0) + 1) / (long)get_global_size(0); \
       part < part##_end; ++part)
#else
#define FOR_MY(part, parts) \
  for (long part = get_global_id(0), part##_once = 1; part##_once && part < (parts); part##_once = 0)

enum { COUNTS_OF_ITEM = 8 };  // that sums_of_segments takes at a time

// The sum of `value` over the work items of the group before this one. All of them call it.
inline int sum_before(__local int *sums, int value) {
  const int item = get_local_id(0), group = get_local_size(0);
  sums[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < group; step *= 2) {
    const int other = item >= step ? sums[item - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums[item] - value;
}
#endif

// Replaces each of the `length` counts of a row by the sum of those before it; `totals`, where given, gets the row's
// sum. A work item takes a row.
__kernel void sums_before(BUFFER(int, counts), BUFFER(int, totals), const long rows, const int length) {
  BIND(int, counts);
  BIND(int, totals);
  FOR_MY(row, rows) {
    int sum = 0;
    for (int i = 0; i < length; ++i) {
      const int count = counts[row * length + i];
      counts[row * length + i] = sum;
      sum += count;
    }
    if (totals_buffer) totals[row] = sum;
  }
}

#if !SHAPE_CPU
// The same of long rows. A work group takes a segment of so many counts as if it were a row, with a total of its own;
// add_to_segments adds what stands before it.
__kernel void sums_of_segments(BUFFER(int, counts), BUFFER(int, totals), const int length, const int segments,
                               const int segment, __local int *sums) {
  BIND(int, counts);
  BIND(int, totals);
  const long part = get_group_id(0), row = part / segments;
  const int item = get_local_id(0), group = get_local_size(0);
  const int begin = (int)(part - row * segments) * segment, end = min(length, begin + segment);
  __global int *row_counts = counts + row * length;
  int before = 0;  // what stands before the items' run of counts
  for (int run = begin; run < end; run += group * COUNTS_OF_ITEM) {
    const int first = run + item * COUNTS_OF_ITEM;
    int own[COUNTS_OF_ITEM], sum = 0;
    for (int i = 0; i < COUNTS_OF_ITEM; ++i) {
      own[i] = first + i < end ? row_counts[first + i] : 0;
      sum += own[i];
    }
    int place = before + sum_before(sums, sum);
    before += sums[group - 1];
    for (int i = 0; i < COUNTS_OF_ITEM; ++i) {
      if (first + i < end) row_counts[first + i] = place;
      place += own[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (totals_buffer && item == 0) totals[part] = before;
}

// `starts`: of each segment.
__kernel void add_to_segments(BUFFER(int, counts), BUFFER(const int, starts), const long rows, const int length,
                              const int segments, const int segment) {
  BIND(int, counts);
  BIND(const int, starts);
  FOR_MY(i, rows * length) {
    const long row = i / length;
    counts[i] += starts[row * segments + (int)(i - row * length) / segment];
  }
}
#endif
