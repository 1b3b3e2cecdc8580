#include "autograd/ops/pool.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/pool_gradients.h"
#include "autograd/ops/views.h"
#include "dlprim/ops/pool/pools.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::Pools;

/** The names of what is recorded, over N dimensions. */
template <std::size_t N>
struct PoolNodes {
  static constexpr bool is_2d = N == 2;
  static constexpr const char *max = is_2d ? "MaxPool2dBackward" : "MaxPool3dBackward",
                              *avg = is_2d ? "AvgPool2dBackward" : "AvgPool3dBackward",
                              *adaptive_max =
                                  is_2d ? "AdaptiveMaxPool2dBackward" : "AdaptiveMaxPool3dBackward",
                              *adaptive_avg =
                                  is_2d ? "AdaptiveAvgPool2dBackward" : "AdaptiveAvgPool3dBackward";
};

template <std::size_t N>
using StrideOf = std::optional<EachDim<N>>;

template <std::size_t N>
dlprim::PoolGeometry<N> geometry_of(const EachDim<N>& kernel_size, const StrideOf<N>& stride,
                                    const EachDim<N>& padding, const EachDim<N>& dilation, bool ceil_mode) {
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

/** The elements of `x` at `places`, which count within its last `axes` dimensions. */
Tensor elements_at(const Tensor& x, const dlprim::Tensor& places, int axes) {
  const Tensor index = flatten(to(Tensor(places), DType::int64), -axes);
  return reshape(gather(flatten(x, -axes), -1, index), places.shape.vector());
}

/** Max pooling over the last `axes` dimensions to `shape` by `forward(queue, x, y, places or null)`; the
 * places in the result where `wanted`. */
template <class Forward, class BackwardKernel>
TensorList max_pool(const char* name, int axes, const Tensor& a, const Dims& shape, bool wanted,
                    const Forward& forward, const BackwardKernel& backward) {
  const Tensor x = contiguous(a);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::Tensor places;
  if (wanted || needs_tape({x}))
    places = dlprim::Tensor::empty(*x.device(), shape, wanted ? DType::int64 : DType::int32);
  forward(x.device()->queue(), x.data(), y, places.defined() ? &places : nullptr);
  const Tensor pooled = record(name, {x}, y, [&] {
    const SavedTensor kept{Tensor(places)};
    return linear_gradient(
        name,
        on_contiguous(x.shape(),
                      [kept, backward](dlprim::Queue& queue, const dlprim::Tensor& dy,
                                       const dlprim::Tensor& dx) { backward(queue, dy, kept.unpack(), dx); }),
        [kept, axes](const Tensor& given) { return elements_at(given, kept.unpack(), axes); });
  });
  TensorList results{in_format(pooled, format_of(a))};
  if (wanted) results.push_back(in_format(Tensor(places), format_of(a)));
  return results;
}

template <std::size_t N>
TensorList windowed_max_pool(const Tensor& x, const dlprim::PoolGeometry<N>& geometry, bool wanted) {
  using Raw = const dlprim::Tensor&;
  return max_pool(
      PoolNodes<N>::max, N, x, Pools<N>::output_shape(Pools<N>::max, x.shape(), geometry), wanted,
      [&](dlprim::Queue& queue, Raw in, Raw y, const dlprim::Tensor* places) {
        Pools<N>::max_forward(queue, in, geometry, y, places);
      },
      [geometry](dlprim::Queue& queue, Raw dy, Raw places, Raw dx) {
        Pools<N>::max_backward(queue, dy, places, geometry, dx);
      });
}

template <std::size_t N>
Dims adaptive_shape(const char* op, const Tensor& x, const AdaptiveSizes<N>& size) {
  constexpr int axes = N;
  dlprim::require(x.dim() == axes + 1 || x.dim() == axes + 2, op, ": expected an input ",
                  N == 2 ? "[N, C, H, W] or [C, H, W]" : "[N, C, D, H, W] or [C, D, H, W]", ", got ",
                  x.shape());
  std::array<std::int64_t, N> sizes{};
  for (std::size_t i = 0; i < N; ++i) sizes[i] = size.values[i].value_or(x.size(static_cast<int>(i) - axes));
  return Pools<N>::adaptive_output_shape(op, x.shape(), sizes);
}

template <std::size_t N>
TensorList adaptive_max_pool(const Tensor& x, const AdaptiveSizes<N>& size, bool wanted) {
  return max_pool(PoolNodes<N>::adaptive_max, N, x, adaptive_shape(Pools<N>::adaptive_max, x, size), wanted,
                  Pools<N>::adaptive_max_forward, Pools<N>::adaptive_max_backward);
}

template <std::size_t N>
Tensor windowed_avg_pool(const Tensor& x, const dlprim::PoolGeometry<N>& geometry, bool count_include_pad,
                         std::optional<std::int64_t> divisor_override) {
  using Raw = const dlprim::Tensor&;
  dlprim::require(!divisor_override || *divisor_override != 0, Pools<N>::avg, ": divisor must be not zero");
  const dlprim::AveragePoolDivisor divisor{count_include_pad, divisor_override.value_or(0)};
  return average_pool(
      PoolNodes<N>::avg, x, Pools<N>::output_shape(Pools<N>::avg, x.shape(), geometry),
      [geometry, divisor](dlprim::Queue& queue, Raw in, Raw y) {
        Pools<N>::avg_forward(queue, in, geometry, divisor, y);
      },
      [geometry, divisor](dlprim::Queue& queue, Raw dy, Raw dx) {
        Pools<N>::avg_backward(queue, dy, geometry, divisor, dx);
      });
}

template <std::size_t N>
Tensor adaptive_avg_pool(const Tensor& x, const AdaptiveSizes<N>& size) {
  return average_pool(PoolNodes<N>::adaptive_avg, x, adaptive_shape(Pools<N>::adaptive_avg, x, size),
                      Pools<N>::adaptive_avg_forward, Pools<N>::adaptive_avg_backward);
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
  const dlprim::Pool2dGeometry geometry = geometry_of<2>(
      {1, kernel_size}, Pair(1, stride.value_or(kernel_size)), {0, padding}, {1, dilation}, ceil_mode);
  return as_lines(windowed_max_pool(as_plane("max_pool1d", x), geometry, wanted));
}

}  // namespace

