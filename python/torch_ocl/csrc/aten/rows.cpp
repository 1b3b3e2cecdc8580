#include "aten/rows.h"

namespace torch_ocl {

// Names, inputs and parameters are those of the operators in aten: a, b are its tensors in order, parameters
// its other arguments. Expressions are as in dlprim/ops/pointwise/table.def.
const std::vector<dlprim::PointwiseOp>& more_rows() {
  using dlprim::TypeRule;
  static const auto& rows = *new std::vector<dlprim::PointwiseOp>{
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
      {"i0", 1, {}, TypeRule::Float, "BESSEL_I0(a)", {""}, ""},
      {"special_i0e", 1, {}, TypeRule::Float, "BESSEL_I0E(a)", {""}, ""},
      {"special_i1", 1, {}, TypeRule::Float, "BESSEL_I1(a)", {""}, ""},
      {"special_i1e", 1, {}, TypeRule::Float, "BESSEL_I1E(a)", {""}, ""},
      {"special_modified_bessel_i0", 1, {}, TypeRule::Float, "BESSEL_I0(a)", {""}, ""},
      {"special_modified_bessel_i1", 1, {}, TypeRule::Float, "BESSEL_I1(a)", {""}, ""},
      {"special_modified_bessel_k0", 1, {}, TypeRule::Float, "BESSEL_K0(a, 0)", {""}, ""},
      {"special_modified_bessel_k1", 1, {}, TypeRule::Float, "BESSEL_K1(a, 0)", {""}, ""},
      {"special_scaled_modified_bessel_k0", 1, {}, TypeRule::Float, "BESSEL_K0(a, 1)", {""}, ""},
      {"special_scaled_modified_bessel_k1", 1, {}, TypeRule::Float, "BESSEL_K1(a, 1)", {""}, ""},
      {"special_zeta",
       2,
       {},
       TypeRule::Float,
       "a < 1 ? NAN : a == 1 ? INFINITY : b <= 0 && a != FLOOR(a) && b != FLOOR(b) ? NAN : HURWITZ_ZETA(a, "
       "b)",
       {"", ""},
       ""},
  };
  return rows;
}

}  // namespace torch_ocl
