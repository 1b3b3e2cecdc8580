#include <ATen/Operators.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/pad.h"
#include "dlprim/ops/resample/unfold.h"

/** \file Interpolation, padding, and sliding blocks. */

namespace torch_ocl {
namespace {

// ---- interpolation

template <dlprim::Interpolation mode, class... Scale>
dlprim::InterpolationGeometry interpolation(bool align_corners, const Scale&... scales) {
  dlprim::InterpolationGeometry geometry;
  geometry.mode = mode;
  geometry.axes = static_cast<int>(sizeof...(scales));
  geometry.align_corners = align_corners;
  std::size_t axis = 3 - sizeof...(scales);
  ((geometry.scale_factors[axis++] = scales && *scales > 0 ? scales : std::nullopt), ...);
  return geometry;
}

at::Tensor& upsample(const at::Tensor& self, c10::IntArrayRef size,
                     const dlprim::InterpolationGeometry& geometry, at::Tensor& out) {
  TORCH_CHECK(self.dim() == geometry.axes + 2 && size.size() == static_cast<std::size_t>(geometry.axes),
              "expected an input of ", geometry.axes + 2, " dimensions and ", geometry.axes,
              " sizes, got shape ", self.sizes(), " and sizes ", size);
  std::vector<std::int64_t> shape{self.size(0), self.size(1)};
  shape.insert(shape.end(), size.begin(), size.end());
  at::native::resize_output(out, shape);
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) {
    dlprim::interpolate_forward(y.device().queue(), raw(x), geometry, y);
  });
  return out;
}

at::Tensor& upsample_backward(const at::Tensor& grad, c10::IntArrayRef input_size,
                              const dlprim::InterpolationGeometry& geometry, at::Tensor& out) {
  at::native::resize_output(out, input_size);
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous();
  into(out, [&](const dlprim::Tensor& dx) {
    dlprim::interpolate_backward(dx.device().queue(), raw(g), geometry, dx);
  });
  return out;
}

using Sizes = c10::IntArrayRef;
using Scale = std::optional<double>;

/** The kernels of one mode, by the number of scales that its operator takes. Images of bytes the CPU does. */
template <class Operator, dlprim::Interpolation mode, class... Scales>
struct Nearest {
  static at::Tensor& forward(const at::Tensor& self, Sizes size, Scales... scales, at::Tensor& out) {
    if (!c10::isFloatingType(self.scalar_type())) return OnTheCpu<Operator>::call(self, size, scales..., out);
    return upsample(self, size, interpolation<mode>(false, scales...), out);
  }
  static at::Tensor& backward(const at::Tensor& grad, Sizes, Sizes input_size, Scales... scales,
                              at::Tensor& out) {
    return upsample_backward(grad, input_size, interpolation<mode>(false, scales...), out);
  }
};
template <class Operator, class... Scales>
struct Linear {
  static constexpr dlprim::Interpolation mode = dlprim::Interpolation::linear;
  static at::Tensor& forward(const at::Tensor& self, Sizes size, bool align_corners, Scales... scales,
                             at::Tensor& out) {
    if (!c10::isFloatingType(self.scalar_type()))
      return OnTheCpu<Operator>::call(self, size, align_corners, scales..., out);
    return upsample(self, size, interpolation<mode>(align_corners, scales...), out);
  }
  static at::Tensor& backward(const at::Tensor& grad, Sizes, Sizes input_size, bool align_corners,
                              Scales... scales, at::Tensor& out) {
    return upsample_backward(grad, input_size, interpolation<mode>(align_corners, scales...), out);
  }
};

// ---- padding

/** What numbers for the last dimension, before those of the one before it, stand for. */
dlprim::PadGeometry padding_of(dlprim::PadMode mode, c10::IntArrayRef padding) {
  dlprim::PadGeometry geometry;
  geometry.mode = mode;
  geometry.axes = static_cast<int>(padding.size() / 2);
  for (std::size_t i = 0; i < padding.size() / 2; ++i) {
    geometry.before[2 - i] = static_cast<int>(padding[2 * i]);
    geometry.after[2 - i] = static_cast<int>(padding[2 * i + 1]);
  }
  return geometry;
}