Tensor max_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride, Pair padding, Pair dilation,
                  bool ceil_mode) {
  ENTER_OPERATOR(max_pool2d, x, kernel_size, stride, padding, dilation, ceil_mode);
  return windowed_max_pool<2>(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), false)[0];
}

TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size, std::optional<Pair> stride,
                                   Pair padding, Pair dilation, bool ceil_mode) {
  ENTER_ROW(max_pool2d, max_pool2d_with_indices(rewritten...), x, kernel_size, stride, padding, dilation,
            ceil_mode);
  return windowed_max_pool<2>(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), true);
}

Tensor max_pool1d(const Tensor& x, Single kernel_size, std::optional<Single> stride, Single padding,
                  Single dilation, bool ceil_mode) {
  ENTER_OPERATOR(max_pool1d, x, kernel_size, stride, padding, dilation, ceil_mode);
  return max_pool_line(x, kernel_size, stride, padding, dilation, ceil_mode, false)[0];
}

TensorList max_pool1d_with_indices(const Tensor& x, Single kernel_size, std::optional<Single> stride,
                                   Single padding, Single dilation, bool ceil_mode) {
  ENTER_ROW(max_pool1d, max_pool1d_with_indices(rewritten...), x, kernel_size, stride, padding, dilation,
            ceil_mode);
  return max_pool_line(x, kernel_size, stride, padding, dilation, ceil_mode, true);
}

Tensor max_pool3d(const Tensor& x, Triple kernel_size, std::optional<Triple> stride, Triple padding,
                  Triple dilation, bool ceil_mode) {
  ENTER_OPERATOR(max_pool3d, x, kernel_size, stride, padding, dilation, ceil_mode);
  return windowed_max_pool<3>(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), false)[0];
}

TensorList max_pool3d_with_indices(const Tensor& x, Triple kernel_size, std::optional<Triple> stride,
                                   Triple padding, Triple dilation, bool ceil_mode) {
  ENTER_ROW(max_pool3d, max_pool3d_with_indices(rewritten...), x, kernel_size, stride, padding, dilation,
            ceil_mode);
  return windowed_max_pool<3>(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), true);
}

