// The reduction of reduce.cl over outputs that are neighbours in memory, for GPUs. Items of a work group stand in lines of
// COLUMN_LANES: an item joins VECTOR neighbouring outputs over every n-th row of a split, n being the lines, which are joined
// in local memory. reduce.cpp includes it once for each VECTOR, with COLUMNS for the kernel's name. Four at a time are read at once:
// reading numbers of 16 bits one by one took four times as long. Precondition: kept_stride[0] == 1; of vectors, that all
// else is a multiple of four.
__kernel void COLUMNS(TENSOR_ARGS, LAYOUT_ARGS) {
  __local TOTAL_T totals[VECTOR * MAX_GROUP];
  BIND_INPUT;
  BIND_PARTIAL;
  LAYOUT_COPY
  SPLIT_BIND
  const int item = get_local_id(0), lane = item % COLUMN_LANES, line = item / COLUMN_LANES;
  const int lines = get_local_size(0) / COLUMN_LANES;
  const index_t output = ((index_t)get_group_id(0) * COLUMN_LANES + lane) * VECTOR;
  const index_t end = output < outputs ? last : first;
  const index_t base = output < outputs ? offset_of(output, kept_size, kept_stride) : 0;
  T s[VECTOR];
  BLOCK_T block[VECTOR];
  TOTAL_T total[VECTOR];
  _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) {
    s[v] = output < outputs ? SHIFT_OF(output + v) : (T)0;
    block[v] = IDENTITY;
    total[v] = TO_TOTAL(block[v]);
  }
  const index_t size = max(reduced_size[0], (index_t)1);
  index_t row = (first + line) / size, column = first + line - row * size;
  index_t row_start = base + offset_of_row(row, reduced_size, reduced_stride);
  int in_block = 0;
  for (index_t element = first + line; element < end;) {
    T some[SOME][VECTOR];
    long places[SOME];
    int count = 0;
    _Pragma("unroll") for (int k = 0; k < SOME; ++k)
      if (element < end) {
        READ_COLUMNS(some[k], row_start + column * reduced_stride[0]);
        places[k] = element;
        ++count;
        element += lines;
        column += lines;
        if (column >= size) {
          row += column / size;
          column %= size;
          row_start = base + offset_of_row(row, reduced_size, reduced_stride);
        }
      }
    _Pragma("unroll") for (int k = 0; k < SOME; ++k)
      if (k < count)
        _Pragma("unroll") for (int v = 0; v < VECTOR; ++v)
          block[v] = join_blocks(block[v], map_element(some[k][v], places[k], s[v], p));
    in_block += SOME;
    if (in_block == CHAIN) {
      _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) END_BLOCK(total[v], block[v]);
      in_block = 0;
    }
  }
  _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) {
    END_BLOCK(total[v], block[v]);
    totals[v * MAX_GROUP + item] = total[v];
  }
  JOIN_LINES(totals, VECTOR, lines, line, item)
  if (line == 0 && output < outputs)
    _Pragma("unroll") for (int v = 0; v < VECTOR; ++v) {
      FINISH_OUTPUT(output + v, totals[v * MAX_GROUP + item])
    }
}
