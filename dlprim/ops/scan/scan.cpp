#include "dlprim/ops/scan/scan.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/scan/scan_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** A tensor seen as [outer, n, inner] around one dimension. */
struct Columns {
  cl_long outer, n, inner;
};

Columns columns_of(const Dims& shape, int dim) {
  if (shape.empty()) return {1, 1, 1};
  return {product(Dims(shape.begin(), shape.begin() + dim)), shape[dim],
          product(Dims(shape.begin() + dim + 1, shape.end()))};
}

Kernel& scan_kernel(Queue& queue, const std::string& name, DType dtype) {
  return queue.kernel("ops/scan/scan.cl", name.c_str(),
                      dtype_defines(dtype).set("IS_FLOATING", is_floating(dtype) ? 1 : 0));
}

Range columns_range(const DeviceInfo& device, const Columns& c) {
  if (device.runs_cpu_kernels()) return Range::linear(c.outer * (ceil_div(c.inner, CPU_SCAN_COLUMNS)), 1);
  return Range::linear(c.outer * c.inner, std::min(64, device.max_work_group));
}

/** Whether work groups of shape simt share out what stands along the dimension. */
bool is_long(const Queue& queue, const Columns& c) {
  constexpr std::int64_t long_row = 64;
  return !queue.device().info().runs_cpu_kernels() && c.n >= long_row;
}

/** Whether a work group of shape simt follows each row. */
bool scans_rows(const Queue& queue, const Columns& c) {
  return is_long(queue, c) && c.inner == 1;
}

/** A work group for SIMT_SCAN_COLUMNS columns, which are cut in parts. */
Range parts_range(const Queue& queue, const Columns& c) {
  return Range::groups(work_group(queue.device().info()), c.outer * ceil_div(c.inner, SIMT_SCAN_COLUMNS));
}

Range rows_range(const Queue& queue, const Columns& c) {
  int group = std::min<int>(MAX_GROUP, queue.device().info().max_work_group);
  while (group > 8 && group * 4 >= c.n) group /= 2;
  return Range::groups(group, c.outer);
}

void scan(Queue& queue, const std::string& name, const Tensor& x, int dim, const Tensor& y, bool reverse) {
  require<TypeError>(is_floating(x.dtype) || x.dtype == DType::int64, name,
                     ": expected a floating dtype or int64, got ", dlprim::name(x.dtype));
  require_contiguous(name.c_str(), "the input", x);
  require_like(name.c_str(), "the result", y, x.shape, x.dtype);
  const Columns c = columns_of(x.shape, dim);
  if (x.numel() == 0) return;
  const auto launch = [&](const char* form, const Range& range) {
    queue.launch(scan_kernel(queue, name + form, x.dtype), range, x, y, c.outer, c.n, c.inner,
                 static_cast<cl_int>(reverse));
  };
  if (scans_rows(queue, c))
    launch("_rows", rows_range(queue, c));
  else if (is_long(queue, c))
    launch("_parts", parts_range(queue, c));
  else
    launch("_columns", columns_range(queue.device().info(), c));
}

/** Launches `name`, or `name`_rows where work groups follow rows; both take `tensors`. */
template <class... Tensors>
void launch_backward(Queue& queue, const std::string& name, const Columns& c, const Tensor& dy,
                     const Tensors&... tensors) {
  const bool rows = scans_rows(queue, c);
  queue.launch(scan_kernel(queue, rows ? name + "_rows" : name, dy.dtype),
               rows ? rows_range(queue, c) : columns_range(queue.device().info(), c), dy, tensors..., c.outer,
               c.n, c.inner, cl_int{0});
}

}  // namespace

void cumsum(Queue& queue, const Tensor& x, int dim, const Tensor& y, bool reverse) {
  ENTER(cumsum, queue, x, dim, y, reverse);
  scan(queue, "cumsum", x, dim, y, reverse);
}

void cumprod(Queue& queue, const Tensor& x, int dim, const Tensor& y) {
  ENTER(cumprod, queue, x, dim, y);
  scan(queue, "cumprod", x, dim, y, false);
}

void cumprod_backward(Queue& queue, const Tensor& dy, const Tensor& x, int dim, const Tensor& dx) {
  ENTER(cumprod_backward, queue, dy, x, dim, dx);
  constexpr const char* op = "cumprod backward";
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  require_like(op, "the gradient", dy, x.shape, x.dtype);
  require_like(op, "dx", dx, x.shape, x.dtype);
  const Columns c = columns_of(x.shape, dim);
  if (x.numel() == 0) return;
  const Tensor suffix = queue.scratch(x.shape, queue.device().info().fp64 ? DType::float64 : DType::float32);
  launch_backward(queue, "cumprod_backward", c, dy, x, suffix, dx);
}

void logcumsumexp(Queue& queue, const Tensor& x, int dim, const Tensor& y) {
  ENTER(logcumsumexp, queue, x, dim, y);
  require_floating(x.dtype, queue.device(), "logcumsumexp");
  scan(queue, "logcumsumexp", x, dim, y, false);
}

void logcumsumexp_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& y, int dim,
                           const Tensor& dx) {
  ENTER(logcumsumexp_backward, queue, dy, x, y, dim, dx);
  constexpr const char* op = "logcumsumexp backward";
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  require_like(op, "the gradient", dy, x.shape, x.dtype);
  require_like(op, "the result", y, x.shape, x.dtype);
  require_like(op, "dx", dx, x.shape, x.dtype);
  if (x.numel() == 0) return;
  launch_backward(queue, "logcumsumexp_backward", columns_of(x.shape, dim), dy, x, y, dx);
}

void running_extremes(Queue& queue, const Tensor& x, int dim, bool least, const Tensor& places) {
  ENTER(running_extremes, queue, x, dim, least, places);
  constexpr const char* op = "running extremes";
  require_contiguous(op, "the input", x);
  require_like(op, "the result", places, x.shape, DType::int64);
  const Columns c = columns_of(x.shape, dim);
  kernel_int(c.n, op, "a row");
  if (x.numel() == 0) return;
  const DeviceInfo& device = queue.device().info();
  const auto launch = [&](const char* kernel, const Range& range) {
    queue.launch(scan_kernel(queue, kernel, x.dtype), range, x, places, c.outer, c.n, c.inner,
                 static_cast<cl_int>(least));
  };
  if (scans_rows(queue, c))
    launch("extremes_rows", rows_range(queue, c));
  else if (device.runs_cpu_kernels() && c.inner == 1)
    launch("extremes_of_rows", Range::linear(ceil_div(c.outer, CPU_SCAN_ROWS), 1));
  else
    launch("extremes_columns", columns_range(device, c));
}

}  // namespace dlprim
