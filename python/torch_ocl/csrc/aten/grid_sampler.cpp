#include <ATen/native/GridSamplerUtils.h>
#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/grid_sample.h"

/** \file grid_sample over planes and volumes. */

namespace torch_ocl {
namespace {

ocl::Tensor grid_sampler(const ocl::Tensor& input, const ocl::Tensor& grid, std::int64_t mode,
                         std::int64_t padding, bool align_corners) {
  using at::native::GridSamplerInterpolation;
  using at::native::GridSamplerPadding;
  static_assert(static_cast<int>(GridSamplerInterpolation::Bicubic) == 2 &&
                static_cast<int>(GridSamplerPadding::Reflection) == 2);
  return ocl::grid_sample(input, grid,
                          word_of("interpolation_mode", mode, {"bilinear", "nearest", "bicubic"}),
                          word_of("padding_mode", padding, {"zeros", "border", "reflection"}), align_corners);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  for (const char* name : {"grid_sampler_2d", "grid_sampler_3d"}) {
    m.function(name, &grid_sampler);
    m.gradient((std::string(name) + "_backward").c_str());
  }
}

}  // namespace
}  // namespace torch_ocl
