#include "dlprim/ops/rnn/rnn.h"

#include <algorithm>
#include <optional>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/ops/rnn/step_product.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr const char* op = "rnn";
constexpr const char* forward_kernel = "step_forward_kernel";
constexpr const char* backward_kernel = "step_backward_kernel";

Tensor transposed(Tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.strides[0], t.strides[1]);
  return t;
}

/** Rows [first, first + count) of a matrix; undefined if there are none, or no matrix. */
Tensor rows_of(const Tensor& t, std::int64_t first, std::int64_t count) {
  if (!t.defined() || count == 0) return {};
  Tensor part = t;
  part.offset += first * t.strides[0];
  part.shape[0] = count;
  return part;
}

Optional optional(const Tensor& t) {
  return {t.defined() ? &t : nullptr};
}

cl_int row_length(const Tensor& t) {
  return t.defined() ? static_cast<cl_int>(t.strides[0]) : 0;
}

/** The steps in the order of one direction. `following` is the step computed next, `preceding` the one
 * before. */
struct Walk {
  Walk(const RnnSteps& all, bool is_reverse)
      : steps(all),
        stride(is_reverse ? -1 : 1),
        first(is_reverse ? all.count() - 1 : 0),
        last(all.count() - 1 - first) {}

  /** Rows of step t that begin there. */
  std::int64_t old_rows(int t) const { return std::min(steps.size(t), steps.size(t - stride)); }
  Tensor rows(const Tensor& t, int step) const {
    return step < 0 || step >= steps.count() ? Tensor() : rows_of(t, steps.start(step), steps.size(step));
  }

  const RnnSteps& steps;
  int stride, first, last;
};

/** Puts the states that rows begin with where the steps at which they do expect them. */
void place_first(Queue& queue, const Walk& walk, const Tensor& first, const Tensor& states) {
  for (int t = walk.first; t >= 0 && t < walk.steps.count(); t += walk.stride) {
    const std::int64_t begin = walk.old_rows(t), count = walk.steps.size(t) - begin;
    if (count == 0) continue;
    const Tensor to = rows_of(states, walk.steps.start(t) + begin, count);
    queue.copy(rows_of(first, begin, count), to, static_cast<std::size_t>(to.numel()) * size_of(to.dtype));
  }
}

StepCell step_cell(RnnCell cell) {
  return static_cast<StepCell>(cell);
}

/** The forward steps of a layer. */
class Forward {
 public:
  Forward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& output,
          const RnnState& last, const RnnSaved& saved)
      : queue_(queue),
        layer_(layer),
        walk_(steps, layer.is_reverse),
        output_(output),
        last_(last),
        saved_(saved),
        gates_(queue, forward_kernel, step_cell(layer.cell), transposed(layer.w_hh), gates_of(layer.cell),
               steps.size(0)) {
    if (layer.w_hr.defined())
      projection_.emplace(queue, forward_kernel, StepCell::copy, transposed(layer.w_hr), 1, steps.size(0));
  }

  void run(const Tensor& x, const RnnState& first) {
    gemm(queue_, x, transposed(layer_.w_ih), saved_.gates, 1, 0, nullptr, layer_.precision);
    place_first(queue_, walk_, first.h, saved_.h_prev);
    if (saved_.c_prev.defined()) place_first(queue_, walk_, first.c, saved_.c_prev);
    if (x.shape[0] == 0) return;
    for (int t = walk_.first; t >= 0 && t < walk_.steps.count(); t += walk_.stride) step(t);
  }

 private:
  void step(int t) {
    const int following = t + walk_.stride;
    const Tensor h = walk_.rows(saved_.h_prev, t), h_next = walk_.rows(saved_.h_prev, following);
    const Tensor c = walk_.rows(saved_.c_prev, t), c_next = walk_.rows(saved_.c_prev, following);
    const Tensor out = walk_.rows(output_, t), raw = walk_.rows(saved_.raw, t);
    // Where no row goes on, nothing is written through `next`; that of h says with `last` whether h is kept.
    const Tensor& kept_h = h_next.defined() ? h_next : last_.h;
    const Tensor none;
    const Tensor& gate_out = projection_ ? raw : out;
    RnnStepSizes sizes{static_cast<cl_int>(walk_.steps.size(t)),
                       static_cast<cl_int>(std::min(walk_.steps.size(t), walk_.steps.size(following))),
                       static_cast<cl_int>(layer_.units()), row_length(gate_out), 0};
    gates_.launch(sizes, h, walk_.rows(saved_.gates, t), optional(layer_.b_ih), optional(layer_.b_hh), h,
                  optional(c), optional(walk_.rows(saved_.hidden_n, t)), gate_out,
                  optional(projection_ ? none : kept_h), optional(projection_ ? none : last_.h),
                  optional(c_next), optional(last_.c));
    if (!projection_) return;
    sizes.units = static_cast<cl_int>(layer_.state_size());
    sizes.out_row = row_length(out);
    projection_->launch(sizes, raw, optional(none), optional(none), optional(none), optional(none),
                        optional(none), optional(none), out, kept_h, last_.h, optional(none), optional(none));
  }

  Queue& queue_;
  const RnnLayer& layer_;
  Walk walk_;
  const Tensor& output_;
  const RnnState& last_;
  const RnnSaved& saved_;
  StepProduct gates_;
  std::optional<StepProduct> projection_;
};

