#include "dlprim/ops/conv/conv3d.h"

#include <algorithm>
#include <numeric>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/ops/resample/resample_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

/** Taps of the depth that meet slices of a volume: tap k of result o is slice start + o * stride + k * tap.
 */
struct DepthTaps {
  std::int64_t results, count, start, stride, tap;
};

Conv2dGeometry of_planes(const Conv3dGeometry& g) {
  Conv2dGeometry planes;
  planes.stride = {g.stride[1], g.stride[2]};
  planes.padding = {g.padding[1], g.padding[2]};
  planes.dilation = {g.dilation[1], g.dilation[2]};
  planes.groups = g.groups;
  return planes;
}

/** The elements that the taps of each result meet in `x` [N, C, D, H, W], as planes [N * results, C * taps,
 * H, W]. */
Tensor unfolded(const char* op, Queue& queue, const Tensor& x, const DepthTaps& depth) {
  const Dims shape{product({x.shape[0], depth.results}), product({x.shape[1], depth.count}), x.shape[3],
                   x.shape[4]};
  if (x.shape[2] == 1 && depth.results == 1 && depth.count == 1 && depth.start == 0) return x.reshaped(shape);
  const auto size = [&](std::int64_t n) { return kernel_int(n, op, "a size along the depth"); };
  const Tensor planes = queue.scratch(shape, x.dtype);
  const ConvDepth g{product({x.shape[3], x.shape[4]}),
                    kernel_int(x.shape[1], op, "a number of channels"),
                    size(x.shape[2]),
                    size(depth.results),
                    size(depth.count),
                    size(depth.start),
                    size(depth.stride),
                    size(depth.tap)};
  const cl_long rows = product({shape[0], shape[1]});
  queue.launch(queue.kernel("ops/conv/conv_depth.cl", "unfold_depth", dtype_defines(x.dtype)),
               rows_range(queue, rows, g.plane), x, planes, rows, g);
  return planes;
}

/** `volume` [N, C, D, H, W] with its slices among the images: [N, D, C, H, W]. */
Tensor slices_first(Tensor volume) {
  std::swap(volume.shape[1], volume.shape[2]);
  std::swap(volume.strides[1], volume.strides[2]);
  return volume;
}

Dims planes_shape(const Tensor& volume) {
  const Dims& s = volume.shape;
  return {product({s[0], s[2]}), s[1], s[3], s[4]};
}

/** The slices of a volume as planes [N * D, C, H, W]. */
Tensor planes_of(Queue& queue, const Tensor& volume) {
  if (volume.shape[2] == 1) return volume.reshaped(planes_shape(volume));
  const Tensor planes = queue.scratch(planes_shape(volume), volume.dtype);
  copy(queue, slices_first(volume), planes.reshaped(slices_first(volume).shape));
  return planes;
}

/** Has `write(planes)` fill the slices of a volume of any strides. */
template <class Write>
void write_planes(Queue& queue, const Tensor& volume, const Write& write) {
  if (volume.shape[2] == 1 && volume.is_contiguous()) return write(volume.reshaped(planes_shape(volume)));
  const Tensor planes = queue.scratch(planes_shape(volume), volume.dtype);
  write(planes);
  const Tensor slices = slices_first(volume);
  copy(queue, planes.reshaped(slices.shape), slices);
}

/** Every `step`-th entry of dimension 2 from `first` on. */
Tensor stepped(Tensor t, std::int64_t first, std::int64_t step, std::int64_t count) {
  t.offset += first * t.strides[2];
  t.strides[2] *= step;
  t.shape[2] = count;
  return t;
}

/** The taps of a forward pass. */
DepthTaps forward_taps(const Dims& weight, const Dims& y, const Conv3dGeometry& g) {
  // Steps that are never taken do not matter, and may be larger than kernels count.
  return {y[2], weight[2], -std::int64_t{g.padding[0]}, y[2] == 1 ? 1 : g.stride[0],
          weight[2] == 1 ? 1 : g.dilation[0]};
}

/** The weight of every `step`-th tap of the depth from `first` on, as that of planes: the taps stand beside
 * the channels of the result, [Cout * taps, Cin / groups, KH, KW]. */
Tensor weight_of_taps(Queue& queue, const Tensor& weight, std::int64_t first, std::int64_t step,
                      std::int64_t count) {
  const Dims& s = weight.shape;
  const Dims shape{product({s[0], count}), s[1], s[3], s[4]};
  if (s[2] == 1) return weight.reshaped(shape);
  const Tensor taps = slices_first(stepped(weight, first, step, count));
  const Tensor planes = queue.scratch(shape, weight.dtype);
  copy(queue, taps, planes.reshaped(taps.shape));
  return planes;
}

