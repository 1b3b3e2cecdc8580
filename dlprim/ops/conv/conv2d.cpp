#include "dlprim/ops/conv/conv2d.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/table.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

ConvSizes sizes_of(const char* op, const Dims& x, const Dims& weight, const Dims& y,
                   const Conv2dGeometry& g) {
  const Dims expected = conv2d_output_shape(x, weight, g);
  require(y == expected, op, ": x ", x, " and weight ", weight, " give an output of ", expected, ", got ", y);
  ConvSizes p{};
  p.images = x[0];
  p.groups = g.groups;
  p.in_channels = weight[1];
  p.out_channels = weight[0] / g.groups;
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    p.size[i] = x[i + 2];
    p.out_size[i] = y[i + 2];
    p.kernel[i] = weight[i + 2];
    p.padding[i] = g.padding[at];
    // Steps that are never taken do not matter, and may be larger than kernels count: others lie inside the
    // padded input.
    p.stride[i] = y[i + 2] == 1 ? 1 : g.stride[at];
    p.dilation[i] = weight[i + 2] == 1 ? 1 : g.dilation[at];
  }
  // Kernels count the elements of a plane, and of the depth of a product, in ints.
  for (const std::int64_t pixels : {p.in_pixels(), p.out_pixels()}) kernel_int(pixels, op, "a plane");
  for (const std::int64_t channels : {p.in_channels, p.out_channels})
    kernel_int(product({channels, p.taps()}), op, "a filter");
  return p;
}

void check_tensors(const char* op, const Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c) {
  require<TypeError>(a.dtype == b.dtype && a.dtype == c.dtype, op, ": expected one dtype, got ",
                     name(a.dtype), ", ", name(b.dtype), ", ", name(c.dtype));
  require_floating(a.dtype, queue.device(), op);
  for (const Tensor* t : {&a, &b, &c}) require_contiguous(op, "its tensors", *t);
}

const ImplementationList<ConvForwardProblem> forward_implementations(
    "conv2d_forward", conv2d_forward_linear(), conv2d_forward_cpu_tiles(), conv2d_forward_cpu_direct(),
    conv2d_forward_cpu_products(), conv2d_forward_winograd_cpu(), conv2d_forward_products(),
    conv2d_forward_channels_last(), conv2d_forward_mapped(), conv2d_forward_winograd_simt(),
    conv2d_forward_winograd_fused(), conv2d_forward_simt_strip(), conv2d_forward_simt_direct());
const ImplementationList<ConvBackwardDataProblem> backward_data_implementations(
    "conv2d_backward_data", conv2d_backward_data_linear(), conv2d_backward_data_cpu_tiles(),
    conv2d_backward_data_cpu_scatter(), conv2d_backward_data_cpu_direct(),
    conv2d_backward_data_cpu_products(), conv2d_backward_data_winograd_cpu(), conv2d_backward_data_products(),
    conv2d_backward_data_channels_last(), conv2d_backward_data_mapped(), conv2d_backward_data_winograd_simt(),
    conv2d_backward_data_winograd_fused(), conv2d_backward_data_simt_strip(),
    conv2d_backward_data_simt_direct());
const ImplementationList<ConvBackwardWeightProblem> backward_weight_implementations(
    "conv2d_backward_weight", conv2d_backward_weight_linear(), conv2d_backward_weight_cpu_tiles(),
    conv2d_backward_weight_cpu_direct(), conv2d_backward_weight_winograd_cpu(),
    conv2d_backward_weight_products(), conv2d_backward_weight_images_last(), conv2d_backward_weight_mapped(),
    conv2d_backward_weight_winograd_simt(), conv2d_backward_weight_winograd_fused(),
    conv2d_backward_weight_simt_strip(), conv2d_backward_weight_simt_direct());

}  // namespace

void apply_epilogue(Queue& queue, const Epilogue& epilogue, const Tensor& y) {
  if (epilogue.addend)
    pointwise(queue, forward_expression(pointwise_op("add")), y.dtype, {y, *epilogue.addend}, {1}, {y});
  if (epilogue.activation) pointwise(queue, forward_expression(*epilogue.activation), y.dtype, {y}, {}, {y});
}

namespace {

void forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
             const Conv2dGeometry& geometry, const Tensor& y, MatmulPrecision precision,
             const Epilogue& epilogue) {
  const ConvSizes sizes = sizes_of("conv2d", x.shape, weight.shape, y.shape, geometry);
  check_tensors("conv2d", queue, x, weight, y);
  require_like("conv2d", "bias", bias, {weight.shape[0]}, x.dtype);
  if (y.numel() == 0) return;
  const bool is_joined = queue.device().info().runs_cpu_kernels() && y.dtype != DType::float64;
  forward_implementations.run(queue,
                              {sizes, x, weight, bias, y, precision, is_joined ? epilogue : Epilogue{}});
  if (!is_joined) apply_epilogue(queue, epilogue, y);
}

}  // namespace

void conv2d_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                    const Conv2dGeometry& geometry, const Tensor& y, MatmulPrecision precision) {
  ENTER(conv2d_forward, queue, x, weight, bias, geometry, y, precision);
  forward(queue, x, weight, bias, geometry, y, precision, {});
}

void conv2d_epilogue_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                             const Conv2dGeometry& geometry, const Tensor& y, MatmulPrecision precision,
                             const Epilogue& epilogue) {
  ENTER(conv2d_epilogue_forward, queue, x, weight, bias, geometry, y, precision, epilogue);
  require_like("conv2d", "the addend", epilogue.addend, y.shape, y.dtype);
  if (epilogue.addend) require_contiguous("conv2d", "its tensors", *epilogue.addend);
  require_epilogue("conv2d", epilogue.activation, false);  // no gradient is asked of it
  forward(queue, x, weight, bias, geometry, y, precision, epilogue);
}

void conv2d_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                          const Conv2dGeometry& geometry, const Tensor& dx, MatmulPrecision precision) {
  ENTER(conv2d_backward_data, queue, dy, weight, geometry, dx, precision);
  const ConvSizes sizes = sizes_of("conv2d_backward_data", dx.shape, weight.shape, dy.shape, geometry);
  check_tensors("conv2d_backward_data", queue, dy, weight, dx);
  if (dx.numel() == 0) return;
  backward_data_implementations.run(queue, {sizes, dy, weight, dx, precision});
}

void conv2d_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Conv2dGeometry& geometry,
                            const Tensor& dw, MatmulPrecision precision) {
  ENTER(conv2d_backward_weight, queue, dy, x, geometry, dw, precision);
  const ConvSizes sizes = sizes_of("conv2d_backward_weight", x.shape, dw.shape, dy.shape, geometry);
  check_tensors("conv2d_backward_weight", queue, dy, x, dw);
  if (dw.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dw);
  backward_weight_implementations.run(queue, {sizes, dy, x, dw, precision});
}

}  // namespace dlprim
