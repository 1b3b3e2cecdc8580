#include <ATen/Operators.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/pool/pools.h"

/** \file Pooling over planes, [N, C, H, W] or [C, H, W], and volumes, [N, C, D, H, W] or [C, D, H, W]. */

namespace torch_ocl {
namespace {

using dlprim::Pools;
using Sizes = c10::IntArrayRef;

template <std::size_t axes>
dlprim::PoolGeometry<axes> geometry_of(Sizes kernel, Sizes stride, Sizes padding, Sizes dilation,
                                       bool ceil_mode) {
  dlprim::PoolGeometry<axes> g{};
  g.kernel = numbers_of<axes>(kernel);
  g.stride = stride.empty() ? g.kernel : numbers_of<axes>(stride);
  g.padding = numbers_of<axes>(padding);
  g.dilation = numbers_of<axes>(dilation);
  g.ceil_mode = ceil_mode;
  return g;
}

// ---- maxima

/** Calls `pool(x, y, places)`, the places as PyTorch has them, int64. */
template <class Pool>
std::tuple<at::Tensor&, at::Tensor&> pool_with_places(const at::Tensor& self, const dlprim::Dims& shape,
                                                      at::Tensor& out, at::Tensor& indices,
                                                      const Pool& pool) {
  at::native::resize_output(out, sizes_of(shape));
  at::native::resize_output(indices, sizes_of(shape));
  if (out.numel() == 0) return {out, indices};
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) {
    into(indices, [&](const dlprim::Tensor& places) { pool(raw(x), y, places); });
  });
  return {out, indices};
}

/** Calls `give(gradient, places, dx)`. */
template <class Give>
at::Tensor& unpool_gradient(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& indices,
                            at::Tensor& out, const Give& give) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous(), places = indices.contiguous();
  into(out, [&](const dlprim::Tensor& dx) { give(raw(g), raw(places), dx); });
  return out;
}

template <std::size_t axes, class Operator>
std::tuple<at::Tensor&, at::Tensor&> max_pool_out(const at::Tensor& self, Sizes kernel, Sizes stride,
                                                  Sizes padding, Sizes dilation, bool ceil_mode,
                                                  at::Tensor& out, at::Tensor& indices) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<Operator>::call(self, kernel, stride, padding, dilation, ceil_mode, out, indices);
  const auto geometry = geometry_of<axes>(kernel, stride, padding, dilation, ceil_mode);
  const dlprim::Dims shape = Pools<axes>::output_shape(Pools<axes>::max, dims_of(self.sizes()), geometry);
  return pool_with_places(self, shape, out, indices, [&](const auto& x, const auto& y, const auto& places) {
    Pools<axes>::max_forward(y.device().queue(), x, geometry, y, &places);
  });
}

template <std::size_t axes>
at::Tensor& max_pool_backward(const at::Tensor& grad, const at::Tensor& self, Sizes kernel, Sizes stride,
                              Sizes padding, Sizes dilation, bool ceil_mode, const at::Tensor& indices,
                              at::Tensor& out) {
  return unpool_gradient(grad, self, indices, out, [&](const auto& g, const auto& places, const auto& dx) {
    Pools<axes>::max_backward(dx.device().queue(), g, places,
                              geometry_of<axes>(kernel, stride, padding, dilation, ceil_mode), dx);
  });
}

std::tuple<at::Tensor, at::Tensor> max_pool3d(const at::Tensor& self, Sizes kernel, Sizes stride,
                                              Sizes padding, Sizes dilation, bool ceil_mode) {
  at::Tensor y = at::empty({0}, self.options()), places = at::empty({0}, self.options().dtype(c10::kLong));
  max_pool_out<3, at::_ops::max_pool3d_with_indices_out>(self, kernel, stride, padding, dilation, ceil_mode,
                                                         y, places);
  return {y, places};
}

at::Tensor max_pool3d_backward(const at::Tensor& grad, const at::Tensor& self, Sizes kernel, Sizes stride,
                               Sizes padding, Sizes dilation, bool ceil_mode, const at::Tensor& indices) {
  at::Tensor dx = at::empty(self.sizes(), self.options());
  return max_pool_backward<3>(grad, self, kernel, stride, padding, dilation, ceil_mode, indices, dx);
}

template <std::size_t axes>
std::tuple<at::Tensor&, at::Tensor&> adaptive_max_pool(const at::Tensor& self, Sizes size, at::Tensor& out,
                                                       at::Tensor& indices) {
  const dlprim::Dims shape = Pools<axes>::adaptive_output_shape(
      Pools<axes>::adaptive_max, dims_of(self.sizes()), numbers_of<axes, std::int64_t>(size));
  return pool_with_places(self, shape, out, indices, [&](const auto& x, const auto& y, const auto& places) {
    Pools<axes>::adaptive_max_forward(y.device().queue(), x, y, &places);
  });
}

