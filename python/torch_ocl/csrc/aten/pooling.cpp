#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/pool_gradients.h"

/** \file Pooling over planes, [N, C, H, W] or [C, H, W], and volumes, [N, C, D, H, W] or [C, D, H, W]. */

namespace torch_ocl {
namespace {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  using ocl::operator_form;
  m.row("avg_pool2d");
  m.row("avg_pool3d");
  m.row("_adaptive_avg_pool2d", operator_form("adaptive_avg_pool2d"));
  m.row("_adaptive_avg_pool3d", operator_form("adaptive_avg_pool3d"));
  m.gradient("avg_pool2d_backward");
  m.gradient("avg_pool3d_backward");
  m.function("_adaptive_avg_pool2d_backward", &ocl::adaptive_avg_pool2d_gradient);
  m.function("_adaptive_avg_pool3d_backward", &ocl::adaptive_avg_pool3d_gradient);
  m.row("adaptive_avg_pool2d.out", operator_form("adaptive_avg_pool2d"));
  m.row("adaptive_avg_pool3d.out", operator_form("adaptive_avg_pool3d"));
  m.function("max_pool2d_with_indices", &ocl::max_pool2d_with_indices, Takes::floating);
  m.function("max_pool3d_with_indices", &ocl::max_pool3d_with_indices, Takes::floating);
  m.function("max_pool2d_with_indices_backward", &ocl::max_pool2d_gradient);
  m.function("max_pool3d_with_indices_backward", &ocl::max_pool3d_gradient);
  m.function("adaptive_max_pool2d", &ocl::adaptive_max_pool2d_with_indices);
  m.function("adaptive_max_pool3d", &ocl::adaptive_max_pool3d_with_indices);
  m.function("adaptive_max_pool2d_backward", &ocl::adaptive_max_pool2d_gradient);
  m.function("adaptive_max_pool3d_backward", &ocl::adaptive_max_pool3d_gradient);
}

}  // namespace
}  // namespace torch_ocl