/** As PyTorch's kernels: of an input whose channels are last `out` takes the memory format, whatever strides
 * it had; else it keeps them. */
void resize_as_its_input(at::Tensor& out, c10::IntArrayRef sizes, const at::Tensor& input) {
  at::native::resize_output(out, sizes);
  const c10::MemoryFormat format = input.suggest_memory_format();
  if (format != c10::MemoryFormat::Contiguous) out.resize_(sizes, format);
}

template <dlprim::PadMode mode, class Operator>
at::Tensor& pad_out(const at::Tensor& self, c10::IntArrayRef padding, at::Tensor& out) {
  if (!c10::isFloatingType(self.scalar_type())) return OnTheCpu<Operator>::call(self, padding, out);
  const dlprim::PadGeometry geometry = padding_of(mode, padding);
  resize_as_its_input(out, sizes_of(dlprim::pad_output_shape("pad", dims_of(self.sizes()), geometry)), self);
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) { dlprim::pad_forward(y.device().queue(), raw(x), geometry, y); });
  return out;
}

template <dlprim::PadMode mode, class Operator>
at::Tensor pad(const at::Tensor& self, c10::IntArrayRef padding) {
  at::Tensor out = at::empty({0}, self.options());
  return pad_out<mode, Operator>(self, padding, out);
}

template <dlprim::PadMode mode>
at::Tensor& pad_backward_out(const at::Tensor& grad, const at::Tensor& self, c10::IntArrayRef padding,
                             at::Tensor& out) {
  resize_as_its_input(out, self.sizes(), self);
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous();
  into(out, [&](const dlprim::Tensor& dx) {
    dlprim::pad_backward(dx.device().queue(), raw(g), padding_of(mode, padding), dx);
  });
  return out;
}

template <dlprim::PadMode mode>
at::Tensor pad_backward(const at::Tensor& grad, const at::Tensor& self, c10::IntArrayRef padding) {
  at::Tensor out = at::empty({0}, self.options());
  return pad_backward_out<mode>(grad, self, padding, out);
}

// ---- sliding blocks

dlprim::BlockGeometry blocks_of(c10::IntArrayRef kernel, c10::IntArrayRef dilation, c10::IntArrayRef padding,
                                c10::IntArrayRef stride) {
  return {pair_of(kernel), pair_of(dilation), pair_of(padding), pair_of(stride)};
}

at::Tensor& im2col_out(const at::Tensor& self, c10::IntArrayRef kernel, c10::IntArrayRef dilation,
                       c10::IntArrayRef padding, c10::IntArrayRef stride, at::Tensor& out) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<at::_ops::im2col_out>::call(self, kernel, dilation, padding, stride, out);
  const dlprim::BlockGeometry geometry = blocks_of(kernel, dilation, padding, stride);
  at::native::resize_output(out,
                            sizes_of(dlprim::unfold_output_shape("im2col", dims_of(self.sizes()), geometry)));
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) { dlprim::unfold(y.device().queue(), raw(x), geometry, y); });
  return out;
}

at::Tensor im2col(const at::Tensor& self, c10::IntArrayRef kernel, c10::IntArrayRef dilation,
                  c10::IntArrayRef padding, c10::IntArrayRef stride) {
  at::Tensor out = at::empty({0}, self.options());
  return im2col_out(self, kernel, dilation, padding, stride, out);
}

at::Tensor& col2im_out(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef kernel,
                       c10::IntArrayRef dilation, c10::IntArrayRef padding, c10::IntArrayRef stride,
                       at::Tensor& out) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<at::_ops::col2im_out>::call(self, size, kernel, dilation, padding, stride, out);
  const dlprim::BlockGeometry geometry = blocks_of(kernel, dilation, padding, stride);
  at::native::resize_output(
      out, sizes_of(dlprim::fold_output_shape("col2im", dims_of(self.sizes()), pair_of(size), geometry)));
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) { dlprim::fold(y.device().queue(), raw(x), geometry, y); });
  return out;
}

