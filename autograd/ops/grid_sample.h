#pragma once

#include <optional>
#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

#include "autograd/ops/declare.def"

#include "autograd/ops/grid_sample.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
