#include <cmath>

#include "dlprim/ops/rnn/rnn.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr std::int64_t inputs = 3, units = 17;
const std::vector<std::int64_t> sizes{4, 3, 3, 1};  // of the steps: ragged

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/** Rows of weights times a vector, and a bias. */
Doubles affine(const Floats& weight, const Floats& bias, const Doubles& x) {
  Doubles result;
  for (std::size_t row = 0; row < bias.size(); ++row) {
    double sum = bias[row];
    for (std::size_t k = 0; k < x.size(); ++k) sum += weight[row * x.size() + k] * x[k];
    result.push_back(sum);
  }
  return result;
}

/** The values of one layer, and what it computes, in double precision. */
struct Problem {
  explicit Problem(RnnCell which)
      : cell(which),
        gates(gates_of(which)),
        w_ih(random_floats(gates * units * inputs, 1)),
        w_hh(random_floats(gates * units * units, 2)),
        b_ih(random_floats(gates * units, 3)),
        b_hh(random_floats(gates * units, 4)),
        x(random_floats(11 * inputs, 5)),
        h0(random_floats(sizes[0] * units, 6)),
        c0(random_floats(sizes[0] * units, 7)) {
    for (Floats* weight : {&w_ih, &w_hh})
      for (float& value : *weight) value *= 0.3f;
  }

  /** h and c after a step of one sequence. */
  void step(const Doubles& input, Doubles& h, Doubles& c) const {
    const Doubles from_x = affine(w_ih, b_ih, input), from_h = affine(w_hh, b_hh, h);
    const auto sum = [&](std::size_t gate, std::size_t u) {
      const std::size_t at = gate * units + u;
      return from_x[at] + from_h[at];
    };
    for (std::size_t u = 0; u < units; ++u) {
      if (cell == RnnCell::lstm) {
        c[u] = sigmoid(sum(1, u)) * c[u] + sigmoid(sum(0, u)) * std::tanh(sum(2, u));
        h[u] = sigmoid(sum(3, u)) * std::tanh(c[u]);
      } else {
        const double reset = sigmoid(sum(0, u)), update = sigmoid(sum(1, u));
        const double fresh = std::tanh(from_x[2 * units + u] + reset * from_h[2 * units + u]);
        h[u] = (1 - update) * fresh + update * h[u];
      }
    }
  }

  /** The sum of all outputs times `factors` plus that of the last states, in either direction. */
  double loss(bool is_reverse, const Floats& factors, Doubles* output = nullptr) const {
    const RnnSteps steps(sizes);
    double total = 0;
    if (output) output->assign(static_cast<std::size_t>(steps.rows() * units), 0);
    for (std::int64_t i = 0; i < sizes[0]; ++i) {
      const auto row = [&](const Floats& values) {
        const auto first = values.begin() + i * units;
        return Doubles(first, first + units);
      };
      Doubles h = row(h0), c = row(c0);
      for (int n = 0; n < steps.count(); ++n) {
        const int t = is_reverse ? steps.count() - 1 - n : n;
        if (steps.size(t) <= i) continue;
        const std::int64_t at = steps.start(t) + i;
        step(Doubles(x.begin() + at * inputs, x.begin() + (at + 1) * inputs), h, c);
        for (std::int64_t u = 0; u < units; ++u) {
          const auto place = static_cast<std::size_t>(at * units + u);
          total += h[static_cast<std::size_t>(u)] * factors[place];
          if (output) (*output)[place] = h[static_cast<std::size_t>(u)];
        }
      }
      for (const double value : h) total += value;
      if (cell == RnnCell::lstm)
        for (const double value : c) total += value;
    }
    return total;
  }

  /** d loss / d values[at], by central differences. */
  double slope(Floats Problem::* values, std::size_t at, bool is_reverse, const Floats& factors) const {
    constexpr float step = 1.0f / 64;
    Problem more = *this, less = *this;
    (more.*values)[at] += step;
    (less.*values)[at] -= step;
    const double width = static_cast<double>((more.*values)[at]) - (less.*values)[at];
    return (more.loss(is_reverse, factors) - less.loss(is_reverse, factors)) / width;
  }

