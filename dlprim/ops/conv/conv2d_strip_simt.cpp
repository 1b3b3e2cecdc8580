#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/conv/conv_strip_simt.cl";

/** The block of results that an item computes. */
struct Block {
  std::int64_t size[2];
};

/** Elements of the source that a block's results meet, and those between them. */
std::int64_t window(const ConvSizes& p, const Block& block, bool is_transposed) {
  std::int64_t elements = 1;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    elements *= is_transposed ? reach / p.stride[i] + (block.size[i] - 1) / p.stride[i] + 1
                              : (block.size[i] - 1) * p.stride[i] + reach + 1;
  }
  return elements;
}

/** Whether groups are narrow, and kernels without loops over windows small: what they weigh is meetings of
 * elements and results. Eight results of 7x7 windows have 640. */
bool can_unroll(const ConvSizes& p, const Block& block, bool is_transposed) {
  constexpr std::int64_t most_taps = 49, most_stride = 4, most_reach = 16, most_meetings = 640;
  for (int i = 0; i < 2; ++i)
    if (p.stride[i] > most_stride || p.kernel[i] > most_taps ||
        (p.kernel[i] - 1) * p.dilation[i] > most_reach)
      return false;
  return p.has_narrow_groups() && p.taps() <= most_taps &&
         window(p, block, is_transposed) * block.size[0] * block.size[1] <= most_meetings;
}

/** Eight results share most of their windows' elements; four where that makes too large a kernel. Measured
 * on an H100: four in a column cost up to half more, and eight in a column, or two by two, up to a fifth. */
Block block_of(const ConvSizes& p) {
  const Block wide{{4, 2}};
  return can_unroll(p, wide, false) ? wide : Block{{4, 1}};
}
/** All phases of the stride, in both directions. */
Block transposed_block_of(const ConvSizes& p) {
  const std::int64_t rows = ceil_div(4, p.stride[0]) * p.stride[0];
  const Block wide{{rows, std::max<std::int64_t>(p.stride[1], 2)}};
  return p.stride[1] > 1 || can_unroll(p, wide, true) ? wide : Block{{rows, 1}};
}

template <class Problem>
bool can_take(const DeviceInfo& device, const Problem& p) {
  return !device.runs_cpu_kernels() && can_unroll(p.sizes, block_of(p.sizes), false);
}
bool can_take_transposed(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
  return !device.runs_cpu_kernels() && can_unroll(p.sizes, transposed_block_of(p.sizes), true);
}

// Measured on an H100, beside simt_direct: 1.5 to 4 times as fast, the gradient of a stride of 2 by the input
// 8 to 20.
template <class Problem>
double cost(const DeviceInfo&, const Problem& p) {
  return cost_of_direct_conv(p.sizes) / 3;
}

Defines defines_of(const ConvSizes& p, const Block& block, DType dtype) {
  Defines defines = dtype_defines(dtype);
  defines.set("STRIP_ROWS", block.size[0]).set("STRIP_COLUMNS", block.size[1]);
  defines.set("TAPS_H", p.kernel[0]).set("TAPS_W", p.kernel[1]);
  defines.set("STRIDE_H", p.stride[0]).set("STRIDE_W", p.stride[1]);
  return defines.set("DILATION_H", p.dilation[0]).set("DILATION_W", p.dilation[1]);
}

int blocks_over(std::int64_t results, std::int64_t block) {
  return static_cast<int>(ceil_div(results, block));
}

ConvStrip strip_of(const ConvSizes& p, const Block& block) {
  const ConvShape s = conv_shape(p);
  return {s.images,
          s.groups,
          s.out_channels,
          s.in_channels,
          s.height,
          s.width,
          s.out_h,
          s.out_w,
          s.in_channels,
          1,
          blocks_over(s.out_h, block.size[0]),
          blocks_over(s.out_w, block.size[1]),
          0,
          0,
          -s.pad_h,
          -s.pad_w};
}

ConvStrip transposed_strip_of(const ConvSizes& p, const Block& block) {
  const ConvShape s = conv_shape(p);
  const int first_h = -(s.pad_h % s.stride_h), first_w = -(s.pad_w % s.stride_w);
  return {s.images,
          s.groups,
          s.in_channels,
          s.out_channels,
          s.out_h,
          s.out_w,
          s.height,
          s.width,
          1,
          s.in_channels,
          blocks_over(std::int64_t{s.height} - first_h, block.size[0]),
          blocks_over(std::int64_t{s.width} - first_w, block.size[1]),
          first_h,
          first_w,
          s.pad_h / s.stride_h,
          s.pad_w / s.stride_w};
}

void run_strips(Queue& queue, const ConvSizes& sizes, const ConvStrip& s, const Block& block,
                bool is_transposed, const Tensor& source, const Tensor& weight, const Tensor* bias,
                const Tensor& result) {
  const std::int64_t count = product({s.images, s.groups, s.rows, s.blocks_h, s.blocks_w});
  Defines defines = defines_of(sizes, block, result.dtype);
  defines.set("IS_TRANSPOSED", is_transposed ? 1 : 0).set("IS_WEIGHT", 0);
  queue.launch(
      queue.kernel(file, "conv_strip", defines.set("INDEX", count > max_kernel_int ? "ulong" : "uint")),
      Range::linear(count, 128), source, weight, Optional{bias}, result, s, bias ? 1 : 0, count);
}

void forward(Queue& queue, const ConvForwardProblem& p) {
  const Block block = block_of(p.sizes);
  run_strips(queue, p.sizes, strip_of(p.sizes, block), block, false, p.x, p.weight, p.bias, p.y);
}

void backward_data(Queue& queue, const ConvBackwardDataProblem& p) {
  const Block block = transposed_block_of(p.sizes);
  run_strips(queue, p.sizes, transposed_strip_of(p.sizes, block), block, true, p.dy, p.weight, nullptr, p.dx);
}

void backward_weight(Queue& queue, const ConvBackwardWeightProblem& p) {
  const Block block = block_of(p.sizes);
  const ConvStrip s = strip_of(p.sizes, block);
  const std::int64_t filters = p.dw.numel() / p.sizes.taps();
  const std::int64_t parts =
      parts_of_weight_sum(queue.device().info(), filters, product({s.images, s.blocks_h, s.blocks_w}));
  const Tensor partials = queue.scratch({1, parts, p.dw.numel()}, compute_dtype(p.dw.dtype));
  Defines defines = defines_of(p.sizes, block, p.dw.dtype);
  defines.set("IS_TRANSPOSED", 0).set("IS_WEIGHT", 1).set("INDEX", "uint");
  queue.launch(queue.kernel(file, "strip_weight", defines), Range::groups(CONV_WEIGHT_ITEMS, filters, parts),
               p.dy, p.x, partials, s, static_cast<int>(parts));
  join_products(queue, partials, p.dw);
}

}  // namespace

ConvForward conv2d_forward_simt_strip() {
  return {"simt_strip", can_take, cost, forward};
}
ConvBackwardData conv2d_backward_data_simt_strip() {
  return {"simt_strip", can_take_transposed, cost, backward_data};
}
ConvBackwardWeight conv2d_backward_weight_simt_strip() {
  return {"simt_strip", can_take, cost, backward_weight};
}

}  // namespace dlprim
