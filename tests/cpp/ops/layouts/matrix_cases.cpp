#include <algorithm>

#include "tests/cpp/ops/layouts/cases.h"

// Products: matrices, convolutions, recurrent layers.
namespace testing_support {

using namespace dlprim;

namespace {

void draw_gemm(Draw& d) {
  const std::int64_t m = d.size_or_none(33), n = d.size_or_none(33), k = d.size_or_none(33);
  const bool batched = d.coin();
  const std::int64_t batches = batched ? d.size_or_none(3) : 1;
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return batched ? Dims{batches, rows, columns} : Dims{rows, columns};
  };
  const DType dtype = d.one_of({DType::float32, DType::float32, DType::float32, DType::int32});
  const Tensor *a = d.input("a", matrix(m, k), dtype), *b = d.input("b", matrix(k, n), dtype),
               *bias = d.coin() ? d.input("bias", {n}, dtype) : nullptr;
  const int beta = d.number(0, 1);
  const Tensor* c = beta ? d.updated("c", matrix(m, n), dtype) : d.output("c", matrix(m, n), dtype);
  d.calls([=](Queue& queue) { gemm(queue, *a, *b, *c, 2, beta, bias); });
}

/** A convolution that fits together. */
struct Convolution {
  explicit Convolution(Draw& d) {
    geometry.groups = d.number(0, 3) ? 1 : 2;
    const std::int64_t in = d.number(0, 3) ? d.size(8) : d.size_or_none(8), out = d.size(8) * geometry.groups;
    for (std::size_t i = 0; i < 2; ++i) {
      geometry.stride[i] = d.number(1, 2);
      geometry.padding[i] = d.number(0, 1);
      geometry.dilation[i] = d.number(1, 2);
    }
    const std::int64_t kernel = d.one_of({1, 3});
    x = {d.size_or_none(3), in * geometry.groups, d.size(8) + 4, d.size(17) + 4};
    weight = {out, in, kernel, d.coin() ? kernel : 1};
    y = conv2d_output_shape(x, weight, geometry);
  }
  Conv2dGeometry geometry;
  Dims x, weight, y;
};

void draw_conv2d_forward(Draw& d) {
  const Convolution c(d);
  const Tensor *x = d.input("x", c.x), *weight = d.input("weight", c.weight),
               *bias = d.coin() ? d.input("bias", {c.weight[0]}) : nullptr, *y = d.output("y", c.y);
  d.calls([=](Queue& queue) { conv2d_forward(queue, *x, *weight, bias, c.geometry, *y); });
}

void draw_conv2d_epilogue_forward(Draw& d) {
  const Convolution c(d);
  const Tensor *x = d.input("x", c.x), *weight = d.input("weight", c.weight),
               *bias = d.coin() ? d.input("bias", {c.weight[0]}) : nullptr, *y = d.output("y", c.y),
               *addend = d.coin() ? d.input("addend", c.y) : nullptr;
  const PointwiseOp* activation = d.coin() ? &pointwise_op("relu") : nullptr;
  d.calls([=](Queue& queue) {
    conv2d_epilogue_forward(queue, *x, *weight, bias, c.geometry, *y, MatmulPrecision::highest,
                            {addend, activation});
  });
}

void draw_conv2d_backward_data(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *weight = d.input("weight", c.weight), *dx = d.output("dx", c.x);
  d.calls([=](Queue& queue) { conv2d_backward_data(queue, *dy, *weight, c.geometry, *dx); });
}

void draw_conv2d_backward_weight(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *x = d.input("x", c.x), *dw = d.output("dw", c.weight);
  d.calls([=](Queue& queue) { conv2d_backward_weight(queue, *dy, *x, c.geometry, *dw); });
}

void draw_conv2d_backward_bias(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *db = d.output("db", {c.y[1]});
  d.calls([=](Queue& queue) { conv2d_backward_bias(queue, *dy, *db); });
}

/** Shapes of a linear layer. */
struct Linear {
  explicit Linear(Draw& d) : rows(d.size_or_none(33)), in(d.size_or_none(33)), out(d.size_or_none(33)) {}
  std::int64_t rows, in, out;
  Dims x{rows, in}, weight{out, in}, y{rows, out};
};

void draw_linear_forward(Draw& d) {
  const Linear l(d);
  const Tensor *x = d.input("x", l.x), *weight = d.input("weight", l.weight),
               *bias = d.coin() ? d.input("bias", {l.out}) : nullptr, *y = d.output("y", l.y);
  d.calls([=](Queue& queue) { linear_forward(queue, *x, *weight, bias, *y); });
}

void draw_linear_backward_data(Draw& d) {
  const Linear l(d);
  const Tensor *dy = d.input("dy", l.y), *weight = d.input("weight", l.weight), *dx = d.output("dx", l.x);
  d.calls([=](Queue& queue) { linear_backward_data(queue, *dy, *weight, *dx); });
}

void draw_linear_backward_weight(Draw& d) {
  const Linear l(d);
  const Tensor *dy = d.input("dy", l.y), *x = d.input("x", l.x), *dw = d.output("dw", l.weight);
  d.calls([=](Queue& queue) { linear_backward_weight(queue, *dy, *x, *dw); });
}

void draw_linear_backward_bias(Draw& d) {
  const Linear l(d);
  const Tensor *dy = d.input("dy", l.y), *db = d.output("db", {l.out});
  d.calls([=](Queue& queue) { linear_backward_bias(queue, *dy, *db); });
}

/** A linear layer whose weight is kept in 8 bits, or in 4. */
struct Quantized {
  explicit Quantized(Draw& d) : rows(d.size_or_none(11)), out(d.size_or_none(33)), dtype(d.floating()) {
    const DType of_scales = d.floating();
    if (d.coin()) {
      in = d.size_or_none(40);
      weight = d.operand("weight", Role::input, DType::int8, {out, in}, d.whole(-127, 127));
      scales = d.input("scales", {out}, of_scales);
      return;
    }
    const std::int64_t group = d.one_of({32, 64, 128, 256}), groups = d.number(0, 2);
    in = group * groups;
    weight = d.operand("weight", Role::input, DType::uint8, {out, in / 2}, d.whole(0, 255));
    scales = d.input("scales", {out, groups}, of_scales);
    zeros = d.input("zeros", {out, groups}, of_scales);
  }
  std::int64_t rows, out, in;
  DType dtype;
  const Tensor *weight, *scales, *zeros = nullptr;
};

void draw_quantized_linear_forward(Draw& d) {
  const Quantized l(d);
  const Tensor *x = d.input("x", {l.rows, l.in}, l.dtype),
               *bias = d.coin() ? d.input("bias", {l.out}, l.dtype) : nullptr,
               *y = d.output("y", {l.rows, l.out}, l.dtype);
  d.calls(
      [=](Queue& queue) { quantized_linear_forward(queue, *x, *l.weight, *l.scales, l.zeros, bias, *y); });
}

void draw_quantized_linear_backward_data(Draw& d) {
  const Quantized l(d);
  const Tensor *dy = d.input("dy", {l.rows, l.out}, l.dtype), *dx = d.output("dx", {l.rows, l.in}, l.dtype);
  d.calls(
      [=](Queue& queue) { quantized_linear_backward_data(queue, *dy, *l.weight, *l.scales, l.zeros, *dx); });
}

void draw_dequantize_weight(Draw& d) {
  const Quantized l(d);
  const Tensor* result = d.output("result", {l.out, l.in}, l.dtype);
  d.calls([=](Queue& queue) { dequantize_weight(queue, *l.weight, *l.scales, l.zeros, *result); });
}

/** A recurrent layer over sequences of two lengths. */
struct Recurrent {
  explicit Recurrent(Draw& d)
      : cell(d.one_of({RnnCell::tanh, RnnCell::lstm, RnnCell::gru})),
        is_reverse(d.coin()),
        units(d.size(17)),
        gates(gates_of(cell) * units),
        batch(d.size(3)),
        steps({batch + 1, batch, batch}) {
    const std::int64_t inputs = d.size(17);
    state = {batch + 1, units};
    if (cell == RnnCell::lstm && d.coin()) projection = state[1] = d.size(8);
    output = {steps.rows(), state[1]};
    x_shape = {steps.rows(), inputs};
    x = d.input("x", x_shape);
    w_ih = d.input("w_ih", {gates, inputs}, d.between(-0.5, 0.5));
    w_hh = d.input("w_hh", {gates, state[1]}, d.between(-0.5, 0.5));
    const bool has_bias = d.coin();
    b_ih = has_bias ? d.input("b_ih", {gates}) : nullptr;
    b_hh = has_bias ? d.input("b_hh", {gates}) : nullptr;
    w_hr = projection ? d.input("w_hr", {projection, units}) : nullptr;
  }

