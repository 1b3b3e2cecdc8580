#pragma once

/** \file Tensors, the functions on them, and the tape. */

#include "autograd/autocast.h"
#include "autograd/export.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/box.h"
#include "autograd/ops/compare.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/count.h"
#include "autograd/ops/creation_options.h"
#include "autograd/ops/distance.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/einsum.h"
#include "autograd/ops/fft.h"
#include "autograd/ops/grid_sample.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_expression.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/quantized.h"
#include "autograd/ops/random.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/rnn.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sort.h"
#include "autograd/ops/views.h"
#include "autograd/profiler.h"
#include "autograd/tape/engine.h"
#include "autograd/tape/function.h"
#include "autograd/tape/gradcheck.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/accessor.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/device.h"
#include "autograd/tensor/generator.h"
#include "autograd/tensor/precision.h"
#include "autograd/tensor/print.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/core/shapes_only.h"
#include "dlprim/runtime/kernel_cache.h"

namespace ocl {

using dlprim::KernelCacheInfo;
using dlprim::ShapesOnly;

/** Where kernel binaries are kept, and what this process found there or built. */
inline KernelCacheInfo kernel_cache_info() {
  return dlprim::KernelCache::global().info();
}

}  // namespace ocl
