// Rows of matrices in the order that pivots tell.
//   STORAGE   of 4 or 8 bytes
#include "core/common.cl"
#include "ops/linalg/matrix.cl"

// Exchanges the rows first to end - 1 of each column with those that the pivots name.
__kernel void swap_rows(BUFFER(const int, pivots), BUFFER(STORAGE, a), const MatrixSteps steps, const int columns,
                        const int most, const int first, const int end, const long parts, const int backwards) {
  BIND(const int, pivots);
  BIND(STORAGE, a);
  FOR_MY(part, parts) {
    const long i = part / columns, column = part - i * columns;
    for (int step = first; step < end; ++step) {
      const int r = backwards ? first + end - 1 - step : step;
      const long here = AT(steps, i, r, column), there = AT(steps, i, pivots[i * most + r] - 1, column);
      const STORAGE kept = a[here];
      a[here] = a[there];
      a[there] = kept;
    }
  }
}
