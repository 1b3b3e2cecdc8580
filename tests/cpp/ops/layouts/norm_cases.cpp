#include "tests/cpp/ops/layouts/cases.h"

namespace testing_support {

using namespace dlprim;

namespace {

/** A batch for batch_norm. In training every channel has some values. */
struct Batch {
  Batch(Draw& d, bool training) : x_shape{d.size(8) + 1, d.size_or_none(17)}, channels{x_shape[1]} {
    for (int more = d.number(0, 2); more > 0; --more)
      x_shape.push_back(training ? d.size(8) : d.size_or_none(8));
    x = d.input("x", x_shape);
  }
  Dims x_shape, channels;
  const Tensor* x;
};

const Tensor* maybe_input(Draw& d, const char* name, const Dims& shape) {
  return d.coin() ? d.input(name, shape) : nullptr;
}

/** Statistics that a pass is given. */
struct Statistics {
  Statistics(Draw& d, const Dims& channels)
      : mean(d.input("mean", channels)), invstd(d.input("invstd", channels, d.between(0.5, 2))) {}
  const Tensor *mean, *invstd;
};

/** Statistics to move on, or none. */
struct Running {
  Running(Draw& d, const Dims& channels)
      : mean(d.coin() ? d.updated("running_mean", channels) : nullptr),
        variance(mean ? d.updated("running_var", channels) : nullptr) {}
  RunningStatistics now() const { return {mean, variance, 0.25}; }
  const Tensor *mean, *variance;
};

void draw_batch_norm_statistics(Draw& d) {
  const Batch batch(d, true);
  const Running running(d, batch.channels);
  const Tensor *mean = d.output("mean", batch.channels), *invstd = d.output("invstd", batch.channels);
  d.calls([=](Queue& queue) { batch_norm_statistics(queue, *batch.x, 1e-5, *mean, *invstd, running.now()); });
}

void draw_batch_norm_invstd(Draw& d) {
  const Dims channels{d.size_or_none()};
  const Tensor *variance = d.input("variance", channels, d.between(0.5, 2)),
               *invstd = d.output("invstd", channels);
  d.calls([=](Queue& queue) { batch_norm_invstd(queue, *variance, 1e-5, *invstd); });
}

void draw_batch_norm_forward(Draw& d) {
  const Batch batch(d, false);
  const Statistics statistics(d, batch.channels);
  const Tensor *weight = maybe_input(d, "weight", batch.channels),
               *bias = maybe_input(d, "bias", batch.channels), *y = d.output("y", batch.x_shape);
  d.calls([=](Queue& queue) {
    batch_norm_forward(queue, *batch.x, *statistics.mean, *statistics.invstd, weight, bias, *y);
  });
}

void draw_batch_norm_training_forward(Draw& d) {
  const Batch batch(d, true);
  const Running running(d, batch.channels);
  const Tensor *weight = maybe_input(d, "weight", batch.channels),
               *bias = maybe_input(d, "bias", batch.channels), *y = d.output("y", batch.x_shape),
               *mean = d.output("mean", batch.channels), *invstd = d.output("invstd", batch.channels);
  d.calls([=](Queue& queue) {
    batch_norm_training_forward(queue, *batch.x, weight, bias, 1e-5, running.now(), *y, *mean, *invstd);
  });
}

void draw_batch_norm_backward(Draw& d) {
  const Batch batch(d, false);
  const Statistics statistics(d, batch.channels);
  const Tensor *dy = d.input("dy", batch.x_shape), *weight = maybe_input(d, "weight", batch.channels);
  const auto wanted = [&](const char* name, const Dims& shape) {
    return d.number(0, 3) ? d.output(name, shape) : nullptr;
  };
  const Tensor *dx = wanted("dx", batch.x_shape), *dweight = wanted("dweight", batch.channels),
               *dbias = wanted("dbias", batch.channels);
  const bool training = d.coin();
  d.calls([=](Queue& queue) {
    batch_norm_backward(queue, *dy, *batch.x, *statistics.mean, *statistics.invstd, weight, training, dx,
                        dweight, dbias);
  });
}

/** Rows for row_norm: of a layer norm, or of a group norm. */
struct Rows {
  explicit Rows(Draw& d) {
    const std::int64_t batch = d.size_or_none(8), groups = d.coin() ? 1 : d.size(3), channels = d.size(5),
                       plane = d.size(17);
    sizes = {batch * groups, channels * plane, groups, channels};
    x_shape = {batch, groups * channels, plane};
    weights = {groups * channels};
    rows = {batch * groups};
    x = d.input("x", x_shape);
    weight = maybe_input(d, "weight", weights);
  }
  NormRows sizes{};
  Dims x_shape, weights, rows;
  const Tensor *x, *weight;
};

void draw_row_norm_forward(Draw& d) {
  const Rows r(d);
  const Tensor *bias = maybe_input(d, "bias", r.weights), *y = d.output("y", r.x_shape),
               *mean = d.coin() ? d.output("mean", r.rows) : nullptr, *invstd = d.output("invstd", r.rows);
  d.calls(
      [=](Queue& queue) { row_norm_forward(queue, r.sizes, *r.x, r.weight, bias, 1e-5, *y, mean, *invstd); });
}

void draw_row_norm_backward(Draw& d) {
  const Rows r(d);
  const Tensor *dy = d.input("dy", r.x_shape), *mean = maybe_input(d, "mean", r.rows),
               *invstd = d.input("invstd", r.rows, d.between(0.5, 2)), *dx = d.output("dx", r.x_shape),
               *terms = d.coin() ? d.output("weight_terms", r.x_shape) : nullptr;
  d.calls([=](Queue& queue) {
    row_norm_backward(queue, r.sizes, *dy, *r.x, r.weight, mean, *invstd, *dx, terms);
  });
}

void draw_row_norm_backward_affine(Draw& d) {
  const Rows r(d);
  const Tensor *terms = d.input("terms", r.x_shape), *gradient = d.output("gradient", r.weights);
  d.calls([=](Queue& queue) { row_norm_backward_affine(queue, r.sizes, *terms, *gradient); });
}

Dims channels_shape(Draw& d) {
  return {d.size_or_none(5), d.size_or_none(17), d.size_or_none(17)};
}

void draw_local_response_norm_forward(Draw& d) {
  const Dims shape = channels_shape(d);
  const LocalResponseNorm options{d.number(1, 5), 0.5, 0.75, 1};
  const Tensor *x = d.input("x", shape), *y = d.output("y", shape), *base = d.output("base", shape);
  d.calls([=](Queue& queue) { local_response_norm_forward(queue, *x, options, *y, *base); });
}

void draw_local_response_norm_backward(Draw& d) {
  const Dims shape = channels_shape(d);
  const LocalResponseNorm options{d.number(1, 5), 0.5, 0.75, 1};
  const Tensor *dy = d.input("dy", shape), *x = d.input("x", shape),
               *base = d.input("base", shape, d.between(1, 2)), *dx = d.output("dx", shape);
  d.calls([=](Queue& queue) { local_response_norm_backward(queue, *dy, *x, *base, options, *dx); });
}

}  // namespace

LayoutCases norm_cases() {
  return {{"batch_norm_statistics", draw_batch_norm_statistics},
          {"batch_norm_invstd", draw_batch_norm_invstd},
          {"batch_norm_forward", draw_batch_norm_forward},
          {"batch_norm_training_forward", draw_batch_norm_training_forward},
          {"batch_norm_backward", draw_batch_norm_backward},
          {"row_norm_forward", draw_row_norm_forward},
          {"row_norm_backward", draw_row_norm_backward},
          {"row_norm_backward_affine", draw_row_norm_backward_affine},
          {"local_response_norm_forward", draw_local_response_norm_forward},
          {"local_response_norm_backward", draw_local_response_norm_backward}};
}

}  // namespace testing_support
