// The reduction of reduce.cl over any outputs, for GPUs: a line of a work group joins one split of one output; lines
// stand along the second dimension. Local sizes are powers of two. reduce.cpp includes it once for each VECTOR, of
// elements that an item reads at once, with ROWS for the kernel's name. Precondition, of vectors: reduced_stride[0] ==
// 1, and all else is a multiple of four.
#define OUTPUT_OF(output, v) (output)
#define INDEX_OF(element, v) ((long)(element) * VECTOR + (v))
__kernel void ROWS(TENSOR_ARGS, LAYOUT_ARGS) {
  __local TOTAL_T totals[MAX_GROUP];
  BIND_INPUT;
  BIND_PARTIAL;
  LAYOUT_COPY
  SPLIT_BIND
  if (VECTOR > 1) {
    reduced_size[0] /= VECTOR;
    reduced_stride[0] = VECTOR;
  }
  const int lane = get_local_id(0), lanes = get_local_size(0), item = get_local_id(1) * lanes + lane;
  const index_t output = (index_t)get_group_id(0) * get_local_size(1) + get_local_id(1);
  const index_t known_output = min(output, outputs - 1);  // all items meet at the barriers
  JOIN_SHARE(total, known_output, first / VECTOR + lane, last / VECTOR, (index_t)lanes)
  for (int v = 1; v < VECTOR; ++v) total[0] = join_totals(total[0], total[v]);
  totals[item] = total[0];
  for (int half_lanes = lanes / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) totals[item] = join_totals(totals[item], totals[item + half_lanes]);
  }
  if (lane == 0 && output < outputs) {
    FINISH_OUTPUT(output, totals[item])
  }
}
#undef OUTPUT_OF
#undef INDEX_OF
