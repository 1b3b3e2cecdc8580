#include "nn/optim/lbfgs.h"

#include <array>
#include <cmath>

#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl::optim {
namespace {

using Closure = std::function<Tensor()>;

/** Numbers of 16 bits are multiplied in more digits: the product may be larger than they hold. */
Tensor product_on_device(const Tensor& a, const Tensor& b) {
  return dot(in_compute_dtype(a), in_compute_dtype(b));
}
double product(const Tensor& a, const Tensor& b) {
  return product_on_device(a, b).item<double>();
}
double largest(const Tensor& t) {
  return amax(t.abs()).item<double>();
}

/** The parameters as one vector, and the loss along it. */
class Objective {
 public:
  Objective(const TensorList& parameters, const Closure& closure)
      : parameters_(parameters), closure_(closure) {}

  Tensor loss() const {
    const GradMode recording(true);
    return closure_();
  }
  Tensor gradient() const {
    TensorList parts;
    for (const Tensor& p : parameters_) {
      const Tensor g = p.grad();
      parts.push_back(g.defined() ? g.reshape({-1}) : zeros({p.numel()}, p.dtype(), p.device()));
    }
    return cat(parts, 0);
  }
  void move(double step, const Tensor& direction) const {
    std::int64_t start = 0;
    for (Tensor p : parameters_) {
      p.add_(narrow(direction, 0, start, p.numel()).view(p.shape().vector()) * step);
      start += p.numel();
    }
  }
  TensorList place() const {
    TensorList copies;
    for (const Tensor& p : parameters_) copies.push_back(p.clone());
    return copies;
  }
  void go_to(const TensorList& place) const {
    for (std::size_t i = 0; i < place.size(); ++i) Tensor(parameters_[i]).copy_(place[i]);
  }

 private:
  const TensorList& parameters_;
  const Closure& closure_;
};

/** A place on the line: the step, the loss there, its gradient, and the slope along the line. */
struct Point {
  double t, loss;
  Tensor gradient;
  double slope;
};

// The minimum of the cubic through two points, held within the bounds (by default the points').
double cubic_minimum(const Point& a, const Point& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double t = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                              : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::fmin(std::fmax(t, low), high);
}
double cubic_minimum(const Point& a, const Point& b) {
  return cubic_minimum(a, b, std::fmin(a.t, b.t), std::fmax(a.t, b.t));
}

/** A line search for the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6). */
class WolfeSearch {
 public:
  WolfeSearch(const Objective& objective, const Tensor& direction, Point start, double tolerance, int most)
      : objective_(objective),
        direction_(direction),
        start_(std::move(start)),
        place_(objective.place()),
        tolerance_(tolerance),
        most_(most) {}

  Point from(double t) {
    if (bracket(t)) return low();
    return zoom();
  }
  int evaluations() const { return evaluations_; }

 private:
  static constexpr double decrease = 1e-4, curvature = 0.9;

  Point at(double t) {
    objective_.move(t, direction_);
    Point point{t, objective_.loss().item<double>(), objective_.gradient(), 0};
    objective_.go_to(place_);
    ++evaluations_;
    point.slope = product(point.gradient, direction_);
    return point;
  }
  bool is_too_high(const Point& p) const { return p.loss > start_.loss + decrease * p.t * start_.slope; }
  bool is_flat(const Point& p) const { return std::fabs(p.slope) <= -curvature * start_.slope; }
  Point& low() { return ends_[ends_[0].loss <= ends_[1].loss ? 0 : 1]; }
  Point& high() { return ends_[ends_[0].loss <= ends_[1].loss ? 1 : 0]; }

  // Steps ahead until a minimum lies between two points; true if one of them will do itself.
  bool bracket(double t) {
    Point before = start_, now = at(t);
    before.t = 0;
    for (; rounds_ < most_; ++rounds_) {
      if (is_too_high(now) || (rounds_ > 1 && now.loss >= before.loss)) break;
      if (is_flat(now)) {
        ends_ = {now, now};
        return true;
      }
      if (now.slope >= 0) break;
      const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::exchange(now, at(next));
    }
    if (rounds_ == most_) before = start_;
    ends_ = {before, now};
    return rounds_ == most_;
  }

  // A step inside the bracket, kept from clinging to its ends.
  double next_inside() {
    const double least = std::fmin(ends_[0].t, ends_[1].t), most = std::fmax(ends_[0].t, ends_[1].t);
    const double margin = 0.1 * (most - least);
    double t = cubic_minimum(ends_[0], ends_[1]);
    const bool is_near_end = std::fmin(most - t, t - least) < margin;
    if (is_near_end && (clings_ || t >= most || t <= least)) {
      t = std::fabs(t - most) < std::fabs(t - least) ? most - margin : least + margin;
      clings_ = false;
    } else {
      clings_ = is_near_end;
    }
    return t;
  }

  Point zoom() {
    const double scale = largest(direction_);
    for (; rounds_ < most_; ++rounds_) {
      if (std::fabs(ends_[1].t - ends_[0].t) * scale < tolerance_) break;
      const Point now = at(next_inside());
      if (is_too_high(now) || now.loss >= low().loss) {
        high() = now;
        continue;
      }
      if (is_flat(now)) return now;
      Point &lower = low(), &upper = high();
      if (now.slope * (upper.t - lower.t) >= 0) upper = lower;
      lower = now;
    }
    return low();
  }

