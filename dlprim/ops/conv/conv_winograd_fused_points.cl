// Winograd's F(2, 3) in one dimension: two results of a filter of three taps from four products, its values as
// polynomials at the points 0, 1, -1 and infinity, whose numbers are exact. Each reads from[0], from[step] … and writes
// to[0], to[1] ….

inline void elements_to_components(REAL *to, const REAL *from, const int step) {
  to[0] = from[0] - from[2 * step];
  to[1] = from[step] + from[2 * step];
  to[2] = from[2 * step] - from[step];
  to[3] = from[3 * step] - from[step];
}

inline void taps_to_components(REAL *to, const REAL *from, const int step) {
  const REAL even = from[0] + from[2 * step];
  to[0] = from[0];
  to[1] = (REAL)0.5 * (even + from[step]);
  to[2] = (REAL)0.5 * (even - from[step]);
  to[3] = from[2 * step];
}

inline void components_to_results(REAL *to, const REAL *from, const int step) {
  to[0] = from[0] + (from[step] + from[2 * step]);
  to[1] = (from[step] - from[2 * step]) + from[3 * step];
}

// The transform backwards, for the gradient by the taps.

inline void results_to_components(REAL *to, const REAL *from, const int step) {
  to[0] = from[0];
  to[1] = from[0] + from[step];
  to[2] = from[0] - from[step];
  to[3] = from[step];
}

inline void components_to_taps(REAL *to, const REAL *from, const int step) {
  const REAL sum = (REAL)0.5 * (from[step] + from[2 * step]), difference = (REAL)0.5 * (from[step] - from[2 * step]);
  to[0] = from[0] + sum;
  to[1] = difference;
  to[2] = sum + from[3 * step];
}