Tensor avg_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride, Pair padding, bool ceil_mode,
                  bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  ENTER_OPERATOR(avg_pool2d, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  return windowed_avg_pool<2>(x, geometry_of<2>(kernel_size, stride, padding, 1, ceil_mode),
                              count_include_pad, divisor_override);
}

Tensor avg_pool3d(const Tensor& x, Triple kernel_size, std::optional<Triple> stride, Triple padding,
                  bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  ENTER_OPERATOR(avg_pool3d, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  return windowed_avg_pool<3>(x, geometry_of<3>(kernel_size, stride, padding, 1, ceil_mode),
                              count_include_pad, divisor_override);
}

Tensor avg_pool1d(const Tensor& x, Single kernel_size, std::optional<Single> stride, Single padding,
                  bool ceil_mode, bool count_include_pad) {
  ENTER_OPERATOR(avg_pool1d, x, kernel_size, stride, padding, ceil_mode, count_include_pad);
  return squeeze(
      avg_pool2d(as_plane("avg_pool1d", x), {1, kernel_size}, Pair(1, stride.value_or(kernel_size)),
                 {0, padding}, ceil_mode, count_include_pad),
      -2);
}

Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveSize& output_size) {
  ENTER_OPERATOR(adaptive_avg_pool2d, x, output_size);
  return adaptive_avg_pool(x, output_size);
}

Tensor adaptive_avg_pool3d(const Tensor& x, const AdaptiveSize3d& output_size) {
  ENTER_OPERATOR(adaptive_avg_pool3d, x, output_size);
  return adaptive_avg_pool(x, output_size);
}

Tensor adaptive_avg_pool1d(const Tensor& x, Single output_size) {
  ENTER_OPERATOR(adaptive_avg_pool1d, x, output_size);
  return squeeze(adaptive_avg_pool2d(as_plane("adaptive_avg_pool1d", x), {1, output_size}), -2);
}

Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveSize& output_size) {
  ENTER_OPERATOR(adaptive_max_pool2d, x, output_size);
  return adaptive_max_pool(x, output_size, false)[0];
}

TensorList adaptive_max_pool2d_with_indices(const Tensor& x, const AdaptiveSize& output_size) {
  ENTER_ROW(adaptive_max_pool2d, adaptive_max_pool2d_with_indices(rewritten...), x, output_size);
  return adaptive_max_pool(x, output_size, true);
}

Tensor adaptive_max_pool1d(const Tensor& x, Single output_size) {
  ENTER_OPERATOR(adaptive_max_pool1d, x, output_size);
  return squeeze(adaptive_max_pool<2>(as_plane("adaptive_max_pool1d", x), {1, output_size}, false)[0], -2);
}

TensorList adaptive_max_pool1d_with_indices(const Tensor& x, Single output_size) {
  ENTER_ROW(adaptive_max_pool1d, adaptive_max_pool1d_with_indices(rewritten...), x, output_size);
  return as_lines(adaptive_max_pool<2>(as_plane("adaptive_max_pool1d", x), {1, output_size}, true));
}

Tensor adaptive_max_pool3d(const Tensor& x, const AdaptiveSize3d& output_size) {
  ENTER_OPERATOR(adaptive_max_pool3d, x, output_size);
  return adaptive_max_pool(x, output_size, false)[0];
}

TensorList adaptive_max_pool3d_with_indices(const Tensor& x, const AdaptiveSize3d& output_size) {
  ENTER_ROW(adaptive_max_pool3d, adaptive_max_pool3d_with_indices(rewritten...), x, output_size);
  return adaptive_max_pool(x, output_size, true);
}

namespace {

/** The power average of windows of `count` elements, by what gives their means and their maxima. */
template <class Means, class Maxima>
Tensor power_average(const char* op, const Tensor& given, double p, std::int64_t count, const Means& means,
                     const Maxima& maxima) {
  dlprim::require_floating(given.dtype(), *given.device(), op);
  if (std::isinf(p)) return p > 0 ? maxima(abs(given)) : neg(maxima(neg(abs(given))));
  const Tensor mean = means(pow(in_compute_dtype(given), p));
  return to(pow(sign(mean) * relu(abs(mean)) * count, 1 / p), given.dtype());
}

}  // namespace

