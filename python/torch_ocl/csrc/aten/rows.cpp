#include "aten/rows.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch_ocl {

// Names, inputs and parameters are those of the operators in aten: a, b, c are its tensors in order,
// parameters its other arguments. Names that end in _kernel are no operators: functions of this back end call
// them. Expressions are as in dlprim/ops/pointwise/table.def, gradients those of
// `<name>_backward` where that is an operator of unary rows; all other derivatives are PyTorch's own.
const std::vector<dlprim::PointwiseOp>& more_rows() {
  using dlprim::TypeRule;
  static const auto& rows = *new std::vector<dlprim::PointwiseOp>{
      {"asinh", 1, {}, TypeRule::Float, "asinh(a)", {""}, ""},
      {"acosh", 1, {}, TypeRule::Float, "acosh(a)", {""}, ""},
      {"atanh", 1, {}, TypeRule::Float, "atanh(a)", {""}, ""},
      {"exp2", 1, {}, TypeRule::Float, "exp2(a)", {""}, ""},
      {"erfc", 1, {}, TypeRule::Float, "erfc(a)", {""}, ""},
      {"lgamma", 1, {}, TypeRule::Float, "lgamma(a)", {""}, ""},
      {"sinc", 1, {}, TypeRule::Float, "a == 0 ? (T)1 : sinpi(a) / (a * 3.141592653589793238)", {""}, ""},
      {"angle", 1, {}, TypeRule::Float, "isnan(a) ? a : a < 0 ? (T)3.141592653589793238 : (T)0", {""}, ""},
      {"special_entr",
       1,
       {},
       TypeRule::Float,
       "isnan(a) ? a : a > 0 ? -a * LOG(a) : a == 0 ? (T)0 : (T)-INFINITY",
       {""},
       ""},
      {"signbit", 1, {}, TypeRule::Bool, "copysign(1.0f, (float)(a)) < 0", {""}, ""},
      {"isposinf", 1, {}, TypeRule::Bool, "ISINF(a) && a > 0", {""}, ""},
      {"isneginf", 1, {}, TypeRule::Bool, "ISINF(a) && a < 0", {""}, ""},
      {"hardshrink",
       1,
       {{"lambd", 0.5}},
       TypeRule::Float,
       "a >= -lambd && a <= lambd ? (T)0 : a",
       {"a >= -lambd && a <= lambd ? (T)0 : g"},
       ""},
      {"softshrink",
       1,
       {{"lambd", 0.5}},
       TypeRule::Float,
       "a > lambd ? a - lambd : a < -lambd ? a + lambd : a * 0",
       {"a >= -lambd && a <= lambd ? (T)0 : g"},
       ""},
      {"elu",
       1,
       {{"alpha", 1}, {"scale", 1}, {"input_scale", 1}},
       TypeRule::Float,
       "a > 0 ? a * scale : EXPM1(a * input_scale) * (alpha * scale)",
       {""},
       ""},
      {"elu_backward",
       2,
       {{"alpha", 1}, {"scale", 1}, {"input_scale", 1}, {"is_result", 0}},
       TypeRule::Float,
       "b <= 0 ? a * input_scale * (is_result != 0 ? b + alpha * scale : "
       "alpha * scale * exp(b * input_scale)) : a * scale",
       {"", ""},
       ""},
      {"leaky_relu_backward",
       2,
       {{"negative_slope", 0.01}, {"self_is_result", 0}},
       TypeRule::Float,
       "b > 0 ? a : a * negative_slope",
       {"", ""},
       ""},
      {"logit",
       1,
       {{"eps", -1}},
       TypeRule::Float,
       // Bounds in this order: an eps above 1/2 swaps them.
       "eps < 0 ? LOG(a / (1 - a)) : a < eps ? LOG(eps / (1 - eps)) : "
       "a > 1 - eps ? LOG((1 - eps) / (1 - (1 - eps))) : LOG(a / (1 - a))",
       {""},
       ""},
      {"logit_backward",
       2,
       {{"eps", -1}},
       TypeRule::Float,
       "eps < 0 ? (b < 0 || b > 1 ? (T)NAN : b == 0 || b == 1 ? a * (T)INFINITY : a / (b * (1 - b)))"
       " : b < eps || b > 1 - eps ? (T)0 : a / (b * (1 - b))",
       {"", ""},
       ""},
      {"rsub", 2, {{"alpha", 1}}, TypeRule::Number, "b - alpha * a", {"", ""}, ""},
      {"hypot", 2, {}, TypeRule::Float, "hypot(a, b)", {"", ""}, ""},
      {"copysign", 2, {}, TypeRule::Float, "copysign(a, b)", {"", ""}, ""},
      {"xlogy", 2, {}, TypeRule::Float, "isnan(b) ? b : a == 0 ? (T)0 : a * LOG(b)", {"", ""}, ""},
      {"special_xlog1py",
       2,
       {},
       TypeRule::Float,
       "isnan(b) ? b : a == 0 ? (T)0 : a * LOG1P(b)",
       {"", ""},
       ""},
      {"heaviside", 2, {}, TypeRule::Same, "a == 0 ? b : (T)(a > 0)", {"", ""}, ""},
      {"fmax", 2, {}, TypeRule::Same, "ISNAN(a) ? b : ISNAN(b) ? a : MAXIMUM(a, b)", {"", ""}, ""},
      {"fmin", 2, {}, TypeRule::Same, "ISNAN(a) ? b : ISNAN(b) ? a : MINIMUM(a, b)", {"", ""}, ""},
      {"logaddexp2",
       2,
       {},
       TypeRule::Float,
       "a == b ? a + 1 : fmax(a, b) + LOG1P(exp2(-fabs(a - b))) * (T)1.442695040888963407",
       {"", ""},
       ""},
      {"bitwise_left_shift", 2, {}, TypeRule::Integral, "b < 0 || b > 63 ? 0 : a << b", {"", ""}, ""},
      {"bitwise_right_shift", 2, {}, TypeRule::Integral, "a >> (b < 0 || b > 63 ? 63 : b)", {"", ""}, ""},
      {"_prelu_kernel", 2, {}, TypeRule::Same, "a > 0 ? a : b * a", {"", ""}, ""},
      {"nan_to_num_kernel",
       1,
       {{"nan", 0}, {"posinf", 0}, {"neginf", 0}},
       TypeRule::Same,
       "ISNAN(a) ? nan : ISINF(a) ? (a > 0 ? posinf : neginf) : a",
       {""},
       ""},
      {"round_kernel",
       1,
       {{"factor", 1}, {"divides", 0}},
       TypeRule::Float,
       "divides != 0 ? rint(a / factor) * factor : rint(a * factor) / factor",
       {""},
       ""},
  };
  return rows;
}

const dlprim::PointwiseOp& more_row(std::string_view name) {
  const auto& rows = more_rows();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  TORCH_CHECK(found != rows.end(), "there is no row ", std::string(name));
  return *found;
}

}  // namespace torch_ocl
