#include "dlprim/ops/box/roi_align.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/box/box_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/box/roi_align.cl";

void check(const char* op, const Queue& queue, const Tensor& x, const Tensor& rois, const Tensor& y) {
  require_floating(x.dtype, queue.device(), op);
  require(x.rank() == 4, op, ": expected an input [N, C, H, W], got shape ", x.shape);
  require(x.shape[2] > 0 && x.shape[3] > 0, op, ": expected planes with elements, got an input of shape ",
          x.shape);
  require(rois.rank() == 2 && rois.shape[1] == 5, op, ": expected boxes [K, 5], got shape ", rois.shape);
  require_like(op, "the boxes", rois, rois.shape, x.dtype);
  require_contiguous(op, "the input or its gradient", x);
  require(y.rank() == 4 && y.shape[2] > 0 && y.shape[3] > 0, op,
          ": expected an output size of positive numbers, got a result of shape ", y.shape);
  require_like(op, "the result or its gradient", y, {rois.shape[0], x.shape[1], y.shape[2], y.shape[3]},
               x.dtype);
}

template <class Real>
KernelRegions<Real> regions_of(const char* op, const Dims& x, const Dims& y, const RegionGeometry& g) {
  const auto size = [&](std::int64_t n) { return kernel_int(n, op, "a size"); };
  for (const std::int64_t bins : {y[2], y[3]})
    kernel_int(bins * g.sampling_ratio, op, "a number of points along an axis");
  return {static_cast<Real>(g.spatial_scale),
          g.aligned ? Real(0.5) : Real(0),
          g.aligned,
          g.sampling_ratio,
          size(x[0]),
          size(x[1]),
          {size(x[2]), size(x[3])},
          {size(y[2]), size(y[3])}};
}

/** The cost of an element of the result: the points that it is a mean of, where their number is known. */
std::int64_t cost_of(const RegionGeometry& g) {
  constexpr std::int64_t most = 1024;
  const std::int64_t points = g.sampling_ratio > 0 ? std::min(std::int64_t{g.sampling_ratio}, most) : 4;
  return 8 * points * points;
}

}  // namespace

void roi_align_forward(Queue& queue, const Tensor& x, const Tensor& rois, const RegionGeometry& geometry,
                       const Tensor& y, DeviceCheck image_check) {
  ENTER(roi_align_forward, queue, x, rois, geometry, y, image_check);
  check("roi_align", queue, x, rois, y);
  if (y.numel() == 0) return;
  with_real(x.dtype, [&](auto zero) {
    queue.launch(queue.kernel(file, "roi_align", dtype_defines(x.dtype)),
                 share_range(queue, y.numel(), cost_of(geometry)), x, rois, y, cl_long{y.numel()},
                 regions_of<decltype(zero)>("roi_align", x.shape, y.shape, geometry),
                 image_check.spoiling(y));
  });
}

void roi_align_backward(Queue& queue, const Tensor& dy, const Tensor& rois, const RegionGeometry& geometry,
                        const Tensor& dx) {
  ENTER(roi_align_backward, queue, dy, rois, geometry, dx);
  constexpr const char* op = "roi_align backward";
  check(op, queue, dx, rois, dy);
  if (dx.numel() == 0) return;
  const bool is_cpu = queue.device().info().runs_cpu_kernels();
  const Defines defines = dtype_defines(dx.dtype);
  const cl_long regions = rois.shape[0], pixels = dx.shape[2] * dx.shape[3];
  const bool is_narrow = dx.dtype != DType::float32 && dx.dtype != DType::float64;
  const Tensor sums = is_cpu && is_narrow ? queue.scratch(dx.shape) : dx;
  const cl_long parts =
      dx.shape[0] * (is_cpu ? dx.shape[1] : ceil_div(dx.shape[1], ROI_CHANNELS) * std::int64_t{pixels});
  const std::int64_t cost = is_cpu ? pixels + regions * dy.shape[2] * dy.shape[3] * cost_of(geometry) : 1;
  with_real(dx.dtype, [&](auto zero) {
    queue.launch(queue.kernel(file, "roi_align_backward", defines), share_range(queue, parts, cost), dy, rois,
                 sums, parts, regions, regions_of<decltype(zero)>(op, dx.shape, dy.shape, geometry));
  });
  if (is_cpu && is_narrow)
    queue.launch(queue.kernel(file, "store_sums", defines), share_range(queue, dx.numel()), sums, dx,
                 cl_long{dx.numel()});
}

}  // namespace dlprim
