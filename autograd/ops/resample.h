#pragma once

#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

#include "autograd/ops/declare.def"

#include "autograd/ops/resample.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
