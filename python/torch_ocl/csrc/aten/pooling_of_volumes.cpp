#include <ATen/Operators.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"

/** \file Pooling over three dimensions: over height and width, then over the depth. What is pooled may be [C,
 * depth, height, width] or a batch of that. */

namespace torch_ocl {
namespace {

using Sizes = c10::IntArrayRef;

/** One number for all three, or three. */
std::array<std::int64_t, 3> triple_of(Sizes values) {
  TORCH_CHECK(values.size() == 1 || values.size() == 3, "expected one or three numbers, got ", values);
  return {values.front(), values[values.size() / 2], values.back()};
}

struct Window {
  std::array<std::int64_t, 3> kernel, stride, padding, dilation;

  Window(Sizes given_kernel, Sizes given_stride, Sizes given_padding, Sizes given_dilation)
      : kernel(triple_of(given_kernel)),
        stride(given_stride.empty() ? kernel : triple_of(given_stride)),
        padding(triple_of(given_padding)),
        dilation(triple_of(given_dilation)) {}
};

/** Of one of the arrays: what counts for planes, and along the depth. */
Sizes for_planes(const std::array<std::int64_t, 3>& of) {
  return Sizes(of).slice(1);
}
std::array<std::int64_t, 2> for_depth(const std::array<std::int64_t, 3>& of, std::int64_t other) {
  return {of[0], other};
}

void require_volumes(const char* name, const at::Tensor& self) {
  TORCH_CHECK(self.dim() == 4 || self.dim() == 5, name, "(): Expected 4D or 5D tensor, but got ",
              self.sizes());
}

/** [… * depth, 1, H, W], and […, 1, depth, the places of a plane]: the first may be empty. */
at::Tensor as_planes(const at::Tensor& volumes) {
  return volumes.flatten(0, -3).unsqueeze(1);
}
at::Tensor as_columns(const at::Tensor& volumes) {
  return volumes.flatten(-2).flatten(0, -3).unsqueeze(1);
}

/** The shape of `self` with other sizes of its last three dimensions. */
std::vector<std::int64_t> with_sizes(const at::Tensor& self, std::int64_t depth, const at::Tensor& planes) {
  std::vector<std::int64_t> shape = self.sizes().slice(0, static_cast<std::size_t>(self.dim() - 3)).vec();
  shape.insert(shape.end(), {depth, planes.size(-2), planes.size(-1)});
  return shape;
}

at::Tensor& give(const at::Tensor& made, at::Tensor& out) {
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

// ---- averages

/** The divisor of a window is the product of those of its parts; one that is given counts once. */
std::optional<std::int64_t> for_one_part(std::optional<std::int64_t> divisor) {
  return divisor ? std::optional<std::int64_t>(1) : std::nullopt;
}

at::Tensor& avg_pool3d(const at::Tensor& self, Sizes kernel, Sizes stride, Sizes padding, bool ceil_mode,
                       bool count_include_pad, std::optional<std::int64_t> divisor, at::Tensor& out) {
  require_volumes("avg_pool3d", self);
  if (!c10::isFloatingType(self.scalar_type()))  // the averages of planes would be rounded
    return OnTheCpu<at::_ops::avg_pool3d_out>::call(self, kernel, stride, padding, ceil_mode,
                                                    count_include_pad, divisor, out);
  const Window w(kernel, stride, padding, 1);
  const at::Tensor planes =
      at::avg_pool2d(as_planes(self), for_planes(w.kernel), for_planes(w.stride), for_planes(w.padding),
                     ceil_mode, count_include_pad, for_one_part(divisor));
  const at::Tensor columns = as_columns(planes.view(with_sizes(self, self.size(-3), planes)));
  const at::Tensor made = at::avg_pool2d(columns, for_depth(w.kernel, 1), for_depth(w.stride, 1),
                                         for_depth(w.padding, 0), ceil_mode, count_include_pad, divisor);
  return give(made.view(with_sizes(self, made.size(-2), planes)), out);
}

at::Tensor& avg_pool3d_backward(const at::Tensor& grad, const at::Tensor& self, Sizes kernel, Sizes stride,
                                Sizes padding, bool ceil_mode, bool count_include_pad,
                                std::optional<std::int64_t> divisor, at::Tensor& out) {
  require_volumes("avg_pool3d_backward", self);
  const Window w(kernel, stride, padding, 1);
  std::vector<std::int64_t> between = grad.sizes().vec();
  between[between.size() - 3] = self.size(-3);
  const at::Tensor columns = at::avg_pool2d_backward(
      as_columns(grad), as_columns(at::empty(between, grad.options())), for_depth(w.kernel, 1),
      for_depth(w.stride, 1), for_depth(w.padding, 0), ceil_mode, count_include_pad, divisor);
  const at::Tensor made = at::avg_pool2d_backward(
      as_planes(columns.view(between)), as_planes(self), for_planes(w.kernel), for_planes(w.stride),
      for_planes(w.padding), ceil_mode, count_include_pad, for_one_part(divisor));
  return give(made.view(self.sizes()), out);
}

at::Tensor adaptive_avg_pool3d(const at::Tensor& self, Sizes size) {
  require_volumes("adaptive_avg_pool3d", self);
  const at::Tensor planes = at::_adaptive_avg_pool2d(as_planes(self), size.slice(1));
  const at::Tensor columns = as_columns(planes.view(with_sizes(self, self.size(-3), planes)));
  return at::_adaptive_avg_pool2d(columns, {size[0], columns.size(-1)})
      .view(with_sizes(self, size[0], planes));
}

at::Tensor& adaptive_avg_pool3d_out(const at::Tensor& self, Sizes size, at::Tensor& out) {
  return give(torch_ocl::adaptive_avg_pool3d(self, size), out);
}

at::Tensor adaptive_avg_pool3d_backward(const at::Tensor& grad, const at::Tensor& self) {
  std::vector<std::int64_t> between = grad.sizes().vec();
  between[between.size() - 3] = self.size(-3);
  const at::Tensor columns =
      at::_adaptive_avg_pool2d_backward(as_columns(grad), as_columns(at::empty(between, grad.options())));
  return at::_adaptive_avg_pool2d_backward(as_planes(columns.view(between)), as_planes(self))
      .view(self.sizes());
}

// ---- maxima

using Found = std::tuple<at::Tensor, at::Tensor>;

/** The largest along the depth of what is the largest of its plane; of equal ones the first. `pool` gives
 * values and places of [rows, 1, depth, columns]. */
template <class Pool>
Found largest_in_depth(const at::Tensor& self, const at::Tensor& planes, const at::Tensor& places,
                       const Pool& pool) {
  const std::vector<std::int64_t> between = with_sizes(self, self.size(-3), planes);
  const at::Tensor columns = as_columns(planes.view(between));
  const auto [values, at_depth] = pool(columns);
  // A place in [depth, columns] tells the plane, and there stands the place in that plane.
  const at::Tensor chosen = as_columns(places.view(between)).flatten(1).gather(1, at_depth.flatten(1));
  const at::Tensor plane = at::div(at_depth.flatten(1), columns.size(-1), "floor");
  const std::vector<std::int64_t> shape = with_sizes(self, values.size(-2), planes);
  return {values.view(shape), (plane * (self.size(-2) * self.size(-1)) + chosen).view(shape)};
}

Found max_pool3d(const at::Tensor& self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation,
                 bool ceil_mode) {
  require_volumes("max_pool3d", self);
  for (const std::int64_t size : self.sizes().slice(static_cast<std::size_t>(self.dim() - 4)))
    TORCH_CHECK(size > 0, "max_pool3d(): Expected non-batch dimensions of positive length, got shape ",
                self.sizes());
  const Window w(kernel, stride, padding, dilation);
  const auto [planes, places] =
      at::max_pool2d_with_indices(as_planes(self), for_planes(w.kernel), for_planes(w.stride),
                                  for_planes(w.padding), for_planes(w.dilation), ceil_mode);
  return largest_in_depth(self, planes, places, [&](const at::Tensor& columns) {
    return at::max_pool2d_with_indices(columns, for_depth(w.kernel, 1), for_depth(w.stride, 1),
                                       for_depth(w.padding, 0), for_depth(w.dilation, 1), ceil_mode);
  });
}

std::tuple<at::Tensor&, at::Tensor&> max_pool3d_out(const at::Tensor& self, Sizes kernel, Sizes stride,
                                                    Sizes padding, Sizes dilation, bool ceil_mode,
                                                    at::Tensor& out, at::Tensor& indices) {
  const auto [values, places] = torch_ocl::max_pool3d(self, kernel, stride, padding, dilation, ceil_mode);
  return {give(values, out), give(places, indices)};
}

std::tuple<at::Tensor&, at::Tensor&> adaptive_max_pool3d(const at::Tensor& self, Sizes size, at::Tensor& out,
                                                         at::Tensor& indices) {
  require_volumes("adaptive_max_pool3d", self);
  const auto [planes, places] = at::adaptive_max_pool2d(as_planes(self), size.slice(1));
  const auto [values, all_places] = largest_in_depth(self, planes, places, [&](const at::Tensor& columns) {
    return at::adaptive_max_pool2d(columns, {size[0], columns.size(-1)});
  });
  return {give(values, out), give(all_places, indices)};
}

/** Each gradient goes where its largest element stood. */
at::Tensor to_places(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& indices) {
  at::Tensor dx = at::zeros(self.sizes(), self.options());
  if (grad.numel() > 0) dx.flatten(-3).scatter_add_(-1, indices.flatten(-3), grad.flatten(-3));
  return dx;
}

at::Tensor max_pool3d_backward(const at::Tensor& grad, const at::Tensor& self, Sizes, Sizes, Sizes, Sizes,
                               bool, const at::Tensor& indices) {
  return to_places(grad, self, indices);
}

at::Tensor& max_pool3d_backward_out(const at::Tensor& grad, const at::Tensor& self, Sizes, Sizes, Sizes,
                                    Sizes, bool, const at::Tensor& indices, at::Tensor& out) {
  return give(to_places(grad, self, indices), out);
}

at::Tensor& adaptive_max_pool3d_backward(const at::Tensor& grad, const at::Tensor& self,
                                         const at::Tensor& indices, at::Tensor& out) {
  return give(to_places(grad, self, indices), out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("avg_pool3d.out", &avg_pool3d);
  m.impl("avg_pool3d_backward.grad_input", &avg_pool3d_backward);
  m.impl("_adaptive_avg_pool3d", &adaptive_avg_pool3d);
  m.impl("adaptive_avg_pool3d.out", &adaptive_avg_pool3d_out);
  m.impl("_adaptive_avg_pool3d_backward", &adaptive_avg_pool3d_backward);
  m.impl("max_pool3d_with_indices", &max_pool3d);
  m.impl("max_pool3d_with_indices.out", &max_pool3d_out);
  m.impl("max_pool3d_with_indices_backward", &max_pool3d_backward);
  m.impl("max_pool3d_with_indices_backward.grad_input", &max_pool3d_backward_out);
  m.impl("adaptive_max_pool3d.out", &adaptive_max_pool3d);
  m.impl("adaptive_max_pool3d_backward.grad_input", &adaptive_max_pool3d_backward);
}

}  // namespace
}  // namespace torch_ocl
