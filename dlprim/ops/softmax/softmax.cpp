#include "dlprim/ops/softmax/softmax.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** A tensor seen as [outer, n, inner] around one dimension. */
struct Rows {
  cl_long outer;
  cl_int n, inner;
  std::int64_t count() const { return outer * inner; }
  ProblemKey key(DType dtype, bool is_log) const { return ProblemKey(outer, n, inner, dtype, is_log); }
};

Rows rows_of(const char* op, const Dims& shape, std::int64_t dim) {
  const int axis = wrap_dim(dim, shape.size(), op);
  if (shape.empty()) return {1, 1, 1};
  const std::int64_t inner = product(Dims(shape.begin() + axis + 1, shape.end()));
  return {product(Dims(shape.begin(), shape.begin() + axis)), kernel_int(shape[axis], op, "a row"),
          kernel_int(inner, op, "a distance between a row's elements")};
}

/** y from x. */
struct ForwardProblem {
  Rows rows;
  const Tensor& x;
  const Tensor& y;
  bool takes_log;
  std::optional<ProblemKey> key() const {
    return x.overlaps(y) ? std::nullopt : std::optional(rows.key(x.dtype, takes_log));
  }
  static constexpr const char *by_item = "softmax_forward_rows", *by_group = "softmax_forward_groups";
};

/** dx from dy and y. */
struct BackwardProblem {
  Rows rows;
  const Tensor& dy;
  const Tensor& y;
  const Tensor& dx;
  bool of_log;
  std::optional<ProblemKey> key() const {
    return dx.overlaps(dy) || dx.overlaps(y) ? std::nullopt : std::optional(rows.key(y.dtype, of_log));
  }
  static constexpr const char *by_item = "softmax_backward_rows", *by_group = "softmax_backward_groups";
};

Kernel& softmax_kernel(Queue& queue, const char* kernel, DType dtype) {
  const bool exact = is_compute_dtype(dtype);
  return queue.kernel("ops/softmax/softmax.cl", kernel,
                      dtype_defines(dtype).set("EXACT_STORAGE", exact ? 1 : 0));
}

/** One work item a row; on a CPU they share the rows, 16 neighbouring ones at a time. */
Range item_per_row(const Queue& queue, const Rows& rows) {
  const DeviceInfo& device = queue.device().info();
  if (!device.runs_cpu_kernels()) return Range::linear(rows.count(), work_group(device, 64));
  const std::int64_t tasks = rows.inner == 1 ? rows.count() : rows.outer * ceil_div(rows.inner, 16);
  return Range::linear(cpu_shares(device, tasks, rows.count() * rows.n / tasks), 1);
}

void launch(Queue& queue, const char* kernel, const Range& range, const ForwardProblem& p) {
  queue.launch(softmax_kernel(queue, kernel, p.x.dtype), range, p.x, p.y, p.rows.outer, p.rows.n,
               p.rows.inner, static_cast<cl_int>(p.takes_log));
}

void launch(Queue& queue, const char* kernel, const Range& range, const BackwardProblem& p) {
  queue.launch(softmax_kernel(queue, kernel, p.y.dtype), range, p.dy, p.y, p.dx, p.rows.outer, p.rows.n,
               p.rows.inner, static_cast<cl_int>(p.of_log));
}

/** A work item walks a row. */
template <class Problem>
Implementation<Problem> item_per_row() {
  return {"item_per_row", [](const DeviceInfo&, const Problem&) { return true; },
          [](const DeviceInfo&, const Problem& p) { return static_cast<double>(p.rows.n); },
          [](Queue& queue, const Problem& p) {
            launch(queue, Problem::by_item, item_per_row(queue, p.rows), p);
          }};
}

/** A line of a work group shares a row, whose elements are neighbours. */
template <class Problem>
Implementation<Problem> group_per_row() {
  return {"group_per_row",
          [](const DeviceInfo& device, const Problem& p) {
            return !device.runs_cpu_kernels() && p.rows.inner == 1;
          },
          // From 32 elements a row on a group is quicker: its items read neighbours, and join in a few steps.
          [](const DeviceInfo&, const Problem& p) { return 31 + static_cast<double>(p.rows.n) / 64; },
          [](Queue& queue, const Problem& p) {
            // Items read single elements: twice as many take as long as norms' vectors, and memory gives 32
            // bytes at least.
            constexpr int least_lanes = 8;
            const Range range = line_per_row_range(queue, p.rows.count(), ceil_div(p.rows.n, 2), least_lanes);
            launch(queue, Problem::by_group, range, p);
          }};
}

const Implementation<ForwardProblem> forward_list[] = {item_per_row<ForwardProblem>(),
                                                       group_per_row<ForwardProblem>()};
const Implementation<BackwardProblem> backward_list[] = {item_per_row<BackwardProblem>(),
                                                         group_per_row<BackwardProblem>()};
const ImplementationList<ForwardProblem> forward_implementations("softmax_forward", forward_list);
const ImplementationList<BackwardProblem> backward_implementations("softmax_backward", backward_list);

void forward(Queue& queue, const char* op, const Tensor& x, std::int64_t dim, const Tensor& y,
             bool takes_log) {
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  require_like(op, "the result", y, x.shape, x.dtype);
  const Rows rows = rows_of(op, x.shape, dim);
  if (x.numel() > 0) forward_implementations.run(queue, {rows, x, y, takes_log});
}

void backward(Queue& queue, const char* op, const Tensor& dy, const Tensor& y, std::int64_t dim,
              const Tensor& dx, bool of_log) {
  require_floating(y.dtype, queue.device(), op);
  require_contiguous(op, "the result of forward", y);
  require_like(op, "the gradient", dy, y.shape, y.dtype);
  require_like(op, "dx", dx, y.shape, y.dtype);
  const Rows rows = rows_of(op, y.shape, dim);
  if (y.numel() > 0) backward_implementations.run(queue, {rows, dy, y, dx, of_log});
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
