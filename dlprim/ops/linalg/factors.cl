// Blocks of triangular systems and of factors of matrices.
//   REAL   float or double
#include "core/common.cl"
#include "ops/linalg/matrix.cl"

// Each system: a column of b.
__kernel void solve_block(BUFFER(const REAL, a), BUFFER(REAL, b), const MatrixSteps of_a, const MatrixSteps of_b,
                          const int n, const int columns, const long systems, const int upper,
                          const int unitriangular) {
  BIND(const REAL, a);
  BIND(REAL, b);
  FOR_MY(system, systems) {
    const long i = system / columns, column = system - i * columns;
    REAL x[FACTOR_BLOCK];
    for (int step = 0; step < n; ++step) {
      const int r = upper ? n - 1 - step : step;
      REAL value = b[AT(of_b, i, r, column)];
      for (int k = 0; k < step; ++k) value -= a[AT(of_a, i, r, upper ? n - 1 - k : k)] * x[k];
      x[step] = unitriangular ? value : value / a[AT(of_a, i, r, r)];
      b[AT(of_b, i, r, column)] = x[step];
    }
  }
}

// The vectors of reflectors: 1 on the diagonal, 0 above.
__kernel void reflectors_of(BUFFER(const REAL, a), BUFFER(REAL, v), const MatrixSteps steps, const int rows,
                            const int count, const long elements) {
  BIND(const REAL, a);
  BIND(REAL, v);
  FOR_MY(element, elements) {
    const long line = element / count, column = element - line * count, i = line / rows, r = line - i * rows;
    v[element] = r > column ? a[AT(steps, i, r, column)] : (REAL)(r == column);
  }
}

// y_r = tau_r (y_r - sum of inner_rc y_c) for each column of y, from the last row on, or from the first: `transposed`.
__kernel void weigh_reflections(BUFFER(const REAL, inner), BUFFER(const REAL, tau), BUFFER(REAL, y), const int count,
                                const int columns, const int most, const int first, const long parts,
                                const int transposed) {
  BIND(const REAL, inner);
  BIND(const REAL, tau);
  BIND(REAL, y);
  FOR_MY(part, parts) {
    const long i = part / columns, column = part - i * columns;
    REAL done[FACTOR_BLOCK];
    for (int step = 0; step < count; ++step) {
      const int r = transposed ? step : count - 1 - step;
      REAL value = y[(i * count + r) * columns + column];
      const long row = (i * count + r) * count;
      for (int k = 0; k < step; ++k) value -= inner[row + (transposed ? k : count - 1 - k)] * done[k];
      done[step] = value * tau[i * most + first + r];
      y[(i * count + r) * columns + column] = done[step];
    }
  }
}

// ---- A work group for each matrix

#define LANES const int lane = get_local_id(0), lanes = get_local_size(0)
#define EACH(k, from, to) for (int k = (from) + lane; k < (to); k += lanes)

// A block on the diagonal, `first` columns behind the matrix's corner; nothing where an earlier one failed.
__kernel void cholesky_block(BUFFER(REAL, a), BUFFER(int, info), const MatrixSteps steps, const int first,
                             const int count) {
  BIND(REAL, a);
  BIND(int, info);
  __local REAL block[FACTOR_BLOCK][FACTOR_BLOCK + 1];
  __local int failed;
  LANES;
  const long i = get_group_id(0);
  if (lane == 0) failed = info[i];
  EACH(r, 0, count) for (int c = 0; c <= r; ++c) block[r][c] = a[AT(steps, i, r, c)];
  for (int c = 0; c < count; ++c) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL corner = block[c][c];
    const bool fails = failed != 0 || !(corner > 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
      if (fails && failed == 0) failed = first + c + 1;
      if (!fails) block[c][c] = sqrt(corner);
    }
    if (!fails) EACH(r, c + 1, count) block[r][c] /= sqrt(corner);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!fails) EACH(r, c + 1, count) for (int k = c + 1; k <= r; ++k) block[r][k] -= block[r][c] * block[k][c];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  EACH(r, 0, count) for (int c = 0; c <= r; ++c) a[AT(steps, i, r, c)] = block[r][c];
  if (lane == 0) info[i] = failed;
}

