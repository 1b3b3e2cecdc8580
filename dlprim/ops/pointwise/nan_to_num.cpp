#include "dlprim/ops/pointwise/nan_to_num.h"

#include "dlprim/core/real.h"

namespace dlprim {

const PointwiseOp& nan_to_num_row() {
  static const auto& row = *new PointwiseOp{"nan_to_num",
                                            1,
                                            {{"nan", 0}, {"posinf", 0}, {"neginf", 0}},
                                            TypeRule::Same,
                                            "ISNAN(a) ? nan : ISINF(a) ? (a > 0 ? posinf : neginf) : a",
                                            {"g * ISFINITE(a)"},
                                            "Numbers in the places of NaN and of the infinities."};
  return row;
}

std::vector<Scalar> nan_to_num_parameters(DType dtype, std::optional<double> nan,
                                          std::optional<double> posinf, std::optional<double> neginf) {
  if (!is_floating(dtype)) return {0, 0, 0};
  const double largest = largest_floating(dtype);
  return {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
}

}  // namespace dlprim