  const Objective& objective_;
  const Tensor& direction_;
  const Point start_;
  const TensorList place_;
  const double tolerance_;
  const int most_;
  std::array<Point, 2> ends_;
  int rounds_ = 0, evaluations_ = 0;
  bool clings_ = false;
};

/** Takes the last change of gradient and parameters into the memory. */
void remember(LbfgsState& state, const Tensor& gradient, std::size_t history) {
  const Tensor change = gradient - state.prev_flat_grad, moved = state.d * state.t;
  const double both = product(change, moved);
  if (!(both > 1e-10)) return;
  while (state.old_dirs.size() >= history) {
    state.old_dirs.pop_front();
    state.old_stps.pop_front();
    state.ro.pop_front();
  }
  state.old_dirs.push_back(change);
  state.old_stps.push_back(moved);
  state.ro.push_back(1 / both);
  state.H_diag = both / product(change, change);
}

/** Minus the inverse of the remembered curvature times the gradient. */
Tensor direction_of(const LbfgsState& state, const Tensor& gradient) {
  const std::size_t count = state.old_dirs.size();
  TensorList alphas(count);
  Tensor q = gradient.neg();
  for (std::size_t i = count; i-- > 0;) {
    alphas[i] = product_on_device(state.old_stps[i], q) * state.ro[i];
    q.sub_(state.old_dirs[i] * alphas[i]);
  }
  q.mul_(state.H_diag);
  for (std::size_t i = 0; i < count; ++i)
    q.add_(state.old_stps[i] * (alphas[i] - product_on_device(state.old_dirs[i], q) * state.ro[i]));
  return q;
}

/** Throws ValueError for a state that is of other parameters, or that no step has left. */
void check(const LbfgsState& state, const TensorList& parameters) {
  using dlprim::require;
  std::int64_t count = 0;
  for (const Tensor& p : parameters) count += p.numel();
  const auto check_vector = [&](const char* name, const Tensor& t) {
    require(t.defined() && t.dim() == 1 && t.numel() == count && t.dtype() == parameters.front().dtype() &&
                t.device() == parameters.front().device(),
            "LBFGS: expected '", name, "' of its state to be ", count, " numbers of dtype ",
            dlprim::name(parameters.front().dtype()), " on ", parameters.front().device()->name());
  };
  require(state.n_iter >= 0, "LBFGS: 'n_iter' of its state cannot be ", state.n_iter);
  if (state.n_iter > 0) {
    check_vector("d", state.d);
    check_vector("prev_flat_grad", state.prev_flat_grad);
  }
  require(state.old_dirs.size() == state.old_stps.size() && state.old_dirs.size() == state.ro.size(),
          "LBFGS: expected as many 'old_dirs', 'old_stps' and 'ro' in its state, got ", state.old_dirs.size(),
          ", ", state.old_stps.size(), " and ", state.ro.size());
  for (const Tensor& t : state.old_dirs) check_vector("old_dirs", t);
  for (const Tensor& t : state.old_stps) check_vector("old_stps", t);
}

}  // namespace

Tensor lbfgs_step(const NamedValues& options, const TensorList& parameters, LbfgsState& state,
                  const Closure& closure) {
  const NoGradGuard no_grad;
  const double lr = options.number("lr"), tolerance_grad = options.number("tolerance_grad"),
               tolerance_change = options.number("tolerance_change");
  const int max_iter = static_cast<int>(options.number("max_iter"));
  const int max_eval =
      options.is_none("max_eval") ? max_iter * 5 / 4 : static_cast<int>(options.number("max_eval"));
  const bool searches = !options.is_none("line_search_fn");
  if (searches && options.text("line_search_fn") != "strong_wolfe")
    throw AutogradError("LBFGS: only 'strong_wolfe' is supported as line_search_fn");
  check(state, parameters);

  const Objective objective(parameters, closure);
  const Tensor first_loss = objective.loss();
  double loss = first_loss.item<double>();
  Tensor gradient = objective.gradient();
  ++state.func_evals;
  bool is_flat = largest(gradient) <= tolerance_grad;
  int evaluations = 1;
  for (int round = 1; round <= max_iter && !is_flat; ++round) {
    ++state.n_iter;
    if (state.n_iter == 1) {
      state.d = gradient.neg();
    } else {
      remember(state, gradient, static_cast<std::size_t>(options.number("history_size")));
      state.d = direction_of(state, gradient);
    }
    state.prev_flat_grad = gradient;
    state.prev_loss = loss;
    state.t =
        state.n_iter == 1 ? std::fmin(1, 1 / in_compute_dtype(gradient).abs().sum().item<double>()) * lr : lr;
    const double slope = product(gradient, state.d);
    if (slope > -tolerance_change) break;

    int taken = 0;
    if (searches) {
      WolfeSearch search(objective, state.d, {0, loss, gradient, slope}, tolerance_change,
                         max_eval - evaluations);
      const Point found = search.from(state.t);
      state.t = found.t;
      loss = found.loss;
      gradient = found.gradient;
      taken = search.evaluations();
      objective.move(state.t, state.d);
      is_flat = largest(gradient) <= tolerance_grad;
    } else {
      objective.move(state.t, state.d);
      if (round != max_iter) {  // the last one's loss would not be looked at
        loss = objective.loss().item<double>();
        gradient = objective.gradient();
        is_flat = largest(gradient) <= tolerance_grad;
        taken = 1;
      }
    }
    evaluations += taken;
    state.func_evals += taken;
    if (evaluations >= max_eval || std::fabs(state.t) * largest(state.d) <= tolerance_change ||
        std::fabs(loss - state.prev_loss) < tolerance_change)
      break;
  }
  return first_loss;
}

}  // namespace ocl::optim
