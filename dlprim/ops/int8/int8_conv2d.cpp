#include "dlprim/ops/int8/int8_implementations.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/ops/int8/int8_checks.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* direct_file = "ops/int8/int8_direct.cl";

const ImplementationList<Int8ConvProblem> int8_conv_implementations("int8_conv2d", int8_conv_cpu_depthwise(),
                                                                    int8_conv_cpu_products(),
                                                                    int8_conv_direct());

Int8Conv conv_of(const char* op, const Dims& x, const Dims& weight, const Dims& y, const Conv2dGeometry& g) {
  const auto size = [&](std::int64_t n) { return kernel_int(n, op, "a size"); };
  Int8Conv c{};
  c.images = size(x[0]), c.groups = size(g.groups);
  c.rows = size(weight[0] / g.groups), c.channels = size(weight[1]);
  c.height = size(x[2]), c.width = size(x[3]), c.out_h = size(y[2]), c.out_w = size(y[3]);
  c.taps_h = size(weight[2]), c.taps_w = size(weight[3]);
  // Steps that are never taken do not matter, and may be large.
  c.stride_h = c.out_h == 1 ? 1 : g.stride[0], c.stride_w = c.out_w == 1 ? 1 : g.stride[1];
  c.dilation_h = c.taps_h == 1 ? 1 : g.dilation[0], c.dilation_w = c.taps_w == 1 ? 1 : g.dilation[1];
  c.pad_h = g.padding[0], c.pad_w = g.padding[1];
  for (const std::int64_t pixels : {x[2] * x[3], y[2] * y[3]}) kernel_int(pixels, op, "a plane");
  return c;
}

/** Checks what convolutions and linear layers have in common. */
void check_sum(const char* op, const Tensor& weight, const Tensor& scales, const Tensor* bias,
               const Tensor* addend, const Tensor& y) {
  const std::int64_t out = weight.shape[0], depth = product(weight.shape) / std::max<std::int64_t>(out, 1);
  require_int8(op, "the weight", weight, weight.shape);
  require_like(op, "scales", scales, {out}, DType::float32);
  require_like(op, "bias", bias, {out}, DType::float32);
  require_like(op, "addend", addend, y.shape, DType::int8);
  require(depth <= max_int8_terms, op, ": sums of ", depth, " products, at most ", max_int8_terms,
          " are supported");
}

bool takes_all(const DeviceInfo&, const Int8ConvProblem&) {
  return true;
}

double cost_of_direct(const DeviceInfo&, const Int8ConvProblem& p) {
  return 20 * p.multiply_adds();
}

void run_direct(Queue& queue, const Int8ConvProblem& p) {
  queue.launch(queue.kernel(direct_file, "int8_conv"), share_range(queue, p.y.numel(), p.depth()), p.weight,
               p.x, p.scales, Optional{p.bias}, Optional{p.addend}, p.y, p.sizes, p.finish);
}

}  // namespace

Int8ConvImplementation int8_conv_direct() {
  return {"direct", takes_all, cost_of_direct, run_direct};
}

void int8_conv2d(Queue& queue, const Tensor& x, const Int8Format& x_format, const Tensor& weight,
                 const Tensor& scales, const Tensor* bias, const Tensor* addend,
                 const Int8Format& addend_format, const Conv2dGeometry& geometry, const Int8Result& result,
                 const Tensor& y) {
  ENTER(int8_conv2d, queue, x, x_format, weight, scales, bias, addend, addend_format, geometry, result, y);
  constexpr const char* op = "int8_conv2d";
  require_int8(op, "x", x, x.shape);
  require_int8(op, "y", y, conv2d_output_shape(x.shape, weight.shape, geometry));
  check_sum(op, weight, scales, bias, addend, y);
  const Int8Finish finish = finish_of(op, x_format, result, bias, addend ? &addend_format : nullptr);
  if (y.numel() == 0) return;
  int8_conv_implementations.run(queue, {conv_of(op, x.shape, weight.shape, y.shape, geometry), finish, x,
                                        weight, scales, bias, addend, y});
}

void int8_linear(Queue& queue, const Tensor& x, const Int8Format& x_format, const Tensor& weight,
                 const Tensor& scales, const Tensor* bias, const Tensor* addend,
                 const Int8Format& addend_format, const Int8Result& result, const Tensor& y) {
  ENTER(int8_linear, queue, x, x_format, weight, scales, bias, addend, addend_format, result, y);
  constexpr const char* op = "int8_linear";
  require(weight.rank() == 2, op, ": expected a weight [out, in], got shape ", weight.shape);
  require(x.rank() == 2, op, ": expected x [rows, in], got shape ", x.shape);
  require_int8(op, "x", x, {x.shape[0], weight.shape[1]});
  require_int8(op, "y", y, {x.shape[0], weight.shape[0]});
  check_sum(op, weight, scales, bias, addend, y);
  const Int8Finish finish = finish_of(op, x_format, result, bias, addend ? &addend_format : nullptr);
  if (y.numel() == 0) return;
  queue.launch(queue.kernel(direct_file, "int8_linear"), share_range(queue, y.numel(), weight.shape[1]),
               weight, x, scales, Optional{bias}, Optional{addend}, y, x.shape[0],
               kernel_int(weight.shape[1], op, "inputs"), kernel_int(weight.shape[0], op, "outputs"), finish);
}

}  // namespace dlprim
