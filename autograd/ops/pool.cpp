#include "autograd/ops/pool.h"

#include "autograd/ops/call.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/index.h"
#include "autograd/ops/views.h"
#include "dlprim/ops/pool/avg_pool2d.h"
#include "dlprim/ops/pool/max_pool2d.h"

namespace ocl {
namespace {

dlprim::Pool2dGeometry geometry_of(Pair kernel_size, const std::optional<Pair>& stride, Pair padding,
                                   Pair dilation, bool ceil_mode) {
  return {kernel_size.values, stride.value_or(kernel_size).values, padding.values, dilation.values,
          ceil_mode};
}

/** The average pooling that `forward` and `backward` compute, to `shape`, in the format of `a`. */
template <class Forward, class BackwardKernel>
Tensor average_pool(const char* name, const Tensor& a, const Dims& shape, Forward forward,
                    BackwardKernel backward) {
  return in_format(
      apply_linear(name, contiguous(a), on_contiguous(shape, forward), on_contiguous(a.shape(), backward)),
      format_of(a));
}

/** The elements of planes [..., H, W] at `places`, int32 [..., h, w], which count within a plane. */
Tensor elements_at(const Tensor& planes, const dlprim::Tensor& places) {
  const Tensor index = flatten(to(Tensor(places), DType::int64), -2);
  return reshape(gather(flatten(planes, -2), -1, index), places.shape.vector());
}

/** Max pooling to `shape` by `forward(queue, x, y, places or null)`; the places in the result where `wanted`.
 */
template <class Forward, class BackwardKernel>
TensorList max_pool(const char* name, const Tensor& a, const Dims& shape, bool wanted, const Forward& forward,
                    const BackwardKernel& backward) {
  const Tensor x = contiguous(a);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::Tensor places;
  if (wanted || needs_tape({x})) places = dlprim::Tensor::empty(*x.device(), shape, DType::int32);
  forward(x.device()->queue(), x.data(), y, places.defined() ? &places : nullptr);
  const Tensor pooled = record(name, {x}, y, [&] {
    return linear_gradient(
        name,
        on_contiguous(x.shape(),
                      [places, backward](dlprim::Queue& queue, const dlprim::Tensor& dy,
                                         const dlprim::Tensor& dx) { backward(queue, dy, places, dx); }),
        [places](const Tensor& given) { return elements_at(given, places); });
  });
  TensorList results{in_format(pooled, format_of(a))};
  if (wanted) results.push_back(in_format(to(Tensor(places), DType::int64), format_of(a)));
  return results;
}

TensorList windowed_max_pool(const Tensor& x, const dlprim::Pool2dGeometry& geometry, bool wanted) {
  using Raw = const dlprim::Tensor&;
  return max_pool(
      "MaxPool2dBackward", x, dlprim::pool2d_output_shape("max_pool2d", x.shape(), geometry), wanted,
      [&](dlprim::Queue& queue, Raw in, Raw y, const dlprim::Tensor* places) {
        dlprim::max_pool2d_forward(queue, in, geometry, y, places);
      },
      [geometry](dlprim::Queue& queue, Raw dy, Raw places, Raw dx) {
        dlprim::max_pool2d_backward(queue, dy, places, geometry, dx);
      });
}

Dims adaptive_shape(const char* op, const Tensor& x, const AdaptiveSize& size) {
  dlprim::require(x.dim() == 3 || x.dim() == 4, op, ": expected an input [N, C, H, W] or [C, H, W], got ",
                  x.shape());
  return dlprim::adaptive_pool2d_output_shape(
      op, x.shape(), {size.values[0].value_or(x.size(-2)), size.values[1].value_or(x.size(-1))});
}

TensorList adaptive_max_pool(const Tensor& x, const AdaptiveSize& size, bool wanted) {
  using Raw = const dlprim::Tensor&;
  return max_pool(
      "AdaptiveMaxPool2dBackward", x, adaptive_shape("adaptive_max_pool2d", x, size), wanted,
      [](dlprim::Queue& queue, Raw in, Raw y, const dlprim::Tensor* places) {
        dlprim::adaptive_max_pool2d_forward(queue, in, y, places);
      },
      [](dlprim::Queue& queue, Raw dy, Raw places, Raw dx) {
        dlprim::adaptive_max_pool2d_backward(queue, dy, places, dx);
      });
}

/** An input of one spatial dimension as one of two, the first of size 1. */
Tensor as_plane(const char* op, const Tensor& x) {
  dlprim::require(x.dim() == 2 || x.dim() == 3, op, ": expected an input [N, C, L] or [C, L], got ",
                  x.shape());
  return unsqueeze(x, -2);
}

TensorList as_lines(const TensorList& planes) {
  TensorList lines;
  for (const Tensor& t : planes) lines.push_back(squeeze(t, -2));
  return lines;
}

TensorList max_pool_line(const Tensor& x, int kernel_size, std::optional<int> stride, int padding,
                         int dilation, bool ceil_mode, bool wanted) {
  const dlprim::Pool2dGeometry geometry = geometry_of({1, kernel_size}, Pair(1, stride.value_or(kernel_size)),
                                                      {0, padding}, {1, dilation}, ceil_mode);
  return as_lines(windowed_max_pool(as_plane("max_pool1d", x), geometry, wanted));
}

}  // namespace

Tensor max_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride, Pair padding, Pair dilation,
                  bool ceil_mode) {
  ENTER_OPERATOR(max_pool2d, x, kernel_size, stride, padding, dilation, ceil_mode);
  return windowed_max_pool(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), false)[0];
}

TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size, std::optional<Pair> stride,
                                   Pair padding, Pair dilation, bool ceil_mode) {
  ENTER_OPERATOR_NAMED("max_pool2d", max_pool2d_with_indices(rewritten...), x, kernel_size, stride, padding,
                       dilation, ceil_mode);
  return windowed_max_pool(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), true);
}

Tensor max_pool1d(const Tensor& x, int kernel_size, std::optional<int> stride, int padding, int dilation,
                  bool ceil_mode) {
  ENTER_OPERATOR(max_pool1d, x, kernel_size, stride, padding, dilation, ceil_mode);
  return max_pool_line(x, kernel_size, stride, padding, dilation, ceil_mode, false)[0];
}

TensorList max_pool1d_with_indices(const Tensor& x, int kernel_size, std::optional<int> stride, int padding,
                                   int dilation, bool ceil_mode) {
  ENTER_OPERATOR_NAMED("max_pool1d", max_pool1d_with_indices(rewritten...), x, kernel_size, stride, padding,
                       dilation, ceil_mode);
  return max_pool_line(x, kernel_size, stride, padding, dilation, ceil_mode, true);
}

Tensor avg_pool2d(const Tensor& a, Pair kernel_size, std::optional<Pair> stride, Pair padding, bool ceil_mode,
                  bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  ENTER_OPERATOR(avg_pool2d, a, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  dlprim::require(!divisor_override || *divisor_override != 0, "avg_pool2d: divisor must be not zero");
  const dlprim::Pool2dGeometry geometry = geometry_of(kernel_size, stride, padding, 1, ceil_mode);
  const dlprim::AveragePoolDivisor divisor{count_include_pad, divisor_override.value_or(0)};
  return average_pool(
      "AvgPool2dBackward", a, dlprim::pool2d_output_shape("avg_pool2d", a.shape(), geometry),
      [geometry, divisor](dlprim::Queue& queue, const dlprim::Tensor& x, const dlprim::Tensor& y) {
        dlprim::avg_pool2d_forward(queue, x, geometry, divisor, y);
      },
      [geometry, divisor](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::avg_pool2d_backward(queue, dy, geometry, divisor, dx);
      });
}

Tensor avg_pool1d(const Tensor& x, int kernel_size, std::optional<int> stride, int padding, bool ceil_mode,
                  bool count_include_pad) {
  ENTER_OPERATOR(avg_pool1d, x, kernel_size, stride, padding, ceil_mode, count_include_pad);
  return squeeze(
      avg_pool2d(as_plane("avg_pool1d", x), {1, kernel_size}, Pair(1, stride.value_or(kernel_size)),
                 {0, padding}, ceil_mode, count_include_pad),
      -2);
}

Tensor adaptive_avg_pool2d(const Tensor& a, const AdaptiveSize& output_size) {
  ENTER_OPERATOR(adaptive_avg_pool2d, a, output_size);
  return average_pool(
      "AdaptiveAvgPool2dBackward", a, adaptive_shape("adaptive_avg_pool2d", a, output_size),
      [](dlprim::Queue& queue, const dlprim::Tensor& x, const dlprim::Tensor& y) {
        dlprim::adaptive_avg_pool2d_forward(queue, x, y);
      },
      [](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::adaptive_avg_pool2d_backward(queue, dy, dx);
      });
}

Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t output_size) {
  ENTER_OPERATOR(adaptive_avg_pool1d, x, output_size);
  return squeeze(adaptive_avg_pool2d(as_plane("adaptive_avg_pool1d", x), {1, output_size}), -2);
}

Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveSize& output_size) {
  ENTER_OPERATOR(adaptive_max_pool2d, x, output_size);
  return adaptive_max_pool(x, output_size, false)[0];
}

TensorList adaptive_max_pool2d_with_indices(const Tensor& x, const AdaptiveSize& output_size) {
  ENTER_OPERATOR_NAMED("adaptive_max_pool2d", adaptive_max_pool2d_with_indices(rewritten...), x, output_size);
  return adaptive_max_pool(x, output_size, true);
}

Tensor adaptive_max_pool1d(const Tensor& x, std::int64_t output_size) {
  ENTER_OPERATOR(adaptive_max_pool1d, x, output_size);
  return squeeze(adaptive_max_pool(as_plane("adaptive_max_pool1d", x), {1, output_size}, false)[0], -2);
}

TensorList adaptive_max_pool1d_with_indices(const Tensor& x, std::int64_t output_size) {
  ENTER_OPERATOR_NAMED("adaptive_max_pool1d", adaptive_max_pool1d_with_indices(rewritten...), x, output_size);
  return as_lines(adaptive_max_pool(as_plane("adaptive_max_pool1d", x), {1, output_size}, true));
}

}  // namespace ocl