/** The backward steps of a layer: from the last step to the first, what the products of each get. */
class Backward {
 public:
  Backward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const RnnSaved& saved,
           const Tensor& dy, const RnnState& last, const RnnState& first)
      : queue_(queue),
        layer_(layer),
        walk_(steps, layer.is_reverse),
        saved_(saved),
        dy_(dy),
        last_(last),
        first_(first),
        is_projecting_(layer.w_hr.defined()),
        states_(queue, backward_kernel, is_projecting_ ? StepCell::copy : step_cell(layer.cell), layer.w_hh,
                1, steps.size(0)) {
    const auto matrix = [&](std::int64_t columns) {
      return Tensor::empty(queue.device(), {steps.rows(), columns}, layer.w_hh.dtype);
    };
    dx_gates = matrix(layer.w_hh.shape[0]);
    dh_gates = layer.cell == RnnCell::gru ? matrix(layer.w_hh.shape[0]) : dx_gates;
    if (is_projecting_) {
      dh = matrix(layer.state_size());
      plain_gates_ = &plain_step_kernel(queue, backward_kernel, step_cell(layer.cell), layer.w_hh.dtype);
    }
    const std::int64_t padded_units = round_up(layer.units(), CELL_VECTOR);
    carry_ = queue.scratch({steps.size(0), padded_units}, compute_dtype(layer.w_hh.dtype));
  }

  void run() {
    if (walk_.steps.rows() == 0) return;
    for (int t = walk_.last; t >= 0 && t < walk_.steps.count(); t -= walk_.stride) step(t);
    if (first_.h.defined() || first_.c.defined()) step(walk_.first - walk_.stride);
  }

  Tensor dx_gates, dh_gates;  // gradients of the gates' products with the input and with the states
  Tensor dh;                  // with a projection: of its results

 private:
  // Beyond the first step there are only rows that began in it.
  void step(int t) {
    const int following = t + walk_.stride;
    const Tensor product_rows = walk_.rows(dh_gates, following);
    const Tensor gates = walk_.rows(saved_.gates, t), h = walk_.rows(saved_.h_prev, t),
                 c = walk_.rows(saved_.c_prev, t), hidden_n = walk_.rows(saved_.hidden_n, t);
    const Tensor dy = walk_.rows(dy_, t), dx = walk_.rows(dx_gates, t), dh_rows = walk_.rows(dh_gates, t);
    const Tensor none;
    RnnStepSizes sizes{static_cast<cl_int>(walk_.steps.size(t)),
                       static_cast<cl_int>(walk_.steps.size(following)), static_cast<cl_int>(layer_.units()),
                       row_length(dy), static_cast<cl_int>(carry_.shape[1])};
    if (!is_projecting_) {
      states_.launch(sizes, product_rows, optional(gates), optional(h), optional(c), optional(hidden_n),
                     optional(dy), optional(last_.h), optional(last_.c), carry_, optional(dx),
                     optional(dh_rows), optional(first_.h), optional(first_.c));
      return;
    }
    RnnStepSizes projected = sizes;
    projected.units = static_cast<cl_int>(layer_.state_size());
    const Tensor own_dh = walk_.rows(dh, t);
    states_.launch(projected, product_rows, optional(none), optional(none), optional(none), optional(none),
                   optional(dy), optional(last_.h), optional(none), carry_, optional(own_dh), optional(none),
                   optional(first_.h), optional(none));
    const Tensor product = own_dh.defined() ? unprojected(own_dh) : Tensor();
    queue_.launch(*plain_gates_, plain_step_range(queue_.device(), sizes), sizes, optional(product),
                  sizes.rows, optional(none), cl_int{0}, cl_long{0}, cl_long{0}, optional(gates), optional(h),
                  optional(c), optional(hidden_n), optional(none), optional(none), optional(last_.c), carry_,
                  optional(dx), optional(dh_rows), optional(none), optional(first_.c));
  }

  Tensor unprojected(const Tensor& own_dh) const {
    const Tensor product = queue_.scratch({own_dh.shape[0], layer_.units()}, own_dh.dtype);
    gemm(queue_, own_dh, layer_.w_hr, product, 1, 0, nullptr, layer_.precision);
    return product;
  }

  Queue& queue_;
  const RnnLayer& layer_;
  Walk walk_;
  const RnnSaved& saved_;
  const Tensor& dy_;
  const RnnState &last_, &first_;
  bool is_projecting_;
  StepProduct states_;
  Kernel* plain_gates_ = nullptr;
  Tensor carry_;
};

