#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/conv/conv_direct_simt.cl";

template <class Problem>
bool can_take(const DeviceInfo& device, const Problem&) {
  return !device.runs_cpu_kernels();
}

// Tiles of 64 x 64 results waste more than a plain sum costs when a group has few rows. An estimate.
template <class Problem>
double cost_of_direct(const DeviceInfo&, const Problem& p) {
  const ConvSizes& sizes = p.sizes;
  const bool narrow = sizes.groups > 1 && std::min(sizes.in_channels, sizes.out_channels) < 4;
  return p.sizes.multiply_adds() * (narrow ? 0.5 : 16);
}

void forward_direct(Queue& queue, const ConvForwardProblem& p) {
  queue.launch(queue.kernel(file, "direct_forward", dtype_defines(p.y.dtype)), Range::linear(p.y.numel(), 64),
               p.x, p.weight, Optional{p.bias}, p.y, conv_shape(p.sizes), p.bias ? 1 : 0, p.y.numel());
}

void backward_data_direct(Queue& queue, const ConvBackwardDataProblem& p) {
  queue.launch(queue.kernel(file, "direct_backward_data", dtype_defines(p.dx.dtype)),
               Range::linear(p.dx.numel(), 64), p.dy, p.weight, p.dx, conv_shape(p.sizes), p.dx.numel());
}

void backward_weight_direct(Queue& queue, const ConvBackwardWeightProblem& p) {
  queue.launch(queue.kernel(file, "direct_weight", dtype_defines(p.dw.dtype)),
               Range::groups(CONV_WEIGHT_ITEMS, p.dw.numel()), p.dy, p.x, p.dw, conv_shape(p.sizes));
}

}  // namespace

ConvShape conv_shape(const ConvSizes& p) {
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  // The kernels number the pixels of all images.
  for (const std::int64_t pixels : {p.in_pixels(), p.out_pixels()}) narrow(product({p.images, pixels}));
  return {narrow(p.images),     narrow(p.groups),     narrow(p.in_channels), narrow(p.out_channels),
          narrow(p.size[0]),    narrow(p.size[1]),    narrow(p.out_size[0]), narrow(p.out_size[1]),
          narrow(p.kernel[0]),  narrow(p.kernel[1]),  narrow(p.stride[0]),   narrow(p.stride[1]),
          narrow(p.padding[0]), narrow(p.padding[1]), narrow(p.dilation[0]), narrow(p.dilation[1])};
}

ConvForward conv2d_forward_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, forward_direct};
}
ConvBackwardData conv2d_backward_data_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, backward_data_direct};
}
ConvBackwardWeight conv2d_backward_weight_simt_direct() {
  return {"simt_direct", can_take, cost_of_direct, backward_weight_direct};
}

}  // namespace dlprim
