#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Reading and writing by indices (torch functions of the same names). An index holds int64 or int32; one that
// is out of range throws IndexError at the next waiting point. Duplicates are added in a fixed order, and of
// several writes to one place the last along `dim` counts: every run gives the same. All throw ValueError for
// shapes that do not fit, IndexError for dimensions, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/index.def"

#include "autograd/ops/declare_end.def"

// In place. Throw AutogradError where the tape forbids it.

/** Like scatter_, without a record on the tape, for an index that names no place twice. */
void scatter_distinct_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src);

}  // namespace ocl
