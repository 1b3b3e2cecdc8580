#include "dlprim/ops/norm/batch_norm.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/norm/norm_shared.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

std::int64_t per_channel(const BatchNormExtents& e) {
  return static_cast<std::int64_t>(e.batch) * e.plane;
}

Kernel& norm_kernel(Queue& queue, const char* kernel, const Tensor& x) {
  return queue.kernel("ops/norm/batch_norm.cl", kernel, dtype_defines(x.dtype));
}

bool is_cpu(const Queue& queue) {
  return queue.device().info().runs_cpu_kernels();
}

int group_size(const Queue& queue) {
  return work_group(queue.device().info());
}

BatchNormExtents extents_of(Queue& queue, const char* op, const Tensor& x) {
  require_floating(x.dtype, queue.device(), op);
  require(x.rank() >= 2, op, ": expected an input of shape [N, C, ...], got ", x.shape);
  require_contiguous(op, "the input", x);
  const std::int64_t plane = product(Dims(x.shape.begin() + 2, x.shape.end()));
  kernel_int(x.shape[0] * plane, op, "a channel");
  kernel_int(x.shape[0] * x.shape[1], op, "a number of planes");
  return {kernel_int(x.shape[0], op, "a batch"), kernel_int(x.shape[1], op, "a number of channels"),
          kernel_int(plane, op, "a plane"), 1};
}

void require_channels(const char* op, const char* what, const Tensor* t, const Tensor& x) {
  require_like(op, what, t, {x.shape[1]}, compute_dtype(x.dtype));
}

/** How the work on all channels is split: e.parts per channel and, on a CPU, `blocks` of channels. */
struct Split {
  cl_int blocks;
  Range range;
};

Split split(Queue& queue, BatchNormExtents& e) {
  const int units = queue.device().info().compute_units;
  if (is_cpu(queue)) {
    const int items = 8 * units;
    e.parts = std::min(e.batch, items);
    const cl_int blocks = std::min(e.channels, (items + e.parts - 1) / e.parts);
    return {blocks, Range::linear(static_cast<std::int64_t>(e.parts) * blocks, 1)};
  }
  constexpr int groups_per_unit = 8;
  const std::int64_t least = 16 * group_size(queue);  // elements that are worth a group
  const std::int64_t by_size = std::max<std::int64_t>(1, per_channel(e) / least);
  e.parts = static_cast<cl_int>(std::min<std::int64_t>(by_size, groups_per_unit * units / e.channels + 1));
  return {1, Range::groups(group_size(queue), static_cast<std::int64_t>(e.channels) * e.parts)};
}

// For the kernels that join the parts: a work item a channel.
Range channels_range(Queue& queue, const BatchNormExtents& e) {
  return Range::linear(e.channels, is_cpu(queue) ? 1 : std::min(64, group_size(queue)));
}

/** A kernel over `tensors`, which have the shape of x; on a GPU an item takes four neighbours where they lie
 * in whole aligned vectors. */
struct VectorKernel {
  Kernel& kernel;
  std::int64_t items;  // of an elementwise pass
};

VectorKernel vector_kernel(Queue& queue, const char* name, const Tensor& x,
                           std::initializer_list<const Tensor*> tensors, const BatchNormExtents& e) {
  if (is_cpu(queue)) return {norm_kernel(queue, name, x), x.numel()};
  constexpr std::int64_t wide = 4;
  bool is_wide = e.plane % wide == 0 && x.dtype == compute_dtype(x.dtype);
  for (const Tensor* t : tensors) is_wide &= is_aligned_to(wide, *t);
  const std::int64_t items = x.numel() / (is_wide ? wide : 1);
  Defines defines = dtype_defines(x.dtype);
  defines.set("WIDTH", is_wide ? wide : 1).set("INDEX", items > max_kernel_int ? "ulong" : "uint");
  return {queue.kernel("ops/norm/batch_norm.cl", name, defines), items};
}

template <class... Args>
void launch_elementwise(Queue& queue, const char* name, const Tensor& x,
                        std::initializer_list<const Tensor*> tensors, const BatchNormExtents& e,
                        const Args&... args) {
  const VectorKernel work = vector_kernel(queue, name, x, tensors, e);
  queue.launch(work.kernel, share_range(queue, work.items), args...);
}

void require_statistics(const char* op, const Tensor& x, const BatchNormExtents& e, const Tensor& mean,
                        const Tensor& invstd, const RunningStatistics& running) {
  require(per_channel(e) > 1, op, ": expected more than 1 value per channel when training, got input size ",
          x.shape);
  require_channels(op, "mean", &mean, x);
  require_channels(op, "invstd", &invstd, x);
  require_channels(op, "running_mean", running.mean, x);
  require_channels(op, "running_var", running.variance, x);
}

void require_forward(const char* op, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                     const Tensor* weight, const Tensor* bias, const Tensor& y) {
  require_like(op, "the result", y, x.shape, x.dtype);
  for (const Tensor* t : {&mean, &invstd}) require_channels(op, "statistics", t, x);
  require_channels(op, "weight", weight, x);
  require_channels(op, "bias", bias, x);
}

Tensor partials_of(Queue& queue, const Tensor& x, const BatchNormExtents& e) {
  // ACC of moments.cl.
  const DType dtype = queue.device().info().fp64 ? DType::float64 : compute_dtype(x.dtype);
  return queue.scratch({e.channels, e.parts, 2}, dtype);
}

}  // namespace

