#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/ops/gemm/simt_tile_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/conv/conv_simt.cl";

ConvShape shape_of(const ConvSizes& p) {
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  // The kernels number the pixels of all images.
  for (const std::int64_t pixels : {p.in_pixels(), p.out_pixels()}) narrow(product({p.images, pixels}));
  return {narrow(p.images),     narrow(p.groups),     narrow(p.in_channels), narrow(p.out_channels),
          narrow(p.size[0]),    narrow(p.size[1]),    narrow(p.out_size[0]), narrow(p.out_size[1]),
          narrow(p.kernel[0]),  narrow(p.kernel[1]),  narrow(p.stride[0]),   narrow(p.stride[1]),
          narrow(p.padding[0]), narrow(p.padding[1]), narrow(p.dilation[0]), narrow(p.dilation[1])};
}

template <class Problem>
bool can_take(const DeviceInfo& device, const Problem&) {
  return !device.runs_cpu_kernels() && device.max_work_group >= SIMT_TILE_ITEMS;
}

template <class Problem>
double cost_of_tiles(const DeviceInfo&, const Problem& p) {
  return p.sizes.multiply_adds();
}

// Tiles of 64 x 64 results waste more than a plain sum costs when a group has few rows. An estimate.
template <class Problem>
double cost_of_direct(const DeviceInfo&, const Problem& p) {
  const ConvSizes& sizes = p.sizes;
  const bool narrow = sizes.groups > 1 && std::min(sizes.in_channels, sizes.out_channels) < 4;
  return p.sizes.multiply_adds() * (narrow ? 0.5 : 16);
}

Range tiles(std::int64_t rows, std::int64_t columns, std::int64_t batches) {
  return Range::groups(SIMT_TILE_ITEMS, ceil_div(columns, SIMT_TILE), ceil_div(rows, SIMT_TILE), batches);
}

void forward_tiles(Queue& queue, const ConvForwardProblem& p) {
  queue.launch(queue.kernel(file, "conv_forward", dtype_defines(p.y.dtype)),
               tiles(p.sizes.out_channels, p.sizes.images * p.sizes.out_pixels(), p.sizes.groups), p.x,
               p.weight, Optional{p.bias}, p.y, shape_of(p.sizes), p.bias ? 1 : 0);
}

void forward_direct(Queue& queue, const ConvForwardProblem& p) {
  queue.launch(queue.kernel(file, "direct_forward", dtype_defines(p.y.dtype)), Range::linear(p.y.numel(), 64),
               p.x, p.weight, Optional{p.bias}, p.y, shape_of(p.sizes), p.bias ? 1 : 0, p.y.numel());
}

void backward_data_tiles(Queue& queue, const ConvBackwardDataProblem& p) {
  queue.launch(queue.kernel(file, "conv_backward_data", dtype_defines(p.dx.dtype)),
               tiles(p.sizes.in_channels, p.sizes.images * p.sizes.in_pixels(), p.sizes.groups), p.dy,
               p.weight, p.dx, shape_of(p.sizes));
}

void backward_data_direct(Queue& queue, const ConvBackwardDataProblem& p) {
  queue.launch(queue.kernel(file, "direct_backward_data", dtype_defines(p.dx.dtype)),
               Range::linear(p.dx.numel(), 64), p.dy, p.weight, p.dx, shape_of(p.sizes), p.dx.numel());
}

void backward_weight_tiles(Queue& queue, const ConvBackwardWeightProblem& p) {
  const ConvSizes& s = p.sizes;
  const Defines defines = dtype_defines(p.dw.dtype);
  // Split the pixels until the device is full, in parts of at least 256 so that the second pass stays small.
  const std::int64_t columns = s.in_channels * s.taps(), pixels = s.images * s.out_pixels();
  const std::int64_t whole = ceil_div(columns, SIMT_TILE) * ceil_div(s.out_channels, SIMT_TILE) * s.groups;
  const std::int64_t parts =
      std::clamp<std::int64_t>(4 * queue.device().info().compute_units / whole, 1, ceil_div(pixels, 256));
  const Tensor partials = queue.scratch({parts, p.dw.numel()}, compute_dtype(p.dw.dtype));
  queue.launch(queue.kernel(file, "conv_weight_partials", defines),
               tiles(s.out_channels, columns, s.groups * parts), p.dy, p.x, partials, shape_of(s),
               static_cast<int>(parts));
  queue.launch(queue.kernel(file, "conv_weight_sum", defines), Range::linear(p.dw.numel(), 64), partials,
               p.dw, kernel_int(p.dw.numel(), "conv2d", "a weight"), static_cast<int>(parts));
}

void backward_weight_direct(Queue& queue, const ConvBackwardWeightProblem& p) {
  queue.launch(queue.kernel(file, "direct_weight", dtype_defines(p.dw.dtype)),
               Range::groups(CONV_WEIGHT_ITEMS, p.dw.numel()), p.dy, p.x, p.dw, shape_of(p.sizes));
}

}  // namespace

ConvForward conv2d_forward_simt_tiles() {
  return {"simt_tiles", can_take, cost_of_tiles, forward_tiles};
}
ConvForward conv2d_forward_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, forward_direct};
}
ConvBackwardData conv2d_backward_data_simt_tiles() {
  return {"simt_tiles", can_take, cost_of_tiles, backward_data_tiles};
}
ConvBackwardData conv2d_backward_data_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, backward_data_direct};
}
ConvBackwardWeight conv2d_backward_weight_simt_tiles() {
  return {"simt_tiles", can_take, cost_of_tiles, backward_weight_tiles};
}
ConvBackwardWeight conv2d_backward_weight_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, backward_weight_direct};
}

}  // namespace dlprim
