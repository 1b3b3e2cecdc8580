#include "autograd/ops/formula.h"

#include <cmath>
#include <functional>
#include <limits>

#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/formula.h"

namespace ocl {
namespace {

using dlprim::Formula;
using dlprim::require;
using Operands = std::vector<Operand>;
using Values = std::map<std::string, Operand>;

using OfOne = Tensor (*)(const Tensor&);
using OfTwo = Tensor (*)(const Operand&, const Operand&);

/** Functions of the kernels' language that are operators. */
const std::map<std::string, OfOne>& unary_operators() {
  static const auto& table = *new std::map<std::string, OfOne>{
      {"neg", neg},
      {"!", logical_not},
      {"EXP", exp},
      {"EXP2", exp2},
      {"LOG", log},
      {"LOG1P", log1p},
      {"sqrt", sqrt},
      {"SIN", sin},
      {"COS", cos},
      {"SINH", sinh},
      {"COSH", cosh},
      {"TANH", tanh},
      {"ERF", erf},
      {"SIGMOID", sigmoid},
      {"SIGN", sign},
      {"TRUNC", trunc},
      {"fabs", abs},
      {"ABS", abs},
      {"ISNAN", isnan},
      {"ISFINITE", isfinite},
      {"DIGAMMA", digamma},
      {"SINC", sinc},
      {"LOGSIGMOID", logsigmoid},
  };
  return table;
}
const std::map<std::string, OfTwo>& binary_operators() {
  static const auto& table = *new std::map<std::string, OfTwo>{
      {"*", mul},
      {"/", div},
      {"==", eq},
      {"!=", ne},
      {"<", lt},
      {"<=", le},
      {">", gt},
      {">=", ge},
      {"&&", logical_and},
      {"||", logical_or},
      {"POW", pow},
      {"pow", pow},
      {"HYPOT", hypot},
      {"XLOGY", xlogy},
      {"XLOG1PY", special_xlog1py},
      {"fmax", fmax},
      {"MAXIMUM", maximum},
      {"MINIMUM", minimum},
      {"FLOOR_DIVIDE", floor_divide},
  };
  return table;
}

/** Functions of the kernels' language that others make up. */
struct Definition {
  std::vector<std::string> parameters;
  Formula formula;
};
const std::map<std::string, Definition>& definitions() {
  const auto define = [](std::vector<std::string> parameters, const char* expression) {
    return Definition{std::move(parameters), dlprim::parse_formula(expression)};
  };
  static const auto& table = *new std::map<std::string, Definition>{
      {"TRUTH", define({"a"}, "a != 0")},
      {"INVERSE", define({"a"}, "1 / (a == 0 ? INFINITY : a)")},
      {"MAXIMUM_SHARE", define({"g", "a", "b"}, "a < b ? 0 : a == b ? g / 2 : g")},
      {"TRIGAMMA", define({"a"}, "POLYGAMMA(1, a)")},
      {"SINC_SLOPE",
       define({"a"}, "a == 0 ? 0 : (COS(a * 3.141592653589793238) - SINC(a)) / (a == 0 ? 1 : a)")},
      {"GELU_INNER", define({"a"}, "0.797884560802865356 * (a + 0.044715 * a * a * a)")},
      {"GELU_INNER_SLOPE", define({"a"}, "0.797884560802865356 * (1 + 0.134145 * a * a)")},
      // t is tanh(softplus(a)), s the slope of softplus.
      {"MISH_SLOPE", define({"a"}, "MISH_OF(TANH(-LOGSIGMOID(-a)), SIGMOID(a), a)")},
      {"MISH_OF", define({"t", "s", "a"}, "t + a * s * (1 - t * t)")},
  };
  return table;
}

const std::map<std::string, double>& constants() {
  static const auto& table = *new std::map<std::string, double>{
      {"NAN", std::numeric_limits<double>::quiet_NaN()},
      {"INFINITY", std::numeric_limits<double>::infinity()},
      {"SELU_ALPHA", 1.6732632423543772848170429916717},
      {"SELU_SCALE", 1.0507009873554804934193349852946},
  };
  return table;
}

/** The value of functions that often meet numbers alone, so that conditions on parameters choose before
 * anything is computed. */
std::optional<double> of_numbers(const std::string& name, const std::vector<double>& x) {
  if (name == "neg") return -x[0];
  if (name == "!") return x[0] == 0;
  if (name == "+") return x[0] + x[1];
  if (name == "-") return x[0] - x[1];
  if (name == "*") return x[0] * x[1];
  if (name == "/") return x[0] / x[1];
  if (name == "==") return x[0] == x[1];
  if (name == "!=") return x[0] != x[1];
  if (name == "<") return x[0] < x[1];
  if (name == "<=") return x[0] <= x[1];
  if (name == ">") return x[0] > x[1];
  if (name == ">=") return x[0] >= x[1];
  if (name == "&&") return x[0] != 0 && x[1] != 0;
  if (name == "||") return x[0] != 0 || x[1] != 0;
  return std::nullopt;
}

class Evaluation {
 public:
  Evaluation(DType compute, const Device& device) : compute_(compute), device_(device) {}