  RnnCell cell;
  std::int64_t gates;
  Floats w_ih, w_hh, b_ih, b_hh, x, h0, c0;
};

Tensor like(const Tensor& t) {
  return Tensor::empty(device(), t.shape, t.dtype);
}

void check(RnnCell cell, bool is_reverse) {
  const Problem problem(cell);
  const RnnSteps steps(sizes);
  const bool is_lstm = cell == RnnCell::lstm;
  const std::int64_t gate_rows = problem.gates * units;
  RnnLayer layer{cell,
                 is_reverse,
                 upload(problem.w_ih, {gate_rows, inputs}),
                 upload(problem.w_hh, {gate_rows, units}),
                 upload(problem.b_ih, {gate_rows}),
                 upload(problem.b_hh, {gate_rows}),
                 {}};
  const Tensor x = upload(problem.x, {steps.rows(), inputs});
  RnnState first{upload(problem.h0, {sizes[0], units}), {}}, last{like(first.h), {}};
  if (is_lstm) {
    first.c = upload(problem.c0, {sizes[0], units});
    last.c = like(first.c);
  }
  Queue& queue = device().queue();
  const Tensor output = Tensor::empty(device(), {steps.rows(), units});
  const RnnSaved saved = empty_saved(device(), layer, steps);
  rnn_forward(queue, layer, steps, x, first, output, last, saved);
  const Floats factors = random_floats(steps.rows() * units, 8);
  Doubles expected;
  problem.loss(is_reverse, factors, &expected);
  expect_close(
      Doubles(expected),
      [&] {
        const Floats values = download<float>(output);
        return Doubles(values.begin(), values.end());
      }(),
      1e-5, 1e-5);

  const Tensor ones = upload(Floats(static_cast<std::size_t>(sizes[0] * units), 1.0f), {sizes[0], units});
  RnnGradients gradients;
  gradients.dx = like(x);
  gradients.w_ih = like(layer.w_ih);
  gradients.w_hh = like(layer.w_hh);
  gradients.b_ih = like(layer.b_ih);
  gradients.b_hh = like(layer.b_hh);
  gradients.first = {like(first.h), is_lstm ? like(first.c) : Tensor()};
  rnn_backward(queue, layer, steps, x, saved, upload(factors, {steps.rows(), units}),
               {ones, is_lstm ? ones : Tensor()}, gradients);
  const auto expect_slopes = [&](const char* what, const Tensor& gradient, Floats Problem::* values) {
    SCOPED_TRACE(what);
    const Floats actual = download<float>(gradient);
    for (std::size_t at = 0; at < actual.size(); at += 1 + actual.size() / 7)
      EXPECT_NEAR(actual[at], problem.slope(values, at, is_reverse, factors), 3e-3) << "element " << at;
  };
  expect_slopes("x", gradients.dx, &Problem::x);
  expect_slopes("w_ih", gradients.w_ih, &Problem::w_ih);
  expect_slopes("w_hh", gradients.w_hh, &Problem::w_hh);
  expect_slopes("b_ih", gradients.b_ih, &Problem::b_ih);
  expect_slopes("b_hh", gradients.b_hh, &Problem::b_hh);
  expect_slopes("h0", gradients.first.h, &Problem::h0);
  if (is_lstm) expect_slopes("c0", gradients.first.c, &Problem::c0);
}

}  // namespace

TEST(Rnn, LstmIsThatOfAPlainReference) {
  check(RnnCell::lstm, false);
  check(RnnCell::lstm, true);
}

TEST(Rnn, GruIsThatOfAPlainReference) {
  check(RnnCell::gru, false);
  check(RnnCell::gru, true);
}

TEST(Rnn, StepsDoNotGrow) {
  EXPECT_THROW(RnnSteps(std::vector<std::int64_t>{2, 3}), ValueError);
  EXPECT_THROW(RnnSteps(std::vector<std::int64_t>{}), ValueError);
  EXPECT_EQ(RnnSteps(sizes).rows(), 11);
}