void batch_norm_statistics(Queue& queue, const Tensor& x, double eps, const Tensor& mean,
                           const Tensor& invstd, const RunningStatistics& running) {
  ENTER(batch_norm_statistics, queue, x, eps, mean, invstd, running);
  constexpr const char* op = "batch_norm";
  BatchNormExtents e = extents_of(queue, op, x);
  require_statistics(op, x, e, mean, invstd, running);
  if (e.channels == 0) return;
  const Split work = split(queue, e);
  const Tensor partials = partials_of(queue, x, e);
  const Tensor counts = queue.scratch({e.channels, e.parts}, DType::int32);
  queue.launch(vector_kernel(queue, "batch_norm_moments", x, {&x}, e).kernel, work.range, x, e, work.blocks,
               partials, counts);
  with_real(x.dtype, [&](auto zero) {
    using Real = decltype(zero);
    const StatisticsOptions<Real> options{static_cast<Real>(eps), static_cast<Real>(running.momentum)};
    queue.launch(norm_kernel(queue, "batch_norm_join_statistics", x), channels_range(queue, e), partials,
                 counts, e, options, mean, invstd, Optional{running.mean}, Optional{running.variance});
  });
}

void batch_norm_invstd(Queue& queue, const Tensor& variance, double eps, const Tensor& invstd) {
  ENTER(batch_norm_invstd, queue, variance, eps, invstd);
  constexpr const char* op = "batch_norm";
  require_floating(variance.dtype, queue.device(), op);
  require(variance.dtype == compute_dtype(variance.dtype), op,
          ": expected statistics of dtype float32 or float64, got ", name(variance.dtype));
  require_contiguous(op, "the variance", variance);
  require_like(op, "invstd", invstd, variance.shape, variance.dtype);
  if (variance.numel() == 0) return;
  const cl_int channels = kernel_int(variance.numel(), op, "a number of channels");
  with_real(variance.dtype, [&](auto zero) {
    queue.launch(norm_kernel(queue, "batch_norm_invstd", variance),
                 channels_range(queue, {1, channels, 1, 1}), variance, invstd, channels,
                 static_cast<decltype(zero)>(eps));
  });
}

void batch_norm_forward(Queue& queue, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                        const Tensor* weight, const Tensor* bias, const Tensor& y) {
  ENTER(batch_norm_forward, queue, x, mean, invstd, weight, bias, y);
  constexpr const char* op = "batch_norm";
  const BatchNormExtents e = extents_of(queue, op, x);
  require_forward(op, x, mean, invstd, weight, bias, y);
  if (x.numel() == 0) return;
  launch_elementwise(queue, "batch_norm_forward", x, {&x, &y}, e, x, e, mean, invstd, Optional{weight},
                     Optional{bias}, y);
}

void batch_norm_training_forward(Queue& queue, const Tensor& x, const Tensor* weight, const Tensor* bias,
                                 double eps, const RunningStatistics& running, const Tensor& y,
                                 const Tensor& mean, const Tensor& invstd) {
  ENTER(batch_norm_training_forward, queue, x, weight, bias, eps, running, y, mean, invstd);
  extents_of(queue, "batch_norm", x);
  require_forward("batch_norm", x, mean, invstd, weight, bias, y);  // before statistics are written
  batch_norm_statistics(queue, x, eps, mean, invstd, running);
  batch_norm_forward(queue, x, mean, invstd, weight, bias, y);
}

void batch_norm_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& mean,
                         const Tensor& invstd, const Tensor* weight, bool training, const Tensor* dx,
                         const Tensor* dweight, const Tensor* dbias) {
  ENTER(batch_norm_backward, queue, dy, x, mean, invstd, weight, training, dx, dweight, dbias);
  constexpr const char* op = "batch_norm backward";
  BatchNormExtents e = extents_of(queue, op, x);
  require_like(op, "the gradient", dy, x.shape, x.dtype);
  require_like(op, "dx", dx, x.shape, x.dtype);
  for (const Tensor* t : {&mean, &invstd}) require_channels(op, "statistics", t, x);
  require_channels(op, "weight", weight, x);
  require_channels(op, "the gradient of weight", dweight, x);
  require_channels(op, "the gradient of bias", dbias, x);
  const bool wants_sums = dweight || dbias;
  if (x.numel() == 0) {
    for (const Tensor* t : {dweight, dbias})
      if (t) queue.zero(*t);
    return;
  }
  Tensor coefficients;
  if (wants_sums || (dx && training)) {
    const Split work = split(queue, e);
    const Tensor partials = partials_of(queue, x, e);
    coefficients = queue.scratch({e.channels, 2}, compute_dtype(x.dtype));
    queue.launch(vector_kernel(queue, "batch_norm_gradient_sums", x, {&dy, &x}, e).kernel, work.range, dy, x,
                 e, work.blocks, mean, partials);
    queue.launch(norm_kernel(queue, "batch_norm_join_gradients", x), channels_range(queue, e), partials, e,
                 mean, invstd, Optional{dweight}, Optional{dbias}, coefficients);
  }
  if (dx)
    launch_elementwise(queue, "batch_norm_input_gradient", x, {&dy, &x, dx}, e, dy, x, e, mean, invstd,
                       Optional{weight}, Optional{training ? &coefficients : nullptr}, *dx);
}

}  // namespace dlprim
