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
  };
  return rows;
}

}  // namespace torch_ocl
