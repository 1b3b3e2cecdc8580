#include "dlprim/ops/reduce/reduce_backward.h"

#include <map>
#include <mutex>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

/** A gradient to be computed: of what shape, over which dimensions, as `op`. */
class Gradient {
 public:
  Gradient(Queue& queue, const char* op, const Tensor& dx, DimMask mask)
      : queue_(queue), op_(op), dx_(dx), mask_(mask), compute_(compute_dtype(dx.dtype)) {
    require_floating(dx.dtype, queue.device(), op);
  }

  double count() const { return static_cast<double>(reduced_count(dx_.shape, mask_)); }

  /** A value of each reduced group, for each of its elements. */
  Tensor spread(const char* what, const Tensor& t) const {
    require_elements(op_, what, t, product(kept_shape()), t.dtype);
    return t.reshaped(kept_shape()).expanded(dx_.shape);
  }
  Tensor spread(const Tensor& t) const { return spread("a sum", t); }

  /** Like pointwise(), into dx. Sums are kept in more digits than elements of half types have. */
  void is(const PointwiseExpression& expression, const std::vector<PointwiseOperand>& operands,
          const std::vector<Scalar>& parameters = {}) const {
    pointwise(queue_, expression, compute_, operands, parameters, {dx_});
  }

  /** A term of it for each element, in as many digits as it is computed with. */
  Tensor term(const PointwiseExpression& expression, const std::vector<PointwiseOperand>& operands,
              const std::vector<Scalar>& parameters = {}) const {
    const Tensor result = queue_.scratch(dx_.shape, compute_);
    pointwise(queue_, expression, compute_, operands, parameters, {result});
    return result;
  }

  /** An expression for each element, summed over each reduced group. */
  Tensor sums_of(const PointwiseExpression& expression, const std::vector<PointwiseOperand>& operands) const {
    return reduced("sum", term(expression, operands));
  }
  Tensor reduced(const char* row, const Tensor& x) const {
    const Tensor result = queue_.scratch(kept_shape(), compute_);
    reduce(queue_, reduction(row), x, mask_, result);
    return result;
  }

 private:
  Dims kept_shape() const { return reduced_shape(dx_.shape, mask_, true); }

  Queue& queue_;
  const char* op_;
  const Tensor& dx_;
  const DimMask mask_;
  const DType compute_;
};

struct RowExpression {
  const PointwiseExpression* expression;
  bool uses_x, uses_y, uses_n, uses_p;
};

/** The gradient of a row that is an expression of g, a, y, n and p. */
RowExpression expression_of(const ReductionOp& row) {
  static std::mutex mutex;
  static auto* made = new std::map<std::string, RowExpression>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = made->find(row.name);
  if (found != made->end()) return found->second;
  const auto uses = [&](const char* variable) { return uses_variable(row.gradient, variable); };
  RowExpression made_now{nullptr, uses("a"), uses("y"), uses("n"), uses("p")};
  std::vector<std::string> variables{"g"}, parameters;
  if (made_now.uses_x) variables.emplace_back("a");
  if (made_now.uses_y) variables.emplace_back("y");
  if (made_now.uses_n) parameters.emplace_back("n");
  if (made_now.uses_p) parameters.emplace_back("p");
  made_now.expression = &lone_expression(row.name + "_gradient", variables, parameters, {row.gradient});
  return made->emplace(row.name, made_now).first->second;
}

void expression_backward(const Gradient& gradient, const ReductionOp& row, const Tensor& dy, const Tensor& x,
                         const Tensor& y, double p) {
  const RowExpression wanted = expression_of(row);
  std::vector<PointwiseOperand> operands{gradient.spread("the gradient", dy)};
  std::vector<Scalar> parameters;
  if (wanted.uses_x) operands.emplace_back(x);
  if (wanted.uses_y) operands.emplace_back(gradient.spread("the result", y));
  if (wanted.uses_n) parameters.emplace_back(gradient.count());
  if (wanted.uses_p) parameters.emplace_back(p);
  gradient.is(*wanted.expression, operands, parameters);
}

