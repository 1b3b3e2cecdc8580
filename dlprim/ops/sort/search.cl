// The place of each value in its row of numbers in order. Macros: STORAGE, REAL, LOAD (dtype_defines).
#include "core/common.cl"
#include "ops/sort/work.cl"

__kernel void places_in_order(BUFFER(const STORAGE, sequences), BUFFER(const STORAGE, values),
                              BUFFER(long, places), const long n, const long m, const long count,
                              const int right) {
  BIND(const STORAGE, sequences);
  BIND(const STORAGE, values);
  BIND(long, places);
  FOR_MY(i, count) {
    const REAL value = LOAD(values, i);
    __global const STORAGE *row = sequences + i / m * n;
    long low = 0, high = n;
    while (low < high) {
      const long middle = low + (high - low) / 2;
      const REAL element = LOAD(row, middle);
      const bool is_behind = right ? element > value : element >= value;
      low = is_behind ? low : middle + 1;
      high = is_behind ? middle : high;
    }
    places[i] = low;
  }
}
