#include "dlprim/ops/softmax/softmax.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

/** A tensor seen as [outer, n, inner] around one dimension. */
struct Rows {
  cl_long outer;
  cl_int n, inner;
};

Rows rows_of(const char* op, const Dims& shape, std::int64_t dim) {
  const int axis = wrap_dim(dim, shape.size(), op);
  if (shape.empty()) return {1, 1, 1};
  const std::int64_t inner = product(Dims(shape.begin() + axis + 1, shape.end()));
  return {product(Dims(shape.begin(), shape.begin() + axis)), kernel_int(shape[axis], op, "a row"),
          kernel_int(inner, op, "a distance between a row's elements")};
}

struct Plan {
  const char* kernel;
  Range range;
};

Plan plan_for(Queue& queue, const Rows& rows, const char* by_rows, const char* by_groups) {
  const DeviceInfo& info = queue.device().info();
  const std::int64_t count = rows.outer * rows.inner;
  if (info.runs_cpu_kernels()) {
    constexpr std::int64_t least_elements = 4096;
    const std::int64_t tasks = rows.inner == 1 ? count : rows.outer * ((rows.inner + 15) / 16);
    return {
        by_rows,
        Range::linear(
            std::min<std::int64_t>({count * rows.n / least_elements + 1, tasks, 8 * info.compute_units}), 1)};
  }
  int group = 256;
  while (group > info.max_work_group || (group > 32 && group / 2 >= rows.n)) group /= 2;
  constexpr int long_row = 32;
  if (rows.inner == 1 && rows.n >= long_row) return {by_groups, Range::groups(group, count)};
  return {by_rows, Range::linear(count, std::min(64, info.max_work_group))};
}

Kernel& softmax_kernel(Queue& queue, const char* kernel, DType dtype) {
  const bool exact = dtype == DType::float32 || dtype == DType::float64;
  return queue.kernel("ops/softmax/softmax.cl", kernel,
                      dtype_defines(dtype).set("EXACT_STORAGE", exact ? 1 : 0));
}

void forward(Queue& queue, const char* op, const Tensor& x, std::int64_t dim, const Tensor& y,
             bool take_log) {
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  require_like(op, "the result", y, x.shape, x.dtype);
  const Rows rows = rows_of(op, x.shape, dim);
  if (x.numel() == 0) return;
  const Plan plan = plan_for(queue, rows, "softmax_forward_rows", "softmax_forward_groups");
  queue.launch(softmax_kernel(queue, plan.kernel, x.dtype), plan.range, x, y, rows.outer, rows.n, rows.inner,
               static_cast<cl_int>(take_log));
}

void backward(Queue& queue, const char* op, const Tensor& dy, const Tensor& y, std::int64_t dim,
              const Tensor& dx, bool of_log) {
  require_floating(y.dtype, queue.device(), op);
  require_contiguous(op, "the result of forward", y);
  require_like(op, "the gradient", dy, y.shape, y.dtype);
  require_like(op, "dx", dx, y.shape, y.dtype);
  const Rows rows = rows_of(op, y.shape, dim);
  if (y.numel() == 0) return;
  const Plan plan = plan_for(queue, rows, "softmax_backward_rows", "softmax_backward_groups");
  queue.launch(softmax_kernel(queue, plan.kernel, y.dtype), plan.range, dy, y, dx, rows.outer, rows.n,
               rows.inner, static_cast<cl_int>(of_log));
}

}  // namespace

void softmax_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y) {
  ENTER(softmax_forward, queue, x, dim, y);
  forward(queue, "softmax", x, dim, y, false);
}

void softmax_backward(Queue& queue, const Tensor& dy, const Tensor& y, std::int64_t dim, const Tensor& dx) {
  ENTER(softmax_backward, queue, dy, y, dim, dx);
  backward(queue, "softmax backward", dy, y, dim, dx, false);
}

void log_softmax_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y) {
  ENTER(log_softmax_forward, queue, x, dim, y);
  forward(queue, "log_softmax", x, dim, y, true);
}

void log_softmax_backward(Queue& queue, const Tensor& dy, const Tensor& y, std::int64_t dim,
                          const Tensor& dx) {
  ENTER(log_softmax_backward, queue, dy, y, dim, dx);
  backward(queue, "log_softmax backward", dy, y, dim, dx, true);
}

}  // namespace dlprim
