// Winograd's F(4, 3) in one dimension: four results of a filter of three taps from six products, which are its values
// as polynomials at the points 0, A, -A, B, -B and infinity. With 3/4 and 3/2 every number in what is done to elements
// and results is a float32, and errors are a third of those of the points 1 and 2. NUMBER: what is computed with, a
// REAL or a vector of them.
#include "core/multiply_add.cl"
#ifndef NUMBER
#define NUMBER REAL
#define INLINE inline
#endif
#define A ((NUMBER)(REAL)0.75)
#define B ((NUMBER)(REAL)1.5)
#define A2 ((NUMBER)(REAL)0.5625)
#define B2 ((NUMBER)(REAL)2.25)
// The filter's factors: 1 / the product of a point's distances from the others.
#define OF_0 ((NUMBER)(REAL)(64.0 / 81))
#define OF_A ((NUMBER)(REAL)(-128.0 / 243))
#define OF_B ((NUMBER)(REAL)(32.0 / 243))

// Each reads from[0], from[step] … and writes to[0], to[1] ….
INLINE void elements_to_components(NUMBER *to, const NUMBER *from, const int step) {
  const NUMBER even_a = MAD(-B2, from[2 * step], from[4 * step]), odd_a = A * MAD(-B2, from[step], from[3 * step]);
  const NUMBER even_b = MAD(-A2, from[2 * step], from[4 * step]), odd_b = B * MAD(-A2, from[step], from[3 * step]);
  to[0] = MAD(A2 * B2, from[0], MAD(-(A2 + B2), from[2 * step], from[4 * step]));
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = MAD(A2 * B2, from[step], MAD(-(A2 + B2), from[3 * step], from[5 * step]));
}

INLINE void taps_to_components(NUMBER *to, const NUMBER *from, const int step) {
  const NUMBER even_a = MAD(A2, from[2 * step], from[0]), even_b = MAD(B2, from[2 * step], from[0]);
  to[0] = OF_0 * from[0];
  to[1] = OF_A * MAD(A, from[step], even_a);
  to[2] = OF_A * MAD(-A, from[step], even_a);
  to[3] = OF_B * MAD(B, from[step], even_b);
  to[4] = OF_B * MAD(-B, from[step], even_b);
  to[5] = from[2 * step];
}

INLINE void components_to_results(NUMBER *to, const NUMBER *from, const int step) {
  const NUMBER even_a = from[step] + from[2 * step], odd_a = A * (from[step] - from[2 * step]);
  const NUMBER even_b = from[3 * step] + from[4 * step], odd_b = B * (from[3 * step] - from[4 * step]);
  to[0] = from[0] + even_a + even_b;
  to[1] = odd_a + odd_b;
  to[2] = MAD(A2, even_a, B2 * even_b);
  to[3] = MAD(A2, odd_a, MAD(B2, odd_b, from[5 * step]));
}

// The transform backwards, for the gradient by the taps.

INLINE void results_to_components(NUMBER *to, const NUMBER *from, const int step) {
  const NUMBER even_a = MAD(A2, from[2 * step], from[0]), odd_a = A * MAD(A2, from[3 * step], from[step]);
  const NUMBER even_b = MAD(B2, from[2 * step], from[0]), odd_b = B * MAD(B2, from[3 * step], from[step]);
  to[0] = from[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = from[3 * step];
}

INLINE void components_to_taps(NUMBER *to, const NUMBER *from, const int step) {
  const NUMBER even_a = OF_A * (from[step] + from[2 * step]), odd_a = OF_A * A * (from[step] - from[2 * step]);
  const NUMBER even_b = OF_B * (from[3 * step] + from[4 * step]), odd_b = OF_B * B * (from[3 * step] - from[4 * step]);
  to[0] = MAD(OF_0, from[0], even_a + even_b);
  to[1] = odd_a + odd_b;
  to[2] = MAD(A2, even_a, MAD(B2, even_b, from[5 * step]));
}
