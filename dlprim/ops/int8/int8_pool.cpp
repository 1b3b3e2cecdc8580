#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/ops/int8/int8_checks.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* pool_file = "ops/int8/int8_pool.cl";

Int8Windows windows_of(const char* op, const Dims& x, const Dims& y) {
  const auto size = [&](std::int64_t n) { return kernel_int(n, op, "a size"); };
  Int8Windows w{};
  w.height = size(x.end()[-2]), w.width = size(x.end()[-1]);
  w.out_h = size(y.end()[-2]), w.out_w = size(y.end()[-1]);
  return w;
}

}  // namespace

void int8_max_pool2d(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry, const Tensor& y) {
  ENTER(int8_max_pool2d, queue, x, geometry, y);
  constexpr const char* op = "int8_max_pool2d";
  require_int8(op, "x", x, x.shape);
  require_int8(op, "y", y, pool2d_output_shape(op, x.shape, geometry));
  if (y.numel() == 0) return;
  Int8Windows w = windows_of(op, x.shape, y.shape);
  w.kernel_h = geometry.kernel[0], w.kernel_w = geometry.kernel[1];
  w.stride_h = geometry.stride[0], w.stride_w = geometry.stride[1];
  w.pad_h = geometry.padding[0], w.pad_w = geometry.padding[1];
  w.dilation_h = geometry.dilation[0], w.dilation_w = geometry.dilation[1];
  const std::int64_t rows = y.numel() / w.out_w;
  queue.launch(queue.kernel(pool_file, "max_pool"),
               share_range(queue, rows, std::int64_t{w.out_w} * w.kernel_h * w.kernel_w), x, w, rows, y);
}

void int8_adaptive_avg_pool2d(Queue& queue, const Tensor& x, const Int8Format& x_format,
                              const Int8Result& result, const Tensor& y) {
  ENTER(int8_adaptive_avg_pool2d, queue, x, x_format, result, y);
  constexpr const char* op = "int8_adaptive_avg_pool2d";
  require_int8(op, "x", x, x.shape);
  require(y.rank() == x.rank() && y.rank() >= 2, op, ": expected a result of ", x.rank(),
          " dimensions, got shape ", y.shape);
  require_int8(op, "y", y, adaptive_pool2d_output_shape(op, x.shape, {y.size(-2), y.size(-1)}));
  const Int8Finish finish = finish_of(op, x_format, result);
  if (y.numel() == 0) return;
  const Int8Windows w = windows_of(op, x.shape, y.shape);
  require((w.height / w.out_h + 2) * (w.width / w.out_w + 2) <= max_int8_terms, op, ": windows of more than ",
          max_int8_terms, " elements");
  queue.launch(queue.kernel(pool_file, "adaptive_avg_pool"),
               share_range(queue, y.numel(), ceil_div(x.numel(), y.numel())), x, w, finish, y.numel(), y);
}

}  // namespace dlprim