// Columns first to end - 1, from row `first` on, by partial pivoting: the first of the largest.
__kernel void lu_panel(BUFFER(REAL, a), BUFFER(int, pivots), BUFFER(int, info), const MatrixSteps steps, const int rows,
                       const int most, const int first, const int end) {
  BIND(REAL, a);
  BIND(int, pivots);
  BIND(int, info);
  __local REAL largest[MAX_GROUP];
  __local int places[MAX_GROUP];
  LANES;
  const long i = get_group_id(0);
  for (int c = first; c < end; ++c) {
    REAL most_here = -1;
    int place = c;
    EACH(r, c, rows) {
      const REAL size = fabs(a[AT(steps, i, r, c)]);
      if (size > most_here) most_here = size, place = r;
    }
    largest[lane] = most_here;
    places[lane] = place;
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int other = lane + half_of;
      if (lane < half_of && (largest[other] > largest[lane] ||
                             (largest[other] == largest[lane] && places[other] < places[lane])))
        largest[lane] = largest[other], places[lane] = places[other];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int pivot_row = places[0];
    if (pivot_row != c)
      EACH(k, first, end) {
        const REAL kept = a[AT(steps, i, c, k)];
        a[AT(steps, i, c, k)] = a[AT(steps, i, pivot_row, k)];
        a[AT(steps, i, pivot_row, k)] = kept;
      }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const REAL pivot = a[AT(steps, i, c, c)];
    if (lane == 0) {
      pivots[i * most + c] = pivot_row + 1;
      if (pivot == 0 && info[i] == 0) info[i] = c + 1;
    }
    EACH(r, c + 1, rows) {
      const REAL factor = pivot == 0 ? a[AT(steps, i, r, c)] : a[AT(steps, i, r, c)] / pivot;
      a[AT(steps, i, r, c)] = factor;
      for (int k = c + 1; k < end; ++k) a[AT(steps, i, r, k)] -= factor * a[AT(steps, i, c, k)];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

inline REAL joined(__local REAL *parts, REAL mine, const int of_largest) {
  LANES;
  barrier(CLK_LOCAL_MEM_FENCE);
  parts[lane] = mine;
  for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_of)
      parts[lane] = of_largest ? fmax(parts[lane], parts[lane + half_of]) : parts[lane] + parts[lane + half_of];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return parts[0];
}

// Columns first to end - 1: their reflectors below the diagonal, and R from row `first` on.
__kernel void qr_panel(BUFFER(REAL, a), BUFFER(REAL, tau), const MatrixSteps steps, const int rows, const int most,
                       const int first, const int end) {
  BIND(REAL, a);
  BIND(REAL, tau);
  __local REAL parts[MAX_GROUP];
  LANES;
  const long i = get_group_id(0);
  for (int c = first; c < end; ++c) {
    const REAL corner = a[AT(steps, i, c, c)];
    REAL mine = 0;
    EACH(r, c + 1, rows) mine = fmax(mine, fabs(a[AT(steps, i, r, c)]));
    const REAL largest = joined(parts, mine, 1), scale = largest > 0 && isfinite(largest) ? largest : 1;
    mine = 0;
    EACH(r, c + 1, rows) {
      const REAL scaled = a[AT(steps, i, r, c)] / scale;
      mine += scaled * scaled;
    }
    const REAL below = joined(parts, mine, 0);  // the square of the length below, scaled; NaN too
    const bool reflects = below != 0;
    const REAL ending = reflects ? -copysign(hypot(corner, scale * sqrt(below)), corner) : corner;
    const REAL weight = reflects ? (ending - corner) / ending : 0, divisor = reflects ? corner - ending : 1;
    EACH(r, c + 1, rows) a[AT(steps, i, r, c)] /= divisor;
    if (lane == 0) {
      a[AT(steps, i, c, c)] = ending;
      tau[i * most + c] = weight;
    }
    for (int k = c + 1; k < end; ++k) {
      mine = lane == 0 ? a[AT(steps, i, c, k)] : 0;
      EACH(r, c + 1, rows) mine += a[AT(steps, i, r, c)] * a[AT(steps, i, r, k)];
      const REAL along = weight * joined(parts, mine, 0);
      if (lane == 0) a[AT(steps, i, c, k)] -= along;
      EACH(r, c + 1, rows) a[AT(steps, i, r, k)] -= along * a[AT(steps, i, r, c)];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