  Tensor as_tensor(const Operand& value) const {
    return value.is_tensor() ? value.tensor() : full({}, value.number(), compute_, device_);
  }

  Operand of(const Formula& formula, const Values& values) const {
    switch (formula.kind) {
      case Formula::Kind::number:
        return formula.value;
      case Formula::Kind::variable:
        return variable(formula.name, values);
      case Formula::Kind::call:
        break;
    }
    if (formula.name == "?:") return choice(formula, values);
    if (formula.name == "/" && formula.parts[0].is_float)
      return static_cast<double>(static_cast<float>(formula.parts[0].value) /
                                 static_cast<float>(formula.parts[1].value));
    Operands operands;
    for (const Formula& part : formula.parts) operands.push_back(of(part, values));
    return call(formula.name, operands);
  }

 private:
  static Operand variable(const std::string& name, const Values& values) {
    if (const auto found = values.find(name); found != values.end()) return found->second;
    const auto constant = constants().find(name);
    require(constant != constants().end(), "there is no value of ", name);
    return constant->second;
  }

  Operand choice(const Formula& formula, const Values& values) const {
    const Operand condition = of(formula.parts[0], values);
    if (!condition.is_tensor()) return of(formula.parts[condition.number().real() != 0 ? 1 : 2], values);
    return where(condition, as_tensor(of(formula.parts[1], values)), as_tensor(of(formula.parts[2], values)));
  }

  Operand call(const std::string& name, const Operands& operands) const {
    bool has_tensor = false, are_real = true;
    std::vector<double> numbers;
    for (const Operand& operand : operands) {
      has_tensor |= operand.is_tensor();
      are_real = are_real && (operand.is_tensor() || operand.number().imaginary() == 0);
      numbers.push_back(operand.is_tensor() ? 0 : operand.number().real());
    }
    if (!has_tensor && are_real)
      if (const auto folded = of_numbers(name, numbers)) return *folded;
    if (const auto found = definitions().find(name); found != definitions().end()) {
      Values values;
      for (std::size_t i = 0; i < operands.size(); ++i) values[found->second.parameters[i]] = operands[i];
      return of(found->second.formula, values);
    }
    if (const auto found = unary_operators().find(name); found != unary_operators().end())
      return found->second(as_tensor(operands[0]));
    const Operand& left = operands[0];
    if (name == "POLYGAMMA") return polygamma_kernel(as_tensor(operands[1]), left.number());
    const Operand first = has_tensor ? left : Operand(as_tensor(left));
    if (name == "+") return add(first, operands[1], 1);
    if (name == "-") return sub(first, operands[1], 1);
    const auto found = binary_operators().find(name);
    require(found != binary_operators().end(), "no operator computes ", name);
    return found->second(first, operands[1]);
  }

  DType compute_;
  const Device& device_;
};

}  // namespace

Tensor evaluate(const std::string& expression, const std::map<std::string, Operand>& values, DType compute,
                const Device& device) {
  const Evaluation evaluation(compute, device);
  return evaluation.as_tensor(evaluation.of(dlprim::parse_formula(expression), values));
}

}  // namespace ocl