/** The sizes that all tensors of a call must fit: `layer` over `steps` of `x`. */
class Fitting {
 public:
  Fitting(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& x)
      : dtype_(x.dtype),
        rows_(steps.rows()),
        sequences_(steps.size(0)),
        units_(layer.units()),
        state_(layer.state_size()),
        gates_(layer.w_hh.shape[0]) {
    require_floating(dtype_, queue.device(), op);
    kernel_int(product({gates_, 2}), op, "a number of gates");
    kernel_int(sequences_, op, "a number of sequences");
    const std::int64_t inputs = layer.w_ih.shape[1];
    require(x.rank() == 2 && x.shape[0] == rows_ && x.shape[1] == inputs, op,
            ": expected an input of shape [", rows_, ", ", inputs, "], got ", x.shape);
    weights(layer.w_ih, layer.w_hh, layer.b_ih, layer.b_hh, layer.w_hr, inputs);
  }

  /** Weights, or their gradients, of which any may be missing. */
  void weights(const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
               const Tensor& w_hr, std::int64_t inputs) const {
    like("w_ih", w_ih, {gates_, inputs});
    like("w_hh", w_hh, {gates_, state_});
    like("b_ih", b_ih, {gates_});
    like("b_hh", b_hh, {gates_});
    like("w_hr", w_hr, {state_, units_});
  }
  void state(const char* what, const RnnState& state) const {
    like(what, state.h, {sequences_, state_});
    like(what, state.c, {sequences_, units_});
  }
  void saved(const RnnSaved& saved) const {
    constexpr const char* what = "what forward saved";
    like(what, saved.gates, {rows_, gates_});
    like(what, saved.h_prev, {rows_, state_});
    for (const Tensor* t : {&saved.c_prev, &saved.hidden_n, &saved.raw}) like(what, *t, {rows_, units_});
  }
  /** The output or its gradient: whole rows, perhaps of a wider tensor. */
  void output(const char* what, const Tensor& t) const {
    if (!t.defined()) return;
    Tensor row = t;
    require(t.rank() == 2 && t.shape[0] == rows_, op, ": expected ", what, " of ", rows_, " rows, got shape ",
            t.shape);
    row.shape[0] = 1;
    like(what, row, {1, state_});
  }
  void like(const char* what, const Tensor& t, const Dims& shape) const {
    if (t.defined()) require_like(op, what, t, shape, dtype_);
  }