template <std::size_t axes>
at::Tensor& adaptive_max_pool_backward(const at::Tensor& grad, const at::Tensor& self,
                                       const at::Tensor& indices, at::Tensor& out) {
  return unpool_gradient(grad, self, indices, out, [&](const auto& g, const auto& places, const auto& dx) {
    Pools<axes>::adaptive_max_backward(dx.device().queue(), g, places, dx);
  });
}

// ---- averages

dlprim::AveragePoolDivisor divisor_of(bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  return {count_include_pad, divisor_override.value_or(0)};
}

template <std::size_t axes, class Operator>
at::Tensor& avg_pool(const at::Tensor& self, Sizes kernel, Sizes stride, Sizes padding, bool ceil_mode,
                     bool count_include_pad, std::optional<std::int64_t> divisor_override, at::Tensor& out) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<Operator>::call(self, kernel, stride, padding, ceil_mode, count_include_pad,
                                    divisor_override, out);
  const auto geometry = geometry_of<axes>(kernel, stride, padding, 1, ceil_mode);
  const dlprim::Dims shape = Pools<axes>::output_shape(Pools<axes>::avg, dims_of(self.sizes()), geometry);
  at::native::resize_output(out, sizes_of(shape));
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) {
    Pools<axes>::avg_forward(y.device().queue(), raw(x), geometry,
                             divisor_of(count_include_pad, divisor_override), y);
  });
  return out;
}

template <std::size_t axes>
at::Tensor& avg_pool_backward(const at::Tensor& grad, const at::Tensor& self, Sizes kernel, Sizes stride,
                              Sizes padding, bool ceil_mode, bool count_include_pad,
                              std::optional<std::int64_t> divisor_override, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous();
  into(out, [&](const dlprim::Tensor& dx) {
    Pools<axes>::avg_backward(dx.device().queue(), raw(g),
                              geometry_of<axes>(kernel, stride, padding, 1, ceil_mode),
                              divisor_of(count_include_pad, divisor_override), dx);
  });
  return out;
}

template <std::size_t axes>
at::Tensor adaptive_avg_pool(const at::Tensor& self, Sizes size) {
  const at::Tensor x = self.contiguous();
  const dlprim::Dims shape = Pools<axes>::adaptive_output_shape(Pools<axes>::adaptive_avg, raw(x).shape,
                                                                numbers_of<axes, std::int64_t>(size));
  const at::Tensor y = at::empty(sizes_of(shape), x.options());
  if (y.numel() > 0) Pools<axes>::adaptive_avg_forward(device_under(x).queue(), raw(x), raw(y));
  return laid_out_as(self, y);
}

template <std::size_t axes>
at::Tensor& adaptive_avg_pool_out(const at::Tensor& self, Sizes size, at::Tensor& out) {
  const at::Tensor made = adaptive_avg_pool<axes>(self, size);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

template <std::size_t axes>
at::Tensor adaptive_avg_pool_backward(const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor g = grad.contiguous(), dx = at::empty(self.sizes(), self.options());
  if (dx.numel() > 0) Pools<axes>::adaptive_avg_backward(device_under(g).queue(), raw(g), raw(dx));
  return dx;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("avg_pool2d.out", &avg_pool<2, at::_ops::avg_pool2d_out>);
  m.impl("avg_pool2d_backward.grad_input", &avg_pool_backward<2>);
  m.impl("adaptive_avg_pool2d.out", &adaptive_avg_pool_out<2>);
  m.impl("adaptive_max_pool2d.out", &adaptive_max_pool<2>);
  m.impl("adaptive_max_pool2d_backward.grad_input", &adaptive_max_pool_backward<2>);
  m.impl("_adaptive_avg_pool2d", &adaptive_avg_pool<2>);
  m.impl("_adaptive_avg_pool2d_backward", &adaptive_avg_pool_backward<2>);
  m.impl("max_pool2d_with_indices.out", &max_pool_out<2, at::_ops::max_pool2d_with_indices_out>);
  m.impl("max_pool2d_with_indices_backward.grad_input", &max_pool_backward<2>);
  m.impl("avg_pool3d.out", &avg_pool<3, at::_ops::avg_pool3d_out>);
  m.impl("avg_pool3d_backward.grad_input", &avg_pool_backward<3>);
  m.impl("adaptive_avg_pool3d.out", &adaptive_avg_pool_out<3>);
  m.impl("adaptive_max_pool3d.out", &adaptive_max_pool<3>);
  m.impl("adaptive_max_pool3d_backward.grad_input", &adaptive_max_pool_backward<3>);
  m.impl("_adaptive_avg_pool3d", &adaptive_avg_pool<3>);
  m.impl("_adaptive_avg_pool3d_backward", &adaptive_avg_pool_backward<3>);
  m.impl("max_pool3d_with_indices", &max_pool3d);
  m.impl("max_pool3d_with_indices.out", &max_pool_out<3, at::_ops::max_pool3d_with_indices_out>);
  m.impl("max_pool3d_with_indices_backward", &max_pool3d_backward);
  m.impl("max_pool3d_with_indices_backward.grad_input", &max_pool_backward<3>);
}

}  // namespace
}  // namespace torch_ocl
