// Winograd's F(4, 3) in one dimension: four results of a filter of three taps from six products, which are its values as
// polynomials at the points 0, A, -A, B, -B and infinity. With 3/4 and 3/2 every number in what is done to elements and
// results is a float32, and errors are a third of those of the points 1 and 2.
#define A ((REAL)0.75)
#define B ((REAL)1.5)
#define A2 ((REAL)0.5625)
#define B2 ((REAL)2.25)
// The filter's factors: 1 / the product of a point's distances from the others.
#define OF_0 ((REAL)(64.0 / 81))
#define OF_A ((REAL)(-128.0 / 243))
#define OF_B ((REAL)(32.0 / 243))

// Each reads from[0], from[step] … and writes to[0], to[1] ….
inline void elements_to_components(REAL *to, const REAL *from, const int step) {
  const REAL even_a = mad(-B2, from[2 * step], from[4 * step]), odd_a = A * mad(-B2, from[step], from[3 * step]);
  const REAL even_b = mad(-A2, from[2 * step], from[4 * step]), odd_b = B * mad(-A2, from[step], from[3 * step]);
  to[0] = mad(A2 * B2, from[0], mad(-(A2 + B2), from[2 * step], from[4 * step]));
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = mad(A2 * B2, from[step], mad(-(A2 + B2), from[3 * step], from[5 * step]));
}

inline void taps_to_components(REAL *to, const REAL *from, const int step) {
  const REAL even_a = mad(A2, from[2 * step], from[0]), even_b = mad(B2, from[2 * step], from[0]);
  to[0] = OF_0 * from[0];
  to[1] = OF_A * mad(A, from[step], even_a);
  to[2] = OF_A * mad(-A, from[step], even_a);
  to[3] = OF_B * mad(B, from[step], even_b);
  to[4] = OF_B * mad(-B, from[step], even_b);
  to[5] = from[2 * step];
}

inline void components_to_results(REAL *to, const REAL *from, const int step) {
  const REAL even_a = from[step] + from[2 * step], odd_a = A * (from[step] - from[2 * step]);
  const REAL even_b = from[3 * step] + from[4 * step], odd_b = B * (from[3 * step] - from[4 * step]);
  to[0] = from[0] + even_a + even_b;
  to[1] = odd_a + odd_b;
  to[2] = mad(A2, even_a, B2 * even_b);
  to[3] = mad(A2, odd_a, mad(B2, odd_b, from[5 * step]));
}

// The same backwards, for the gradient by the taps.

inline void results_to_components(REAL *to, const REAL *from, const int step) {
  const REAL even_a = mad(A2, from[2 * step], from[0]), odd_a = A * mad(A2, from[3 * step], from[step]);
  const REAL even_b = mad(B2, from[2 * step], from[0]), odd_b = B * mad(B2, from[3 * step], from[step]);
  to[0] = from[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = from[3 * step];
}

inline void components_to_taps(REAL *to, const REAL *from, const int step) {
  const REAL even_a = OF_A * (from[step] + from[2 * step]), odd_a = OF_A * A * (from[step] - from[2 * step]);
  const REAL even_b = OF_B * (from[3 * step] + from[4 * step]), odd_b = OF_B * B * (from[3 * step] - from[4 * step]);
  to[0] = mad(OF_0, from[0], even_a + even_b);
  to[1] = odd_a + odd_b;
  to[2] = mad(A2, even_a, mad(B2, even_b, from[5 * step]));
}
