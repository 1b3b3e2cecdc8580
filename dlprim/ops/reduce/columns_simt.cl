// The reduction of reduce.cl over outputs that are neighbours in memory, for GPUs. Items of a work group stand in lines
// of COLUMN_LANES: an item joins VECTOR neighbouring outputs over every n-th row of a split, n being the lines, which
// are joined in local memory. reduce.cpp includes it once for each VECTOR, with COLUMNS for the kernel's name. Four at
// a time are read at once: reading numbers of 16 bits one by one took 1.4 to 2.6 times as long. Precondition:
// kept_stride[0] == 1; of vectors, that all else is a multiple of four.
#define OUTPUT_OF(output, v) ((output) + (v))
#define INDEX_OF(element, v) ((long)(element))
__kernel void COLUMNS(TENSOR_ARGS, LAYOUT_ARGS) {
  __local TOTAL_T totals[VECTOR * MAX_GROUP];
  BIND_INPUT;
  BIND_PARTIAL;
  LAYOUT_COPY
  SPLIT_BIND
  const int item = get_local_id(0), lane = item % COLUMN_LANES, line = item / COLUMN_LANES;
  const int lines = get_local_size(0) / COLUMN_LANES;
  const index_t own = ((index_t)get_group_id(0) * COLUMN_LANES + lane) * VECTOR;
  const bool is_there = own < outputs;
  const index_t output = is_there ? own : 0;
  JOIN_SHARE(total, output, first + line, (is_there ? last : first), (index_t)lines)
  _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) totals[v * MAX_GROUP + item] = total[v];
  JOIN_LINES(totals, VECTOR, lines, COLUMN_LANES)
  if (line == 0 && is_there)
    _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) {
      FINISH_OUTPUT(output + v, totals[v * MAX_GROUP + item])
    }
}
#undef OUTPUT_OF
#undef INDEX_OF
