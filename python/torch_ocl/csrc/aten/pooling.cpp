#include <ATen/Operators.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/pool/max_pool.h"

namespace torch_ocl {
namespace {

dlprim::Pool2dGeometry geometry_of(c10::IntArrayRef kernel, c10::IntArrayRef stride, c10::IntArrayRef padding,
                                   c10::IntArrayRef dilation, bool ceil_mode) {
  dlprim::Pool2dGeometry g;
  g.kernel = pair_of(kernel);
  g.stride = stride.empty() ? g.kernel : pair_of(stride);
  g.padding = pair_of(padding);
  g.dilation = pair_of(dilation);
  g.ceil_mode = ceil_mode;
  return g;
}

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

std::tuple<at::Tensor&, at::Tensor&> max_pool2d(const at::Tensor& self, c10::IntArrayRef kernel,
                                                c10::IntArrayRef stride, c10::IntArrayRef padding,
                                                c10::IntArrayRef dilation, bool ceil_mode, at::Tensor& out,
                                                at::Tensor& indices) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<at::_ops::max_pool2d_with_indices_out>::call(self, kernel, stride, padding, dilation,
                                                                 ceil_mode, out, indices);
  const dlprim::Pool2dGeometry geometry = geometry_of(kernel, stride, padding, dilation, ceil_mode);
  const dlprim::Dims shape = dlprim::pool2d_output_shape("max_pool2d", dims_of(self.sizes()), geometry);
  return pool_with_places(self, shape, out, indices, [&](const auto& x, const auto& y, const auto& places) {
    dlprim::max_pool2d_forward(y.device().queue(), x, geometry, y, &places);
  });
}

at::Tensor& max_pool2d_backward(const at::Tensor& grad, const at::Tensor& self, c10::IntArrayRef kernel,
                                c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                                bool ceil_mode, const at::Tensor& indices, at::Tensor& out) {
  return unpool_gradient(grad, self, indices, out, [&](const auto& g, const auto& places, const auto& dx) {
    dlprim::max_pool2d_backward(dx.device().queue(), g, places,
                                geometry_of(kernel, stride, padding, dilation, ceil_mode), dx);
  });
}

dlprim::AveragePoolDivisor divisor_of(bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  return {count_include_pad, divisor_override.value_or(0)};
}

at::Tensor& avg_pool2d(const at::Tensor& self, c10::IntArrayRef kernel, c10::IntArrayRef stride,
                       c10::IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                       std::optional<std::int64_t> divisor_override, at::Tensor& out) {
  if (!c10::isFloatingType(self.scalar_type()))
    return OnTheCpu<at::_ops::avg_pool2d_out>::call(self, kernel, stride, padding, ceil_mode,
                                                    count_include_pad, divisor_override, out);
  const dlprim::Pool2dGeometry geometry = geometry_of(kernel, stride, padding, 1, ceil_mode);
  const dlprim::Dims shape = dlprim::pool2d_output_shape("avg_pool2d", dims_of(self.sizes()), geometry);
  at::native::resize_output(out, sizes_of(shape));
  if (out.numel() == 0) return out;
  const at::Tensor x = self.contiguous();
  into(out, [&](const dlprim::Tensor& y) {
    dlprim::avg_pool2d_forward(y.device().queue(), raw(x), geometry,
                               divisor_of(count_include_pad, divisor_override), y);
  });
  return out;
}

at::Tensor& avg_pool2d_backward(const at::Tensor& grad, const at::Tensor& self, c10::IntArrayRef kernel,
                                c10::IntArrayRef stride, c10::IntArrayRef padding, bool ceil_mode,
                                bool count_include_pad, std::optional<std::int64_t> divisor_override,
                                at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous();
  into(out, [&](const dlprim::Tensor& dx) {
    dlprim::avg_pool2d_backward(dx.device().queue(), raw(g),
                                geometry_of(kernel, stride, padding, 1, ceil_mode),
                                divisor_of(count_include_pad, divisor_override), dx);
  });
  return out;
}

at::Tensor adaptive_avg_pool2d(const at::Tensor& self, c10::IntArrayRef size) {
  const at::Tensor x = self.contiguous();
  const dlprim::Dims shape =
      dlprim::adaptive_pool2d_output_shape("adaptive_avg_pool2d", raw(x).shape, {size.front(), size.back()});
  const at::Tensor y = at::empty(sizes_of(shape), x.options());
  if (y.numel() > 0) dlprim::adaptive_avg_pool2d_forward(device_under(x).queue(), raw(x), raw(y));
  return laid_out_as(self, y);
}

at::Tensor& adaptive_avg_pool2d_out(const at::Tensor& self, c10::IntArrayRef size, at::Tensor& out) {
  const at::Tensor made = at::_adaptive_avg_pool2d(self, size);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

std::tuple<at::Tensor&, at::Tensor&> adaptive_max_pool2d(const at::Tensor& self, c10::IntArrayRef size,
                                                         at::Tensor& out, at::Tensor& indices) {
  const dlprim::Dims shape = dlprim::adaptive_pool2d_output_shape(
      "adaptive_max_pool2d", dims_of(self.sizes()), {size.front(), size.back()});
  return pool_with_places(self, shape, out, indices, [&](const auto& x, const auto& y, const auto& places) {
    dlprim::adaptive_max_pool2d_forward(y.device().queue(), x, y, &places);
  });
}

at::Tensor& adaptive_max_pool2d_backward(const at::Tensor& grad, const at::Tensor& self,
                                         const at::Tensor& indices, at::Tensor& out) {
  return unpool_gradient(grad, self, indices, out, [&](const auto& g, const auto& places, const auto& dx) {
    dlprim::adaptive_max_pool2d_backward(dx.device().queue(), g, places, dx);
  });
}

at::Tensor adaptive_avg_pool2d_backward(const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor g = grad.contiguous(), dx = at::empty(self.sizes(), self.options());
  if (dx.numel() > 0) dlprim::adaptive_avg_pool2d_backward(device_under(g).queue(), raw(g), raw(dx));
  return dx;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("avg_pool2d.out", &avg_pool2d);
  m.impl("avg_pool2d_backward.grad_input", &avg_pool2d_backward);
  m.impl("adaptive_avg_pool2d.out", &adaptive_avg_pool2d_out);
  m.impl("adaptive_max_pool2d.out", &adaptive_max_pool2d);
  m.impl("adaptive_max_pool2d_backward.grad_input", &adaptive_max_pool2d_backward);
  m.impl("_adaptive_avg_pool2d", &adaptive_avg_pool2d);
  m.impl("_adaptive_avg_pool2d_backward", &adaptive_avg_pool2d_backward);
  m.impl("max_pool2d_with_indices.out", &max_pool2d);
  m.impl("max_pool2d_with_indices_backward.grad_input", &max_pool2d_backward);
}

}  // namespace
}  // namespace torch_ocl