 private:
  DType dtype_;
  std::int64_t rows_, sequences_, units_, state_, gates_;
};

}  // namespace

int gates_of(RnnCell cell) {
  return cell == RnnCell::lstm ? 4 : cell == RnnCell::gru ? 3 : 1;
}

RnnSteps::RnnSteps(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)), starts_{0} {
  require(!sizes_.empty(), op, ": expected a sequence of at least one step");
  for (const std::int64_t size : sizes_) {
    require(size >= 0 && (starts_.size() == 1 || size <= sizes_[starts_.size() - 2]), op,
            ": expected batch sizes that do not grow from step to step, got ", size);
    starts_.push_back(starts_.back() + size);
  }
}

RnnSaved empty_saved(Device& device, const RnnLayer& layer, const RnnSteps& steps) {
  const std::int64_t units = layer.units();
  const auto matrix = [&](bool is_kept, std::int64_t columns) {
    return is_kept ? Tensor::empty(device, {steps.rows(), columns}, layer.w_hh.dtype) : Tensor();
  };
  return {matrix(true, layer.w_hh.shape[0]), matrix(true, layer.state_size()),
          matrix(layer.cell == RnnCell::lstm, units), matrix(layer.cell == RnnCell::gru, units),
          matrix(layer.w_hr.defined(), units)};
}

void rnn_forward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& x,
                 const RnnState& first, const Tensor& output, const RnnState& last, const RnnSaved& saved) {
  ENTER(rnn_forward, queue, layer, steps, x, first, output, last, saved);
  const Fitting fitting(queue, layer, steps, x);
  fitting.state("the first state", first);
  fitting.state("the last state", last);
  fitting.output("the output", output);
  fitting.saved(saved);
  Forward(queue, layer, steps, output, last, saved).run(x, first);
}

void rnn_backward(Queue& queue, const RnnLayer& layer, const RnnSteps& steps, const Tensor& x,
                  const RnnSaved& saved, const Tensor& dy, const RnnState& last,
                  const RnnGradients& gradients) {
  ENTER(rnn_backward, queue, layer, steps, x, saved, dy, last, gradients);
  const Fitting fitting(queue, layer, steps, x);
  fitting.saved(saved);
  fitting.output("the gradient", dy);
  fitting.state("the gradient of the last state", last);
  fitting.state("the gradient of the first state", gradients.first);
  fitting.weights(gradients.w_ih, gradients.w_hh, gradients.b_ih, gradients.b_hh, gradients.w_hr, x.shape[1]);
  fitting.like("dx", gradients.dx, x.shape);
  Backward backward(queue, layer, steps, saved, dy, last, gradients.first);
  backward.run();
  const auto of_weight = [&](const Tensor& result, const Tensor& of_products, const Tensor& factors) {
    if (result.defined())
      gemm(queue, transposed(of_products), factors, result, 1, 0, nullptr, layer.precision);
  };
  const auto of_bias = [&](const Tensor& result, const Tensor& of_products) {
    if (result.defined()) reduce(queue, reduction("sum"), of_products, 1u, result);
  };
  if (gradients.dx.defined())
    gemm(queue, backward.dx_gates, layer.w_ih, gradients.dx, 1, gradients.adds_dx ? 1 : 0, nullptr,
         layer.precision);
  of_weight(gradients.w_ih, backward.dx_gates, x);
  of_weight(gradients.w_hh, backward.dh_gates, saved.h_prev);
  of_weight(gradients.w_hr, backward.dh, saved.raw);
  of_bias(gradients.b_ih, backward.dx_gates);
  of_bias(gradients.b_hh, backward.dh_gates);
}

}  // namespace dlprim
