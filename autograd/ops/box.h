#pragma once

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

// Boxes, as torchvision.ops: four coordinates in the last dimension, "xyxy" (two corners) unless said
// otherwise; also "xywh" (corner, width, height) and "cxcywh" (center, width, height). All throw ValueError
// for shapes that do not fit, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/box.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