/** Which elements are an extreme, and what each of so many gets of its gradient. */
struct ExtremeGradient {
  const PointwiseExpression &is_extreme, &shared;
};

/** Like PyTorch's: amax and amin have none at a NaN (its share is 0 / 0), all others have every NaN share
 * it. */
const ExtremeGradient& extreme_gradient_of(const std::string& row) {
  static const ExtremeGradient of_dims{
      lone_expression("is_extreme", {"a", "y"}, {}, {"(T)(a == y)"}),
      lone_expression("extreme_gradient", {"g", "a", "y", "count"}, {}, {"(T)(a == y) * (g / count)"})};
  static const ExtremeGradient of_all{
      lone_expression("is_extreme_of_all", {"a", "y"}, {}, {"(T)(a == y || ISNAN(a))"}),
      lone_expression("extreme_of_all_gradient", {"g", "a", "y", "count"}, {},
                      {"a == y || ISNAN(a) ? g / count : (T)0"})};
  static const ExtremeGradient of_magnitudes{
      lone_expression("is_extreme_magnitude", {"a", "y"}, {}, {"(T)(ABS(a) == y || ISNAN(a))"}),
      lone_expression("extreme_magnitude_gradient", {"g", "a", "y", "count"}, {},
                      {"SIGN(a) * ((T)(ABS(a) == y || ISNAN(a)) * (g / count))"})};
  if (row == "amax" || row == "amin") return of_dims;
  return row == "max_of_all" || row == "min_of_all" ? of_all : of_magnitudes;
}

/** Those elements that are the extreme share dy evenly. */
void extreme_backward(const Gradient& gradient, const ExtremeGradient& extremes, const Tensor& dy,
                      const Tensor& x, const Tensor& y) {
  const Tensor extreme = gradient.spread("the result", y);
  const Tensor count = gradient.sums_of(extremes.is_extreme, {x, extreme});
  gradient.is(extremes.shared, {gradient.spread("the gradient", dy), x, extreme, gradient.spread(count)});
}

/** dy times the product of the other elements, whatever zeros there are. */
void product_backward(const Gradient& gradient, const Tensor& dy, const Tensor& x) {
  static const PointwiseExpression& of_one = lone_expression("prod_of_one_gradient", {"g"}, {}, {"g"});
  if (gradient.count() == 1) return gradient.is(of_one, {gradient.spread("the gradient", dy)});
  static const PointwiseExpression& is_zero = lone_expression("is_zero", {"a"}, {}, {"(T)(a == 0)"});
  static const PointwiseExpression& is_infinite_or_nan =
      lone_expression("is_infinite_or_nan", {"a"}, {}, {"(T)!ISFINITE(a)"});
  // Zeros among the others make it 0, but NaN where an infinity or NaN is among them too.
  static const PointwiseExpression& expression =
      lone_expression("prod_gradient", {"g", "a", "product", "zeros", "infinite_or_nan"}, {},
                      {"zeros == 0 ? g * product / a : zeros == 1 && a == 0 ? g * product : "
                       "infinite_or_nan > (T)!ISFINITE(a) ? (T)NAN : g * 0"});
  gradient.is(expression, {gradient.spread("the gradient", dy), x,
                           gradient.spread(gradient.reduced("product_of_nonzero", x)),
                           gradient.spread(gradient.sums_of(is_zero, {x})),
                           gradient.spread(gradient.sums_of(is_infinite_or_nan, {x}))});
}

void require_input(const char* op, const Tensor& x, const Tensor& dx) {
  require(x.shape == dx.shape, op, ": expected an input of the gradient's shape ", dx.shape, ", got ",
          x.shape);
}

}  // namespace

