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

/** The cost of an item for each result: `terms` one after another, in multiply-adds that the device would do
 * meanwhile. The wait of each for its reads bounds them: 100 to 270 ns on an H200. */
double cost_of_items(const DeviceInfo& device, const ConvSizes& s, std::int64_t terms) {
  constexpr double per_term = 3e4;  // of each compute unit
  const double waiting = s.has_narrow_groups() ? 0 : per_term * device.compute_units;
  return std::max(cost_of_direct_conv(s), waiting * static_cast<double>(terms * s.taps()));
}
double forward_cost(const DeviceInfo& device, const ConvForwardProblem& p) {
  return cost_of_items(device, p.sizes, p.sizes.in_channels);
}
double backward_data_cost(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
  return cost_of_items(device, p.sizes, p.sizes.out_channels);
}
/** A group for each filter's channel: at most one in 1.5 ns there. */
double backward_weight_cost(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
  constexpr double per_group = 270;  // of each compute unit
  const double groups = p.sizes.has_narrow_groups() ? 0 : static_cast<double>(p.dw.numel() / p.sizes.taps());
  return std::max(cost_of_direct_conv(p.sizes), per_group * device.compute_units * groups);
}

/** Launches a kernel with an item for each of `result`. */
template <class... Args>
void launch_items(Queue& queue, const char* kernel, const Tensor& result, const Args&... args) {
  Defines defines = dtype_defines(result.dtype);
  const bool wide = result.numel() > max_kernel_int;
  queue.launch(queue.kernel(file, kernel, defines.set("INDEX", wide ? "ulong" : "uint")),
               Range::linear(result.numel(), 64), args..., result.numel());
}

void forward_direct(Queue& queue, const ConvForwardProblem& p) {
  launch_items(queue, "direct_forward", p.y, p.x, p.weight, Optional{p.bias}, p.y, conv_shape(p.sizes),
               p.bias ? 1 : 0);
}

void backward_data_direct(Queue& queue, const ConvBackwardDataProblem& p) {
  launch_items(queue, "direct_backward_data", p.dx, p.dy, p.weight, p.dx, conv_shape(p.sizes));
}

void backward_weight_direct(Queue& queue, const ConvBackwardWeightProblem& p) {
  const ConvSizes& s = p.sizes;
  const std::int64_t groups = p.dw.numel() / s.taps() * ceil_div(s.taps(), CONV_WEIGHT_TAPS);
  const std::int64_t parts = parts_of_weight_sum(queue.device().info(), groups, s.images * s.out_pixels());
  const Tensor partials = queue.scratch({1, parts, p.dw.numel()}, compute_dtype(p.dw.dtype));
  Defines defines = dtype_defines(p.dw.dtype);
  queue.launch(queue.kernel(file, "direct_weight", defines.set("INDEX", "uint")),
               Range::groups(CONV_WEIGHT_ITEMS, groups, parts), p.dy, p.x, partials, conv_shape(s),
               static_cast<int>(parts));
  join_products(queue, partials, p.dw);
}

}  // namespace

double cost_of_direct_conv(const ConvSizes& p) {
  return p.multiply_adds() * (p.has_narrow_groups() ? 0.5 : 16);
}

ConvShape conv_shape(const ConvSizes& p) {
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  // The kernels number the pixels of all images.
  for (const std::int64_t pixels : {p.in_pixels(), p.out_pixels()}) narrow(product({p.images, pixels}));
  return {narrow(p.images),     narrow(p.groups),     narrow(p.in_channels), narrow(p.out_channels),
          narrow(p.size[0]),    narrow(p.size[1]),    narrow(p.out_size[0]), narrow(p.out_size[1]),
          narrow(p.kernel[0]),  narrow(p.kernel[1]),  narrow(p.stride[0]),   narrow(p.stride[1]),
          narrow(p.padding[0]), narrow(p.padding[1]), narrow(p.dilation[0]), narrow(p.dilation[1])};
}

std::int64_t parts_of_weight_sum(const DeviceInfo& device, std::int64_t groups, std::int64_t places) {
  constexpr std::int64_t groups_per_unit = 16, places_per_item = 4;
  kernel_int(groups, "conv2d", "a number of filters");
  return std::clamp<std::int64_t>(groups_per_unit * device.compute_units / groups, 1,
                                  ceil_div(places, places_per_item * CONV_WEIGHT_ITEMS));
}

ConvForward conv2d_forward_simt_direct() {
  return {"simt_direct", can_take, forward_cost, forward_direct};
}
ConvBackwardData conv2d_backward_data_simt_direct() {
  return {"simt_direct", can_take, backward_data_cost, backward_data_direct};
}
ConvBackwardWeight conv2d_backward_weight_simt_direct() {
  return {"simt_direct", can_take, backward_weight_cost, backward_weight_direct};
}

}  // namespace dlprim