at::Tensor col2im(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef kernel,
                  c10::IntArrayRef dilation, c10::IntArrayRef padding, c10::IntArrayRef stride) {
  at::Tensor out = at::empty({0}, self.options());
  return col2im_out(self, size, kernel, dilation, padding, stride, out);
}

template <class Resampling>
void register_interpolation(Kernels& m, const std::string& name) {
  m.impl((name + ".out").c_str(), &Resampling::forward);
  m.impl((name + "_backward.grad_input").c_str(), &Resampling::backward);
}

/** PyTorch makes the functional forms of structured operators itself. */
template <dlprim::PadMode mode, class Operator>
void register_padding(Kernels& m, const std::string& name, bool forward_is_structured,
                      bool backward_is_structured) {
  m.impl((name + ".out").c_str(), &pad_out<mode, Operator>);
  m.impl((name + "_backward.grad_input").c_str(), &pad_backward_out<mode>);
  if (!forward_is_structured) m.impl(name.c_str(), &pad<mode, Operator>);
  if (!backward_is_structured) m.impl((name + "_backward").c_str(), &pad_backward<mode>);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  using dlprim::Interpolation;
  using dlprim::PadMode;
  register_interpolation<Nearest<at::_ops::upsample_nearest1d_out, Interpolation::nearest, Scale>>(
      m, "upsample_nearest1d");
  register_interpolation<Nearest<at::_ops::upsample_nearest2d_out, Interpolation::nearest, Scale, Scale>>(
      m, "upsample_nearest2d");
  register_interpolation<
      Nearest<at::_ops::upsample_nearest3d_out, Interpolation::nearest, Scale, Scale, Scale>>(
      m, "upsample_nearest3d");
  register_interpolation<
      Nearest<at::_ops::_upsample_nearest_exact1d_out, Interpolation::nearest_exact, Scale>>(
      m, "_upsample_nearest_exact1d");
  register_interpolation<
      Nearest<at::_ops::_upsample_nearest_exact2d_out, Interpolation::nearest_exact, Scale, Scale>>(
      m, "_upsample_nearest_exact2d");
  register_interpolation<
      Nearest<at::_ops::_upsample_nearest_exact3d_out, Interpolation::nearest_exact, Scale, Scale, Scale>>(
      m, "_upsample_nearest_exact3d");
  register_interpolation<Linear<at::_ops::upsample_linear1d_out, Scale>>(m, "upsample_linear1d");
  register_interpolation<Linear<at::_ops::upsample_bilinear2d_out, Scale, Scale>>(m, "upsample_bilinear2d");
  register_interpolation<Linear<at::_ops::upsample_trilinear3d_out, Scale, Scale, Scale>>(
      m, "upsample_trilinear3d");
  register_padding<PadMode::reflect, at::_ops::reflection_pad1d_out>(m, "reflection_pad1d", true, true);
  register_padding<PadMode::reflect, at::_ops::reflection_pad2d_out>(m, "reflection_pad2d", false, false);
  register_padding<PadMode::reflect, at::_ops::reflection_pad3d_out>(m, "reflection_pad3d", true, true);
  register_padding<PadMode::replicate, at::_ops::replication_pad1d_out>(m, "replication_pad1d", true, true);
  register_padding<PadMode::replicate, at::_ops::replication_pad2d_out>(m, "replication_pad2d", true, false);
  register_padding<PadMode::replicate, at::_ops::replication_pad3d_out>(m, "replication_pad3d", true, false);
  m.impl("im2col", &im2col);
  m.impl("im2col.out", &im2col_out);
  m.impl("col2im", &col2im);
  m.impl("col2im.out", &col2im_out);
}

}  // namespace
}  // namespace torch_ocl
