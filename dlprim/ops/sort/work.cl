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

// Replaces each of the `length` counts of a row by the sum of those before it; `totals`, where given, gets the row's sum.
// Shape cpu: a work item a row; shape simt: a work group a row.
#if SHAPE_CPU
__kernel void sums_before(BUFFER(int, counts), BUFFER(int, totals), const int length) {
  BIND(int, counts);
  BIND(int, totals);
  const long row = get_global_id(0);
  int sum = 0;
  for (int i = 0; i < length; ++i) {
    const int count = counts[row * length + i];
    counts[row * length + i] = sum;
    sum += count;
  }
  if (totals_buffer) totals[row] = sum;
}
#else
__kernel void sums_before(BUFFER(int, counts), BUFFER(int, totals), const int length, __local int *sums) {
  BIND(int, counts);
  BIND(int, totals);
  const long row = get_group_id(0);
  const int item = get_local_id(0), group = get_local_size(0);
  const int share = (length + group - 1) / group;
  const int first = min(length, item * share), end = min(length, first + share);
  int own = 0;
  for (int i = first; i < end; ++i) own += counts[row * length + i];
  int sum = sum_before(sums, own);
  if (totals_buffer && item == group - 1) totals[row] = sum + own;
  for (int i = first; i < end; ++i) {
    const int count = counts[row * length + i];
    counts[row * length + i] = sum;
    sum += count;
  }
}
#endif
