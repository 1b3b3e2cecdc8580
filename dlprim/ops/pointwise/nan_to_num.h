#pragma once

#include <optional>
#include <vector>

#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

/** torch.nan_to_num, a row beside those of the table: it has three parameters, whose defaults depend on the
 * dtype. */
const PointwiseOp& nan_to_num_row();
/** Its parameters: where none is given 0, the largest and the least finite number of the dtype. Integers,
 * which stay as they are, have no use for any. */
std::vector<Scalar> nan_to_num_parameters(DType dtype, std::optional<double> nan,
                                          std::optional<double> posinf, std::optional<double> neginf);

}  // namespace dlprim