void reduce_backward(Queue& queue, const ReductionOp& reduction, const Tensor& dy, const Tensor& x,
                     const Tensor& y, DimMask mask, const Tensor& dx, double p) {
  ENTER(reduce_backward, queue, reduction, dy, x, y, mask, dx, p);
  const char* op = reduction.name.c_str();
  require(!reduction.gradient.empty(), op, ": it has no gradient");
  if (x.defined()) require_input(op, x, dx);
  const Gradient gradient(queue, op, dx, mask);
  if (reduction.gradient != "own") return expression_backward(gradient, reduction, dy, x, y, p);
  if (reduction.name == "prod") return product_backward(gradient, dy, x);
  extreme_backward(gradient, extreme_gradient_of(reduction.name), dy, x, y);
}

void variance_backward(Queue& queue, const Tensor& dy, const Tensor& dmean, const Tensor& x,
                       const Tensor& mean, const Tensor* root, DimMask mask, double correction,
                       const Tensor& dx) {
  ENTER(variance_backward, queue, dy, dmean, x, mean, root, mask, correction, dx);
  constexpr const char* op = "variance_backward";
  static const PointwiseExpression& of_mean = lone_expression("mean_share", {"m"}, {"n"}, {"m / n"});
  static const PointwiseExpression& of_variance =
      lone_expression("var_gradient", {"g", "a", "mean"}, {"scale"}, {"g * scale * (a - mean)"});
  static const PointwiseExpression& of_root =
      lone_expression("std_gradient", {"g", "a", "mean", "y"}, {"scale"},
                      {"y == 0 ? (T)0 : g / (2 * y) * scale * (a - mean)"});
  // Like PyTorch's gradient of a variance, but not of its root, where no more elements are there than
  // `correction`.
  static const PointwiseExpression& of_few = lone_expression("var_of_few_gradient", {"g", "a", "mean"}, {},
                                                             {"g * (a == mean ? (T)NAN : (T)INFINITY)"});
  static const PointwiseExpression& added =
      lone_expression("add_mean_share", {"d", "m"}, {"n"}, {"d + m / n"});
  require(dy.defined() || dmean.defined(), op, ": neither result has a gradient");
  require_input(op, x, dx);
  const Gradient gradient(queue, op, dx, mask);
  const Scalar n = gradient.count();
  const double left = gradient.count() - correction;
  const bool is_of_few = !root && left <= 0;
  const PointwiseExpression& by_spread = root ? of_root : is_of_few ? of_few : of_variance;
  const std::vector<Scalar> scale = is_of_few ? std::vector<Scalar>() : std::vector<Scalar>{2 / left};
  std::vector<PointwiseOperand> operands, shares;
  if (dy.defined()) operands = {gradient.spread("the gradient", dy), x, gradient.spread("the mean", mean)};
  if (dy.defined() && root) operands.emplace_back(gradient.spread("the root", *root));
  if (dmean.defined()) shares = {gradient.spread("the mean's gradient", dmean)};
  if (shares.empty()) return gradient.is(by_spread, operands, scale);
  if (operands.empty()) return gradient.is(of_mean, shares, {n});
  gradient.is(added, {gradient.term(by_spread, operands, scale), shares[0]}, {n});
}

void logsumexp_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& largest,
                        const Tensor& rest, DimMask mask, const Tensor& dx) {
  ENTER(logsumexp_backward, queue, dy, x, largest, rest, mask, dx);
  constexpr const char* op = "logsumexp_backward";
  static const PointwiseExpression& expression = lone_expression(
      "logsumexp_gradient", {"g", "a", "largest", "rest"}, {}, {"g * EXP(a - largest - rest)"});
  require_input(op, x, dx);
  const Gradient gradient(queue, op, dx, mask);
  gradient.is(expression, {gradient.spread("the gradient", dy), x, gradient.spread("the largest", largest),
                           gradient.spread("the rest", rest)});
}

}  // namespace dlprim
