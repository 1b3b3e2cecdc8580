#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_problem.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr int block = 64, items = 256, tree = 64;  // BLOCK and ITEMS of simt_tile.cl, TREE of conv_simt.cl
constexpr const char* file = "ops/conv/conv_simt.cl";

/** Kernel argument: mirrors `ConvShape` of conv_simt.cl. */
struct ConvShape {
  int images, groups, in_channels, out_channels;
  int height, width, out_h, out_w, kernel_h, kernel_w;
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};

ConvShape shape_of(const ConvProblem& p) {
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  // The kernels number the pixels of all images.
  for (const std::int64_t pixels : {p.in_pixels(), p.out_pixels()}) narrow(product({p.images, pixels}));
  return {narrow(p.images),     narrow(p.groups),     narrow(p.in_channels), narrow(p.out_channels),
          narrow(p.size[0]),    narrow(p.size[1]),    narrow(p.out_size[0]), narrow(p.out_size[1]),
          narrow(p.kernel[0]),  narrow(p.kernel[1]),  narrow(p.stride[0]),   narrow(p.stride[1]),
          narrow(p.padding[0]), narrow(p.padding[1]), narrow(p.dilation[0]), narrow(p.dilation[1])};
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Tiles of 64 x 64 results waste more than a plain sum costs when a group has few rows.
bool is_narrow(const ConvProblem& p) {
  return p.groups > 1 && std::min(p.in_channels, p.out_channels) < 4;
}

Range tiles(std::int64_t rows, std::int64_t columns, std::int64_t batches) {
  return Range::groups(items, ceil_div(columns, block), ceil_div(rows, block), batches);
}

}  // namespace

void conv2d_forward_simt(Queue& queue, const ConvProblem& p, const Tensor& x, const Tensor& weight,
                         const Tensor* bias, const Tensor& y) {
  const Defines defines = dtype_defines(y.dtype);
  const int has_bias = bias ? 1 : 0;
  if (is_narrow(p))
    return queue.launch(queue.kernel(file, "direct_forward", defines), Range::linear(y.numel(), 64), x,
                        weight, Optional{bias}, y, shape_of(p), has_bias, y.numel());
  queue.launch(queue.kernel(file, "conv_forward", defines),
               tiles(p.out_channels, p.images * p.out_pixels(), p.groups), x, weight, Optional{bias}, y,
               shape_of(p), has_bias);
}

void conv2d_backward_data_simt(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& weight,
                               const Tensor& dx) {
  const Defines defines = dtype_defines(dx.dtype);
  if (is_narrow(p))
    return queue.launch(queue.kernel(file, "direct_backward_data", defines), Range::linear(dx.numel(), 64),
                        dy, weight, dx, shape_of(p), dx.numel());
  queue.launch(queue.kernel(file, "conv_backward_data", defines),
               tiles(p.in_channels, p.images * p.in_pixels(), p.groups), dy, weight, dx, shape_of(p));
}

void conv2d_backward_weight_simt(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& x,
                                 const Tensor& dw) {
  const Defines defines = dtype_defines(dw.dtype);
  if (is_narrow(p))
    return queue.launch(queue.kernel(file, "direct_weight", defines), Range::groups(tree, dw.numel()), dy, x,
                        dw, shape_of(p));
  // Split the pixels until the device is full, in parts of at least 256 so that the second pass stays small.
  const std::int64_t columns = p.in_channels * p.taps(), pixels = p.images * p.out_pixels();
  const std::int64_t whole = ceil_div(columns, block) * ceil_div(p.out_channels, block) * p.groups;
  const std::int64_t parts =
      std::clamp<std::int64_t>(4 * queue.device().info().compute_units / whole, 1, ceil_div(pixels, 256));
  const Tensor partials =
      queue.scratch({parts, dw.numel()}, dw.dtype == DType::float64 ? DType::float64 : DType::float32);
  queue.launch(queue.kernel(file, "conv_weight_partials", defines),
               tiles(p.out_channels, columns, p.groups * parts), dy, x, partials, shape_of(p),
               static_cast<int>(parts));
  queue.launch(queue.kernel(file, "conv_weight_sum", defines), Range::linear(dw.numel(), 64), partials, dw,
               kernel_int(dw.numel(), "conv2d", "a weight"), static_cast<int>(parts));
}

}  // namespace dlprim