Tensor lp_pool1d(const Tensor& x, double norm_type, Single kernel_size, std::optional<Single> stride,
                 bool ceil_mode) {
  ENTER_OPERATOR(lp_pool1d, x, norm_type, kernel_size, stride, ceil_mode);
  return power_average(
      "lp_pool1d", x, norm_type, kernel_size,
      [&](const Tensor& powers) { return avg_pool1d(powers, kernel_size, stride, 0, ceil_mode); },
      [&](const Tensor& sizes) { return max_pool1d(sizes, kernel_size, stride, 0, 1, ceil_mode); });
}

Tensor lp_pool2d(const Tensor& x, double norm_type, Pair kernel_size, std::optional<Pair> stride,
                 bool ceil_mode) {
  ENTER_OPERATOR(lp_pool2d, x, norm_type, kernel_size, stride, ceil_mode);
  return power_average(
      "lp_pool2d", x, norm_type, dlprim::product({kernel_size[0], kernel_size[1]}),
      [&](const Tensor& powers) { return avg_pool2d(powers, kernel_size, stride, 0, ceil_mode); },
      [&](const Tensor& sizes) { return max_pool2d(sizes, kernel_size, stride, 0, 1, ceil_mode); });
}

Tensor lp_pool3d(const Tensor& x, double norm_type, Triple kernel_size, std::optional<Triple> stride,
                 bool ceil_mode) {
  ENTER_OPERATOR(lp_pool3d, x, norm_type, kernel_size, stride, ceil_mode);
  return power_average(
      "lp_pool3d", x, norm_type, dlprim::product({kernel_size[0], kernel_size[1], kernel_size[2]}),
      [&](const Tensor& powers) { return avg_pool3d(powers, kernel_size, stride, 0, ceil_mode); },
      [&](const Tensor& sizes) { return max_pool3d(sizes, kernel_size, stride, 0, 1, ceil_mode); });
}

namespace {

/** The gradient that `backward(queue, dy, places, dx)` writes, in the format of `x`. */
template <class BackwardKernel>
Tensor gradient_by_places(const Tensor& g, const Tensor& x, const Tensor& indices, BackwardKernel backward) {
  const Tensor places = contiguous(indices);
  const auto dx_of =
      on_contiguous(x.shape(), [&](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        backward(queue, dy, places.data(), dx);
      });
  return in_format(dx_of(g), format_of(x));
}

template <std::size_t N>
Tensor max_pool_gradient(const Tensor& g, const Tensor& x, const dlprim::PoolGeometry<N>& geometry,
                         const Tensor& indices) {
  using Raw = const dlprim::Tensor&;
  return gradient_by_places(g, x, indices, [&](dlprim::Queue& queue, Raw dy, Raw places, Raw dx) {
    Pools<N>::max_backward(queue, dy, places, geometry, dx);
  });
}

}  // namespace

Tensor max_pool2d_gradient(const Tensor& g, const Tensor& x, Pair kernel_size, std::optional<Pair> stride,
                           Pair padding, Pair dilation, bool ceil_mode, const Tensor& indices) {
  return max_pool_gradient(g, x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), indices);
}

Tensor max_pool3d_gradient(const Tensor& g, const Tensor& x, Triple kernel_size, std::optional<Triple> stride,
                           Triple padding, Triple dilation, bool ceil_mode, const Tensor& indices) {
  return max_pool_gradient(g, x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), indices);
}

Tensor adaptive_max_pool2d_gradient(const Tensor& g, const Tensor& x, const Tensor& indices) {
  return gradient_by_places(g, x, indices, Pools<2>::adaptive_max_backward);
}

Tensor adaptive_max_pool3d_gradient(const Tensor& g, const Tensor& x, const Tensor& indices) {
  return gradient_by_places(g, x, indices, Pools<3>::adaptive_max_backward);
}

Tensor adaptive_avg_pool2d_gradient(const Tensor& g, const Tensor& x) {
  return in_format(on_contiguous(x.shape(), Pools<2>::adaptive_avg_backward)(g), format_of(x));
}

Tensor adaptive_avg_pool3d_gradient(const Tensor& g, const Tensor& x) {
  return in_format(on_contiguous(x.shape(), Pools<3>::adaptive_avg_backward)(g), format_of(x));
}

}  // namespace ocl
