#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/resample.h"

/** \file Interpolation, padding, and sliding blocks. */

namespace torch_ocl {
namespace {

using ocl::Tensor;
using Sizes = std::vector<std::int64_t>;
using Scale = std::optional<double>;

template <dlprim::Interpolation mode, class... Scales>
Tensor interpolated(const Tensor& x, const Sizes& size, bool align_corners, const Scales&... scales) {
  dlprim::InterpolationGeometry geometry;
  geometry.mode = mode;
  geometry.axes = static_cast<int>(sizeof...(scales));
  geometry.align_corners = align_corners;
  std::size_t axis = 3 - sizeof...(scales);
  ((geometry.scale_factors[axis++] = scales && *scales > 0 ? scales : std::nullopt), ...);
  return ocl::interpolated(x, size, geometry);
}

/** The operators of one mode, by the scales that they take: one for each dimension. */
template <dlprim::Interpolation mode, class... Scales>
Tensor nearest(const Tensor& x, const Sizes& size, Scales... scales) {
  return interpolated<mode>(x, size, false, scales...);
}
template <class... Scales>
Tensor linear(const Tensor& x, const Sizes& size, bool align_corners, Scales... scales) {
  return interpolated<dlprim::Interpolation::linear>(x, size, align_corners, scales...);
}

template <bool cubic, bool antialias>
Tensor filtered(const Tensor& x, const Sizes& size, bool align_corners, Scale rows, Scale columns) {
  const auto given = [](Scale scale) { return scale && *scale > 0 ? scale : std::nullopt; };
  return ocl::filtered(x, size, {given(rows), given(columns)}, align_corners, cubic, antialias);
}

template <const char* mode>
Tensor padded(const Tensor& x, const Sizes& padding) {
  return ocl::pad(x, padding, mode);
}

constexpr char reflect[] = "reflect", replicate[] = "replicate";

template <class Function>
void with_gradient(RowKernels& m, const std::string& name, Function function) {
  m.function(name.c_str(), function, Takes::floating);
  m.gradient((name + "_backward").c_str());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  constexpr auto exact = dlprim::Interpolation::nearest_exact, usual = dlprim::Interpolation::nearest;
  with_gradient(m, "upsample_nearest1d", &nearest<usual, Scale>);
  with_gradient(m, "upsample_nearest2d", &nearest<usual, Scale, Scale>);
  with_gradient(m, "upsample_nearest3d", &nearest<usual, Scale, Scale, Scale>);
  with_gradient(m, "_upsample_nearest_exact1d", &nearest<exact, Scale>);
  with_gradient(m, "_upsample_nearest_exact2d", &nearest<exact, Scale, Scale>);
  with_gradient(m, "_upsample_nearest_exact3d", &nearest<exact, Scale, Scale, Scale>);
  with_gradient(m, "upsample_linear1d", &linear<Scale>);
  with_gradient(m, "upsample_bilinear2d", &linear<Scale, Scale>);
  with_gradient(m, "upsample_trilinear3d", &linear<Scale, Scale, Scale>);
  with_gradient(m, "upsample_bicubic2d", &filtered<true, false>);
  with_gradient(m, "_upsample_bilinear2d_aa", &filtered<false, true>);
  with_gradient(m, "_upsample_bicubic2d_aa", &filtered<true, true>);
  for (const char* axes : {"1d", "2d", "3d"}) {
    with_gradient(m, std::string("reflection_pad") + axes, &padded<reflect>);
    with_gradient(m, std::string("replication_pad") + axes, &padded<replicate>);
  }
  m.row("im2col", ocl::operator_form("unfold"));
  m.row("col2im", ocl::operator_form("fold"));
}

}  // namespace
}  // namespace torch_ocl
