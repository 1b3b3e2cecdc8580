#include "aten/accepted_types.h"

#include <c10/util/Exception.h>

#include <unordered_set>

#include "dlprim/ops/pointwise/complex_form.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using Names = std::unordered_set<std::string>;

/** Rows for floating tensors alone. */
const Names& floating_rows() {
  static const auto& names = *new Names{
      "softplus",    "silu",       "elu",      "hardswish",  "hardsigmoid",    "mish",         "leaky_relu",
      "softshrink",  "hardshrink", "mse_loss", "huber_loss", "smooth_l1_loss", "prelu_kernel", "lerp",
      "log_sigmoid", "logsigmoid", "celu",     "selu",       "gelu",           "rrelu"};
  return names;
}

/** Rows for numbers, but not for bool. */
const Names& rows_of_numbers() {
  static const auto& names = *new Names{"abs",
                                        "ceil",
                                        "floor",
                                        "round",
                                        "trunc",
                                        "frac",
                                        "relu",
                                        "threshold",
                                        "hypot",
                                        "logaddexp",
                                        "fmod",
                                        "remainder",
                                        "addcmul",
                                        "pow",
                                        "div_floor",
                                        "div_trunc",
                                        "logaddexp2",
                                        "bitwise_left_shift",
                                        "bitwise_right_shift"};
  return names;
}

bool is_bool(const dlprim::PointwiseOperand& operand) {
  const auto* tensor = std::get_if<dlprim::Tensor>(&operand);
  return (tensor ? tensor->dtype : std::get<dlprim::Scalar>(operand).dtype()) == dlprim::DType::boolean;
}

}  // namespace

bool takes_complex(const dlprim::PointwiseOp& row) {
  const bool is_for_real = floating_rows().count(row.name) > 0 && row.name != "lerp" && row.name != "silu";
  return !is_for_real && dlprim::has_complex_form(row.forward);
}

void require_accepted(const std::string& row, const std::vector<dlprim::PointwiseOperand>& inputs,
                      dlprim::DType promoted) {
  if (row == "sub" || row == "rsub")
    for (const dlprim::PointwiseOperand& input : inputs)
      TORCH_CHECK(
          !is_bool(input),
          "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert "
          "a mask, use the `~` or `logical_not()` operator instead.");
  if (row == "lerp")  // the number that it goes by is floating
    for (const dlprim::PointwiseOperand& input : inputs)
      if (const auto* tensor = std::get_if<dlprim::Tensor>(&input);
          tensor && dlprim::is_integral(tensor->dtype))
        promoted = tensor->dtype;
  if (dlprim::is_floating(promoted) || dlprim::is_complex(promoted)) return;
  TORCH_CHECK(
      row != "addcdiv",
      "Integer division with addcdiv is not supported: divide first, or convert to floating numbers.");
  const auto* exponent = row == "pow" ? std::get_if<dlprim::Scalar>(&inputs[1]) : nullptr;
  const bool is_refused = floating_rows().count(row) > 0 || (promoted == dlprim::DType::boolean &&
                                                             !exponent && rows_of_numbers().count(row) > 0);
  TORCH_CHECK_NOT_IMPLEMENTED(!is_refused, "\"", row, "\" not implemented for '", type_of(promoted), "'");
}

}  // namespace torch_ocl
