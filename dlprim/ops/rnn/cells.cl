// The work of recurrent layers' cells on one element of a step, forward and backward: after the products with the
// weights, before those of the next step. Include it after core/common.cl (and core/vectors.cl on a CPU).
//   CELL         CELL_TANH, CELL_RELU, CELL_LSTM, CELL_GRU, or CELL_COPY: the product is the state, as in a projection
//   V            sixteen neighbouring units on a CPU, one otherwise
//   GET, PUT     `lanes` of them from and to a tensor; GET_REAL, PUT_REAL likewise in rows that are padded to whole V
#include "ops/rnn/rnn_shared.h"

#if CELL == CELL_LSTM
#define GATES 4
#elif CELL == CELL_GRU
#define GATES 3
#else
#define GATES 1
#endif

#if SHAPE_CPU
#define WIDTH CELL_VECTOR
typedef REAL16 V;
#define GET(p, at) (lanes == 16 ? LOAD16(p, at) : LOAD_UP_TO16(p, at, lanes, (REAL)0))
#define PUT(p, at, v)        \
  if (lanes == 16)           \
    STORE16(p, at, v);       \
  else                       \
    STORE_UP_TO16(p, at, lanes, v)
#define GET_REAL(p, at) vload16(0, (p) + (at))
#define PUT_REAL(p, at, v) vstore16(v, 0, (p) + (at))
#else
#define WIDTH 1
typedef REAL V;
#define GET(p, at) LOAD(p, at)
#define PUT(p, at, v) STORE(p, at, v)
#define GET_REAL(p, at) ((p)[at])
#define PUT_REAL(p, at, v) (p)[at] = (v)
#endif

#define OPTIONAL(name) (name##_buffer ? name##_buffer + name##_start : 0)

// No overflow on either side: the exponential is only ever taken of a negative number.
inline V sigmoid(V a) {
  const V e = exp(-fabs(a));
  return (a < 0 ? e : (V)(1)) / (1 + e);
}

#if SHAPE_CPU && REAL_IS_FLOAT
// tanh of a vector is a call for each lane on PoCL. The polynomial is that of Cephes' tanhf; beyond it 1 is taken from,
// so that what rounds is the small part.
inline V hyperbolic_tangent(V a) {
  const V e = exp(-2 * fabs(a)), b = a * a;
  const V slope = (((-5.70498872745e-3f * b + 2.06390887954e-2f) * b - 5.37397155531e-2f) * b + 1.33314422036e-1f) * b -
                  3.33332819422e-1f;
  return fabs(a) < 0.625f ? a + slope * b * a : copysign(1 - 2 * e / (1 + e), a);
}
#else
inline V hyperbolic_tangent(V a) { return tanh(a); }
#endif

// ---- forward

typedef struct {
  __global STORAGE *gates;                   // [rows, GATES, units]: products with the input, activated on return
  const __global STORAGE *x_bias, *h_bias;   // of the products with input and states: [GATES, units] or none
  const __global STORAGE *h, *c;             // the states before the step
  __global STORAGE *hidden_n;                // GRU: the new gate's product with the state
  __global STORAGE *out, *h_next, *h_end;    // where h goes: always; of rows that go on (or none); of rows that end
  __global STORAGE *c_next, *c_end;
} forward_t;

#define GATE(g) (at + (long)(g)*s.units)

// `product`: of the states before the step with the recurrent weights, one a gate.
inline void step_forward(const forward_t a, const RnnStepSizes s, const int row, const int unit, const int lanes,
                         const V *product) {
  const long at = (long)row * GATES * s.units + unit, own = (long)row * s.units + unit;
  const bool goes_on = row < s.next_rows;
  V recurrent[GATES], h;
#pragma unroll
  for (int g = 0; g < GATES; ++g) {
    recurrent[g] = product[g];
    if (a.h_bias) recurrent[g] += GET(a.h_bias, g * s.units + unit);
  }
#if CELL == CELL_COPY
  h = recurrent[0];
#else
  V from_x[GATES];
#pragma unroll
  for (int g = 0; g < GATES; ++g) {
    from_x[g] = GET(a.gates, GATE(g));
    if (a.x_bias) from_x[g] += GET(a.x_bias, g * s.units + unit);
  }
#endif
#if CELL == CELL_TANH || CELL == CELL_RELU
  const V sum = from_x[0] + recurrent[0];
#if CELL == CELL_TANH
  h = hyperbolic_tangent(sum);
#else
  h = sum <= 0 ? (V)(0) : sum;
#endif
  PUT(a.gates, at, h);
#elif CELL == CELL_LSTM
  const V i = sigmoid(from_x[0] + recurrent[0]), f = sigmoid(from_x[1] + recurrent[1]);
  const V g = hyperbolic_tangent(from_x[2] + recurrent[2]);
  const V o = sigmoid(from_x[3] + recurrent[3]);
  const V c = f * GET(a.c, own) + i * g;
  h = o * hyperbolic_tangent(c);
  PUT(a.gates, GATE(0), i);
  PUT(a.gates, GATE(1), f);
  PUT(a.gates, GATE(2), g);
  PUT(a.gates, GATE(3), o);
  PUT(goes_on ? a.c_next : a.c_end, own, c);
#elif CELL == CELL_GRU
  const V r = sigmoid(from_x[0] + recurrent[0]), z = sigmoid(from_x[1] + recurrent[1]);
  const V n = hyperbolic_tangent(from_x[2] + r * recurrent[2]);
  h = n + z * (GET(a.h, own) - n);
  PUT(a.gates, GATE(0), r);
  PUT(a.gates, GATE(1), z);
  PUT(a.gates, GATE(2), n);
  PUT(a.hidden_n, own, recurrent[2]);
#endif
  PUT(a.out, (long)row * s.out_row + unit, h);
  if (a.h_next) {
    PUT(goes_on ? a.h_next : a.h_end, own, h);
  }
}