  static Tensor now(const Tensor* t) { return t ? *t : Tensor{}; }
  RnnLayer layer() const { return {cell, is_reverse, *w_ih, *w_hh, now(b_ih), now(b_hh), now(w_hr)}; }
  bool has_cells() const { return cell == RnnCell::lstm; }

  RnnCell cell;
  bool is_reverse;
  std::int64_t units, gates, batch, projection = 0;
  RnnSteps steps;
  Dims state, output, x_shape;
  const Tensor *x, *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
};

void draw_rnn_forward(Draw& d) {
  const Recurrent r(d);
  const Dims cells{r.state[0], r.units};
  const Tensor *h = d.input("h", r.state), *c = r.has_cells() ? d.input("c", cells) : nullptr,
               *output = d.output("output", r.output), *last_h = d.output("last_h", r.state),
               *last_c = r.has_cells() ? d.output("last_c", cells) : nullptr;
  d.calls([=, &d](Queue& queue) {
    const RnnSaved saved = empty_saved(queue.device(), r.layer(), r.steps);
    rnn_forward(queue, r.layer(), r.steps, *r.x, {*h, r.now(c)}, *output, {*last_h, r.now(last_c)}, saved);
    for (const Tensor* t : {&saved.gates, &saved.h_prev, &saved.c_prev, &saved.hidden_n, &saved.raw})
      if (t->defined()) d.returned(*t);
  });
}

void draw_rnn_backward(Draw& d) {
  const Recurrent r(d);
  const Dims cells{r.state[0], r.units}, all_cells{r.output[0], r.units};
  const auto saved = [&](bool has, const char* name, const Dims& shape) {
    return has ? d.input(name, shape, d.between(0.125, 0.875)) : nullptr;
  };
  const Tensor *gates = saved(true, "gates", {r.output[0], r.gates}),
               *h_prev = saved(true, "h_prev", r.output), *c_prev = saved(r.has_cells(), "c_prev", all_cells),
               *hidden_n = saved(r.cell == RnnCell::gru, "hidden_n", all_cells),
               *raw = saved(r.projection != 0, "raw", all_cells);
  const Tensor *dy = d.input("dy", r.output), *last_h = d.input("last_h", r.state),
               *last_c = r.has_cells() ? d.input("last_c", cells) : nullptr;
  const bool adds_dx = d.coin();
  const Tensor* dx = adds_dx ? d.updated("dx", r.x_shape) : d.output("dx", r.x_shape);
  const auto gradient = [&](const char* name, const Tensor* of) {
    return of ? d.output(name, d.plain(of).shape) : nullptr;
  };
  const Tensor *dw_ih = gradient("dw_ih", r.w_ih), *dw_hh = gradient("dw_hh", r.w_hh),
               *db_ih = gradient("db_ih", r.b_ih), *db_hh = gradient("db_hh", r.b_hh),
               *dw_hr = gradient("dw_hr", r.w_hr), *dh = d.output("dh", r.state),
               *dc = r.has_cells() ? d.output("dc", cells) : nullptr;
  d.calls([=](Queue& queue) {
    const auto now = r.now;
    rnn_backward(queue, r.layer(), r.steps, *r.x, {*gates, *h_prev, now(c_prev), now(hidden_n), now(raw)},
                 *dy, {*last_h, now(last_c)},
                 {*dx, adds_dx, *dw_ih, *dw_hh, now(db_ih), now(db_hh), now(dw_hr), {*dh, now(dc)}});
  });
}

/** A batch of matrices that have factors. */
struct Matrices {
  explicit Matrices(Draw& d) : batch(d.size_or_none(3)), n(d.size_or_none(40)), columns(d.size_or_none(40)) {}

