#pragma once

#include "dlprim/core/dtype.h"

namespace dlprim {

/** Whether a result of dtype `from` may be written to a tensor of dtype `to`: not to one of a lower kind, of
 * bool, whole and floating numbers (torch.can_cast). The dtype that dtypes promote to together:
 * promote_types, result_type. */
bool can_cast(DType from, DType to);

}  // namespace dlprim