// ---- backward

typedef struct {
  const __global STORAGE *gates, *h, *c, *hidden_n;  // as forward left and found them
  const __global STORAGE *dy, *dh_end, *dc_end;      // gradients of out, h_end and c_end, or none
  __global REAL *carry;                              // LSTM: of c, GRU: of h past the gates; from step to step
  __global STORAGE *dx_gates, *dh_gates;             // of the products with the input; GRU: with the state
  __global STORAGE *dh_start, *dc_start;             // of the states where a row begins, or none
} backward_t;

// `product`: of the next step's gradients with the recurrent weights, for rows that it had. Rows beyond the step's own
// began in the next one.
inline void step_backward(const backward_t a, const RnnStepSizes s, const int row, const int unit, const int lanes,
                          const V product, const bool has_product) {
  const long at = (long)row * GATES * s.units + unit, own = (long)row * s.units + unit;
  const long carried = (long)row * s.carry_row + unit;
  const bool went_on = row < s.next_rows;
  V dh = has_product ? product : a.dh_end ? GET(a.dh_end, own) : (V)(0);
#if CELL == CELL_GRU
  if (went_on) dh += GET_REAL(a.carry, carried);
#endif
  if (row >= s.rows) {
    if (a.dh_start) {
      PUT(a.dh_start, own, dh);
    }
#if CELL == CELL_LSTM
    if (a.dc_start) {
      PUT(a.dc_start, own, GET_REAL(a.carry, carried));
    }
#endif
    return;
  }
  if (a.dy) dh += GET(a.dy, (long)row * s.out_row + unit);
#if CELL == CELL_COPY
  PUT(a.dx_gates, at, dh);
#elif CELL == CELL_TANH
  const V y = GET(a.gates, at);
  PUT(a.dx_gates, at, dh * (1 - y * y));
#elif CELL == CELL_RELU
  PUT(a.dx_gates, at, GET(a.gates, at) <= 0 ? (V)(0) : dh);
#elif CELL == CELL_LSTM
  const V i = GET(a.gates, GATE(0)), f = GET(a.gates, GATE(1)), g = GET(a.gates, GATE(2)), o = GET(a.gates, GATE(3));
  const V c = GET(a.c, own), t = hyperbolic_tangent(f * c + i * g);
  V dc = dh * o * (1 - t * t);
  if (went_on)
    dc += GET_REAL(a.carry, carried);
  else if (a.dc_end)
    dc += GET(a.dc_end, own);
  PUT(a.dx_gates, GATE(0), dc * g * i * (1 - i));
  PUT(a.dx_gates, GATE(1), dc * c * f * (1 - f));
  PUT(a.dx_gates, GATE(2), dc * i * (1 - g * g));
  PUT(a.dx_gates, GATE(3), dh * t * o * (1 - o));
  PUT_REAL(a.carry, carried, dc * f);
#else
  const V r = GET(a.gates, GATE(0)), z = GET(a.gates, GATE(1)), n = GET(a.gates, GATE(2));
  const V dn = dh * (1 - z) * (1 - n * n), dz = dh * (GET(a.h, own) - n) * z * (1 - z);
  const V dr = dn * GET(a.hidden_n, own) * r * (1 - r);
  PUT(a.dx_gates, GATE(0), dr);
  PUT(a.dx_gates, GATE(1), dz);
  PUT(a.dx_gates, GATE(2), dn);
  PUT(a.dh_gates, GATE(0), dr);
  PUT(a.dh_gates, GATE(1), dz);
  PUT(a.dh_gates, GATE(2), dn * r);
  PUT_REAL(a.carry, carried, dh * z);
#endif
}