/** A weight, or its gradient, whose taps of the depth stand beside the channels of the input. */
Tensor weight_of_planes(const Tensor& weight) {
  const Dims& s = weight.shape;
  return weight.reshaped({s[0], product({s[1], s[2]}), s[3], s[4]});
}

void check(const char* op, const Queue& queue, const Tensor& x, const Tensor& weight, const Tensor& y,
           const Conv3dGeometry& g) {
  const Dims expected = conv3d_output_shape(x.shape, weight.shape, g);
  require(y.shape == expected, op, ": x ", x.shape, " and weight ", weight.shape, " give an output of ",
          expected, ", got ", y.shape);
  require<TypeError>(x.dtype == weight.dtype && x.dtype == y.dtype, op, ": expected one dtype, got ",
                     name(x.dtype), ", ", name(weight.dtype), ", ", name(y.dtype));
  require_floating(x.dtype, queue.device(), op);
  for (const Tensor* t : {&x, &weight, &y}) require_contiguous(op, "its tensors", *t);
}

}  // namespace

void conv3d_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                    const Conv3dGeometry& geometry, const Tensor& y, MatmulPrecision precision) {
  ENTER(conv3d_forward, queue, x, weight, bias, geometry, y, precision);
  constexpr const char* op = "conv3d";
  check(op, queue, x, weight, y, geometry);
  require_like(op, "bias", bias, {weight.shape[0]}, x.dtype);
  if (y.numel() == 0) return;
  const Tensor read = unfolded(op, queue, x, forward_taps(weight.shape, y.shape, geometry));
  write_planes(queue, y, [&](const Tensor& planes) {
    conv2d_forward(queue, read, weight_of_planes(weight), bias, of_planes(geometry), planes, precision);
  });
}

// A slice of the input, d, is met by those taps k of the results o for which o * stride = d + padding - k *
// dilation. That leaves every so many-th tap, the same for all slices that lie whole strides apart: a product
// for each such phase adds up all that comes back to its slices.
void conv3d_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                          const Conv3dGeometry& geometry, const Tensor& dx, MatmulPrecision precision) {
  ENTER(conv3d_backward_data, queue, dy, weight, geometry, dx, precision);
  constexpr const char* op = "conv3d_backward_data";
  check(op, queue, dx, weight, dy, geometry);
  if (dx.numel() == 0) return;
  const std::int64_t depth = dx.shape[2], taps = weight.shape[2], padding = geometry.padding[0];
  const std::int64_t dilation = taps == 1 ? 1 : geometry.dilation[0];
  // With one result the stride is never taken: this one leaves a tap to each slice.
  const std::int64_t stride = dy.shape[2] == 1 ? depth : geometry.stride[0];
  const std::int64_t step = stride / std::gcd(stride, dilation);
  for (std::int64_t phase = 0; phase < std::min(stride, depth); ++phase) {
    const std::int64_t count = ceil_div(depth - phase, stride);
    const Tensor slices = stepped(dx, phase, stride, count);
    std::int64_t first = 0;
    while (first < std::min(step, taps) && (phase + padding - first * dilation) % stride != 0) ++first;
    if (first == std::min(step, taps) || dy.numel() == 0) {
      fill(queue, slices, 0);
      continue;
    }
    const std::int64_t count_of_taps = (taps - 1 - first) / step + 1;
    const DepthTaps met{count, count_of_taps, (phase + padding - first * dilation) / stride, 1,
                        -step * dilation / stride};
    write_planes(queue, slices, [&](const Tensor& planes) {
      conv2d_backward_data(queue, unfolded(op, queue, dy, met),
                           weight_of_taps(queue, weight, first, step, count_of_taps), of_planes(geometry),
                           planes, precision);
    });
  }
}

void conv3d_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Conv3dGeometry& geometry,
                            const Tensor& dw, MatmulPrecision precision) {
  ENTER(conv3d_backward_weight, queue, dy, x, geometry, dw, precision);
  constexpr const char* op = "conv3d_backward_weight";
  check(op, queue, x, dw, dy, geometry);
  if (dw.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dw);
  conv2d_backward_weight(queue, planes_of(queue, dy),
                         unfolded(op, queue, x, forward_taps(dw.shape, dy.shape, geometry)),
                         of_planes(geometry), weight_of_planes(dw), precision);
}

void conv3d_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db) {
  ENTER(conv3d_backward_bias, queue, dy, db);
  constexpr const char* op = "conv3d_backward_bias";
  require(dy.rank() == 5, op, ": expected dy [N, C, D, H, W], got shape ", dy.shape);
  require(db.shape == Dims{dy.shape[1]}, op, ": expected db of shape [", dy.shape[1], "], got ", db.shape);
  static const ReductionOp& sum = reduction("sum");
  reduce(queue, sum, dy, dim_mask({0, 2, 3, 4}, 5, op), db);
}

}  // namespace dlprim