  /** Elements of square matrices whose diagonals outweigh the rest. */
  Values with_large_diagonals() const {
    return [n = n, i = std::int64_t{0}]() mutable {
      const std::int64_t row = i / n % n, column = i % n;
      ++i;
      return row == column ? static_cast<double>(n + 1) : static_cast<double>((row * column) % 5) / 8;
    };
  }
  std::int64_t batch, n, columns;
};

void draw_solve_triangular(Draw& d) {
  const Matrices m(d);
  const Tensor *a = d.input("a", {m.batch, m.n, m.n}, m.with_large_diagonals()),
               *b = d.updated("b", {m.batch, m.n, m.columns});
  const bool upper = d.coin(), unitriangular = false;
  d.calls([=](Queue& queue) { solve_triangular(queue, *a, upper, unitriangular, *b); });
}

void draw_cholesky(Draw& d) {
  const Matrices m(d);
  const Tensor *a = d.operand("a", Role::updated, DType::float32, {m.batch, m.n, m.n},
                              m.with_large_diagonals()),
               *info = d.output("info", {m.batch}, DType::int32);
  d.calls([=](Queue& queue) { cholesky(queue, *a, *info); });
}

void draw_lu_factor(Draw& d) {
  const Matrices m(d);
  const Tensor *a = d.updated("a", {m.batch, m.n, m.columns}),
               *pivots = d.output("pivots", {m.batch, std::min(m.n, m.columns)}, DType::int32),
               *info = d.output("info", {m.batch}, DType::int32);
  d.calls([=](Queue& queue) { lu_factor(queue, *a, *pivots, *info); });
}

void draw_swap_rows(Draw& d) {
  const Matrices m(d);
  const Tensor *pivots = d.operand("pivots", Role::input, DType::int32, {m.batch, m.n}, d.whole(1, m.n)),
               *a = d.updated("a", {m.batch, m.n, m.columns});
  const bool backwards = d.coin();
  d.calls([=](Queue& queue) { swap_rows(queue, *pivots, backwards, *a); });
}

void draw_cross(Draw& d) {
  const Dims shape{d.size_or_none(17), 3, d.size_or_none(5)};
  const DType dtype = d.one_of({DType::float32, DType::float16, DType::int64, DType::uint8});
  const auto numbers = [&](const char* name) {
    return d.operand(name, Role::input, dtype, shape, d.whole(0, 9));
  };
  const Tensor *a = numbers("a"), *b = numbers("b"), *y = d.output("y", shape, dtype);
  d.calls([=](Queue& queue) { cross(queue, *a, *b, *y); });
}

void draw_qr_factor(Draw& d) {
  const Matrices m(d);
  const Tensor *a = d.updated("a", {m.batch, m.n, m.columns}),
               *tau = d.output("tau", {m.batch, std::min(m.n, m.columns)});
  d.calls([=](Queue& queue) { qr_factor(queue, *a, *tau); });
}

void draw_apply_reflectors(Draw& d) {
  const Matrices m(d);
  const Tensor *a = d.input("a", {m.batch, m.n, m.n}, d.between(-0.25, 0.25)),
               *tau = d.input("tau", {m.batch, m.n}, d.between(0, 0.5)),
               *c = d.updated("c", {m.batch, m.n, m.columns});
  const bool transposed = d.coin();
  d.calls([=](Queue& queue) { apply_reflectors(queue, *a, *tau, transposed, *c); });
}

}  // namespace

