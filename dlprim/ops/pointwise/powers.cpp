#include "dlprim/ops/pointwise/powers.h"

#include <algorithm>
#include <iterator>

namespace dlprim {
namespace {

enum class Kind { product, quotient, root };

struct Special {
  double exponent;
  const char *power, *gradient;  // expressions as in table.def
  Kind kind;
};

// Gradients are g times (the exponent times the power below), as PyTorch multiplies.
constexpr Special specials[] = {
    {0, "(T)1", "(T)0", Kind::product},
    {1, "a", "g", Kind::product},
    {2, "a * a", "g * (2 * a)", Kind::product},
    {3, "a * a * a", "g * (3 * (a * a))", Kind::product},
    {-1, "1 / a", "g * -(1 / (a * a))", Kind::quotient},
    {-2, "1 / (a * a)", "g * (-2 * (1 / (a * a) / a))", Kind::quotient},
    {0.5, "sqrt(a)", "g * ((T)0.5 * (1 / sqrt(a)))", Kind::root},
    {-0.5, "1 / sqrt(a)", "g * ((T)-0.5 * (a == -INFINITY ? (T)0 : 1 / sqrt(a) / a))", Kind::root},
    {1.5, "POW(a, (T)1.5)", "g * ((T)1.5 * sqrt(a))", Kind::root},
};

const PointwiseOp& general() {
  static const PointwiseOp& row = pointwise_op("pow");
  return row;
}
const PointwiseExpression& general_power() {
  static const PointwiseExpression& expression = forward_expression(general());
  return expression;
}
const PointwiseExpression& general_gradient() {
  static const PointwiseExpression& expression = gradient_expression(general(), 1);
  return expression;
}

}  // namespace

const PointwiseProgram& special_powers() {
  static const auto& made = *[] {
    std::vector<PointwiseExpression> expressions;
    for (const Special& special : specials) {
      const std::string exponent = concat(special.exponent);
      PointwiseExpression power{"forward_" + exponent, {"a"}, {}, {special.power}};
      power.floating_only = special.kind != Kind::product;
      PointwiseExpression gradient{"gradient_" + exponent, {"g", "a"}, {}, {special.gradient}};
      gradient.floating_only = true;
      expressions.push_back(power);
      expressions.push_back(gradient);
    }
    return new PointwiseProgram("special_power", std::move(expressions));
  }();
  return made;
}

int exponent_of(const PointwiseExpression& expression) {
  if (&expression == &general_power()) return 1;     // a, b
  if (&expression == &general_gradient()) return 2;  // g, a, b
  return -1;
}

const PointwiseExpression* special_power(const PointwiseExpression& expression, const Scalar& exponent,
                                         DType compute) {
  const auto* const special = std::find_if(std::begin(specials), std::end(specials), [&](const Special& one) {
    return exponent.imaginary() == 0 && one.exponent == exponent.real();
  });
  if (special == std::end(specials)) return nullptr;
  if (special->kind != Kind::product && is_integral(compute)) return nullptr;
  if (special->kind == Kind::root && compute == DType::float16) return nullptr;
  const auto place = 2 * (special - std::begin(specials)) + (&expression == &general_gradient() ? 1 : 0);
  return &special_powers().expressions()[static_cast<std::size_t>(place)];
}

}  // namespace dlprim
