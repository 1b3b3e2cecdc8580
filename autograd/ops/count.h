#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "autograd/ops/pointwise.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** Values, where each element stands among them, and how often each occurs; undefined what was not asked for.
 */
using UniqueValues = std::tuple<Tensor, Tensor, Tensor>;

// Which values occur, how often, and where they belong (torch functions of the same names). Throw ValueError
// for shapes that do not fit, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/count.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