LayoutCases matrix_cases() {
  return {{"gemm", draw_gemm},
          {"conv2d_forward", draw_conv2d_forward},
          {"conv2d_epilogue_forward", draw_conv2d_epilogue_forward},
          {"conv2d_backward_data", draw_conv2d_backward_data},
          {"conv2d_backward_weight", draw_conv2d_backward_weight},
          {"conv2d_backward_bias", draw_conv2d_backward_bias},
          {"linear_forward", draw_linear_forward},
          {"linear_backward_data", draw_linear_backward_data},
          {"linear_backward_weight", draw_linear_backward_weight},
          {"linear_backward_bias", draw_linear_backward_bias},
          {"quantized_linear_forward", draw_quantized_linear_forward},
          {"quantized_linear_backward_data", draw_quantized_linear_backward_data},
          {"dequantize_weight", draw_dequantize_weight},
          {"rnn_forward", draw_rnn_forward},
          {"rnn_backward", draw_rnn_backward},
          {"solve_triangular", draw_solve_triangular},
          {"cholesky", draw_cholesky},
          {"lu_factor", draw_lu_factor},
          {"cross", draw_cross},
          {"swap_rows", draw_swap_rows},
          {"qr_factor", draw_qr_factor},
          {"apply_reflectors", draw_apply_reflectors}};
}

}  // namespace testing_support
