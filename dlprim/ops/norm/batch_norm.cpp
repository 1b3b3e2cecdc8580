#include "dlprim/ops/norm/batch_norm.h"

#include <algorithm>
#include <array>
#include <optional>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/norm/norm_shared.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

std::int64_t per_channel(const BatchNormExtents& e) {
  return static_cast<std::int64_t>(e.batch) * e.plane;
}

constexpr const char *file = "ops/norm/batch_norm.cl", *columns_file = "ops/norm/batch_norm_columns.cl",
                     *simt_columns_file = "ops/norm/batch_norm_columns_simt.cl";

Kernel& norm_kernel(Queue& queue, const char* kernel, const Tensor& x,
                    const PointwiseOp* activation = nullptr, const char* source = file) {
  return queue.kernel(source, kernel, dtype_defines(x.dtype).append(epilogue_defines(activation)));
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

/** `more`: a bit for each of what may be there. */
ProblemKey key_of(const BatchNormExtents& e, const Tensor& x, int more) {
  return ProblemKey(e.batch, e.channels, e.plane, x.dtype, more);
}

Tensor partials_of(Queue& queue, const Tensor& x, const BatchNormExtents& e) {
  // ACC of moments.cl.
  const DType dtype = queue.device().info().fp64 ? DType::float64 : compute_dtype(x.dtype);
  return queue.scratch({e.channels, e.parts, 2}, dtype);
}

// A work item a channel.
Range channels_range(Queue& queue, const BatchNormExtents& e) {
  const DeviceInfo& device = queue.device().info();
  return Range::linear(e.channels, device.runs_cpu_kernels() ? 1 : work_group(device, 64));
}

// A work group a channel, whose items share the parts: to join moments takes longer than to add.
Range statistics_range(Queue& queue, const BatchNormExtents& e) {
  const DeviceInfo& device = queue.device().info();
  return Range::groups(device.runs_cpu_kernels() ? 1 : work_group(device, 32), e.channels);
}

/** How sums over channels are split: in e.parts per channel and, on a CPU, in `blocks` of channels. */
struct Split {
  cl_int blocks;
  Range range;
};

// ---- problems: what their kernels work on, and what they launch

/** Mean, invstd and the running statistics from x. */
struct StatisticsProblem {
  BatchNormExtents e;
  const Tensor& x;
  double eps;
  const Tensor &mean, &invstd;
  const RunningStatistics& running;

  /** None of what is updated. */
  std::optional<ProblemKey> key() const {
    return running.mean || running.variance ? std::nullopt : std::optional(key_of(e, x, 0));
  }
  static constexpr const char* kernel = "batch_norm_moments";
  const PointwiseOp* activation() const { return nullptr; }
  std::array<const Tensor*, 1> vectors() const { return {&x}; }
  /** `extents`: e with its parts. */
  void launch(Queue& queue, Kernel& moments, const BatchNormExtents& extents, const Split& work) const {
    const Tensor partials = partials_of(queue, x, extents);
    const Tensor counts = queue.scratch({extents.channels, extents.parts}, DType::int32);
    queue.launch(moments, work.range, x, extents, work.blocks, partials, counts);
    with_real(x.dtype, [&](auto zero) {
      using Real = decltype(zero);
      const StatisticsOptions<Real> options{static_cast<Real>(eps), static_cast<Real>(running.momentum)};
      queue.launch(norm_kernel(queue, "batch_norm_join_statistics", x), statistics_range(queue, e), partials,
                   counts, extents, options, mean, invstd, Optional{running.mean},
                   Optional{running.variance});
    });
  }
};

/** The gradients of weight and bias, and the coefficients of the input's, from dy and x. */
struct GradientSumsProblem {
  BatchNormExtents e;
  const Tensor &x, &dy, &mean, &invstd;
  const Tensor* weight;
  const EpilogueGradient& epilogue;
  const Tensor *dweight, *dbias;
  const Tensor& coefficients;

  std::optional<ProblemKey> key() const {
    if (epilogue.addend && epilogue.addend->overlaps(dy)) return std::nullopt;
    return key_of(e, x, (epilogue.activation ? 1 : 0) | (epilogue.y ? 2 : 0) | (epilogue.addend ? 4 : 0));
  }
  static constexpr const char* kernel = "batch_norm_gradient_sums";
  const PointwiseOp* activation() const { return epilogue.activation; }
  std::array<const Tensor*, 4> vectors() const { return {&dy, &x, epilogue.y, epilogue.addend}; }
  /** `extents`: e with its parts. */
  void launch(Queue& queue, Kernel& sums, const BatchNormExtents& extents, const Split& work) const {
    const Tensor partials = partials_of(queue, x, extents);
    if (epilogue.activation)
      queue.launch(sums, work.range, dy, x, extents, work.blocks, mean, invstd, Optional{weight},
                   Optional{epilogue.bias}, Optional{epilogue.y}, Optional{epilogue.addend}, partials);
    else
      queue.launch(sums, work.range, dy, x, extents, work.blocks, mean, partials);
    queue.launch(norm_kernel(queue, "batch_norm_join_gradients", x), channels_range(queue, e), partials,
                 extents, mean, invstd, Optional{dweight}, Optional{dbias}, coefficients);
  }
};

/** y from x and its statistics. */
struct ForwardProblem {
  BatchNormExtents e;
  const Tensor &x, &mean, &invstd;
  const Tensor *weight, *bias;
  const Epilogue& epilogue;
  const Tensor& y;

  std::optional<ProblemKey> key() const {
    if (y.overlaps(x) || (epilogue.addend && y.overlaps(*epilogue.addend))) return std::nullopt;
    return key_of(e, x, (epilogue.activation ? 1 : 0) | (epilogue.addend ? 2 : 0));
  }
  static constexpr const char* kernel = "batch_norm_forward";
  const PointwiseOp* activation() const { return epilogue.activation; }
  std::array<const Tensor*, 3> vectors() const { return {&x, &y, epilogue.addend}; }
  void launch(Queue& queue, Kernel& normalise, const Range& range) const {
    queue.launch(normalise, range, x, e, mean, invstd, Optional{weight}, Optional{bias},
                 Optional{epilogue.addend}, y);
  }
};

/** dx from dy, the gradient behind `follows` if there is one, and x; without coefficients mean and invstd are
 * constants. */
struct InputGradientProblem {
  BatchNormExtents e;
  const Tensor &x, &dy, &mean, &invstd;
  const Tensor *weight, *coefficients;
  const PointwiseOp* follows;
  const Tensor* bias;
  const Tensor& dx;

  std::optional<ProblemKey> key() const {
    if (dx.overlaps(x) || dx.overlaps(dy)) return std::nullopt;
    return key_of(e, x, (follows ? 1 : 0) | (coefficients ? 2 : 0));
  }
  static constexpr const char* kernel = "batch_norm_input_gradient";
  const PointwiseOp* activation() const { return follows; }
  std::array<const Tensor*, 3> vectors() const { return {&dy, &x, &dx}; }
  void launch(Queue& queue, Kernel& gradient, const Range& range) const {
    if (follows)
      queue.launch(gradient, range, dy, x, e, mean, invstd, Optional{weight}, Optional{coefficients},
                   Optional{bias}, dx);
    else
      queue.launch(gradient, range, dy, x, e, mean, invstd, Optional{weight}, Optional{coefficients}, dx);
  }
};

// ---- implementations

template <class Problem>
double cost_by_element(const DeviceInfo&, const Problem& p) {
  return static_cast<double>(p.x.numel());
}

/** Images are shared by the work items, which run through a few channels of theirs in the order of memory. */
template <class Problem>
void run_by_images(Queue& queue, const Problem& p) {
  BatchNormExtents e = p.e;
  const int items = 8 * queue.device().info().compute_units;
  e.parts = std::min(e.batch, items);
  const cl_int blocks = std::min(e.channels, (items + e.parts - 1) / e.parts);
  p.launch(queue, norm_kernel(queue, Problem::kernel, p.x, p.activation()), e,
           {blocks, Range::linear(static_cast<std::int64_t>(e.parts) * blocks, 1)});
}

/** A work item takes whole planes. */
template <class Problem>
void run_by_planes(Queue& queue, const Problem& p) {
  p.launch(queue, norm_kernel(queue, Problem::kernel, p.x, p.activation()), share_range(queue, p.x.numel()));
}

/** Rows of channels, sixteen channels at a time. */
template <class Problem>
struct RowsOfChannels {
  static bool can_take(const DeviceInfo& device, const Problem& p) {
    return device.runs_cpu_kernels() && p.e.plane == 1 && p.e.batch > 1;
  }
  static double expected_cost(const DeviceInfo&, const Problem& p) {
    return static_cast<double>(p.x.numel()) / 8;
  }
  static Kernel& kernel(Queue& queue, const Problem& p) {
    return norm_kernel(queue, Problem::kernel, p.x, p.activation(), columns_file);
  }

  /** Work items share the rows, and where they are few the channels. */
  static void run_sums(Queue& queue, const Problem& p) {
    BatchNormExtents e = p.e;
    constexpr cl_int least_rows = 64;
    const cl_int items = 8 * queue.device().info().compute_units, sixteens = (e.channels + 15) / 16;
    const cl_int blocks = std::min(sixteens, items);
    e.parts = std::clamp((items + blocks - 1) / blocks, 1, std::max(1, e.batch / least_rows));
    p.launch(queue, kernel(queue, p), e,
             {blocks, Range::linear(static_cast<std::int64_t>(e.parts) * blocks, 1)});
  }
  static void run_rows(Queue& queue, const Problem& p) {
    p.launch(queue, kernel(queue, p), share_range(queue, p.x.numel()));
  }
};

/** Whether a problem's tensors begin at multiples of `width` elements. */
template <class Problem>
bool are_aligned_to(std::int64_t width, const Problem& p) {
  for (const Tensor* t : p.vectors())
    if (t && !is_aligned_to(static_cast<std::size_t>(width), *t)) return false;
  return true;
}

/** Work items take `width` neighbours at a time. */
template <class Problem, std::int64_t width>
struct InVectors {
  static bool can_take(const DeviceInfo& device, const Problem& p) {
    if (device.runs_cpu_kernels()) return false;
    return width == 1 || (p.e.plane % width == 0 && are_aligned_to(width, p));
  }
  static double expected_cost(const DeviceInfo&, const Problem& p) {
    return static_cast<double>(p.x.numel()) / width;
  }
  static Kernel& kernel(Queue& queue, const Problem& p) {
    return queue.kernel(file, Problem::kernel,
                        dtype_defines(p.x.dtype)
                            .append(epilogue_defines(p.activation()))
                            .set("WIDTH", width)
                            .set("INDEX", p.x.numel() / width > max_kernel_int ? "ulong" : "uint"));
  }

  /** Work groups share a channel's elements. */
  static void run_sums(Queue& queue, const Problem& p) {
    constexpr int groups_per_unit = 8, most_items = 128;
    const DeviceInfo& device = queue.device().info();
    const int group = work_group(device, most_items), units = device.compute_units;
    const std::int64_t least = 16 * group;  // elements that are worth a group
    const std::int64_t by_size = std::max<std::int64_t>(1, per_channel(p.e) / least);
    BatchNormExtents e = p.e;
    e.parts = static_cast<cl_int>(std::min<std::int64_t>(by_size, groups_per_unit * units / e.channels + 1));
    p.launch(queue, kernel(queue, p), e,
             {1, Range::groups(group, static_cast<std::int64_t>(e.channels) * e.parts)});
  }
  static void run_elements(Queue& queue, const Problem& p) {
    p.launch(queue, kernel(queue, p), share_range(queue, p.x.numel() / width));
  }
};

/** Rows of channels on a GPU: items take `width` neighbouring channels in some of the rows. */
template <class Problem, std::int64_t width>
struct ColumnsOfChannels {
  static constexpr int most_items = 256, lanes = BATCH_NORM_LANES;

  static bool can_take(const DeviceInfo& device, const Problem& p) {
    if (device.runs_cpu_kernels() || p.e.plane != 1 || work_group(device, most_items) < lanes) return false;
    return width == 1 || (p.e.channels % width == 0 && are_aligned_to(width, p));
  }
  static double expected_cost(const DeviceInfo&, const Problem& p) {
    return static_cast<double>(p.x.numel()) / (2 * width);
  }
  static Kernel& kernel(Queue& queue, const Problem& p) {
    return queue.kernel(
        simt_columns_file, Problem::kernel,
        dtype_defines(p.x.dtype).append(epilogue_defines(p.activation())).set("WIDTH", width));
  }

  /** In so many parts, of whose rows an item takes at least a few. */
  static Range range(Queue& queue, const Problem& p, cl_int least_rows, cl_int most_parts, cl_int& parts) {
    const int group = work_group(queue.device().info(), most_items);
    parts = std::clamp(p.e.batch / (group / lanes * least_rows), 1, most_parts);
    return Range::groups(group, parts * ceil_div(p.e.channels, lanes * width));
  }
  static void run_sums(Queue& queue, const Problem& p) {
    constexpr cl_int least_rows = 16, most_parts = 128;  // which an item joins one after another
    BatchNormExtents e = p.e;
    const Range work = range(queue, p, least_rows, most_parts, e.parts);
    p.launch(queue, kernel(queue, p), e, {1, work});
  }
  static void run_rows(Queue& queue, const Problem& p) {
    constexpr cl_int least_rows = 8, most_parts = 1 << 14;
    cl_int parts = 1;
    const Range work = range(queue, p, least_rows, most_parts, parts);
    p.launch(queue, kernel(queue, p), work);
  }
};

template <class Problem>
std::array<Implementation<Problem>, 6> sums_of_channels() {
  using Rows = RowsOfChannels<Problem>;
  using OneColumn = ColumnsOfChannels<Problem, 1>;
  using FourColumns = ColumnsOfChannels<Problem, 4>;
  using One = InVectors<Problem, 1>;
  using Four = InVectors<Problem, 4>;
  return {{{"cpu_images", runs_cpu_kernels<Problem>, cost_by_element<Problem>, run_by_images<Problem>},
           {"cpu_columns", Rows::can_take, Rows::expected_cost, Rows::run_sums},
           {"simt_columns", OneColumn::can_take, OneColumn::expected_cost, OneColumn::run_sums},
           {"simt_vector_columns", FourColumns::can_take, FourColumns::expected_cost, FourColumns::run_sums},
           {"simt_elements", One::can_take, One::expected_cost, One::run_sums},
           {"simt_vectors", Four::can_take, Four::expected_cost, Four::run_sums}}};
}

template <class Problem>
std::array<Implementation<Problem>, 6> element_by_element() {
  using Rows = RowsOfChannels<Problem>;
  using OneColumn = ColumnsOfChannels<Problem, 1>;
  using FourColumns = ColumnsOfChannels<Problem, 4>;
  using One = InVectors<Problem, 1>;
  using Four = InVectors<Problem, 4>;
  return {{{"cpu_planes", runs_cpu_kernels<Problem>, cost_by_element<Problem>, run_by_planes<Problem>},
           {"cpu_columns", Rows::can_take, Rows::expected_cost, Rows::run_rows},
           {"simt_columns", OneColumn::can_take, OneColumn::expected_cost, OneColumn::run_rows},
           {"simt_vector_columns", FourColumns::can_take, FourColumns::expected_cost, FourColumns::run_rows},
           {"simt_elements", One::can_take, One::expected_cost, One::run_elements},
           {"simt_vectors", Four::can_take, Four::expected_cost, Four::run_elements}}};
}

const ImplementationList<StatisticsProblem> statistics_implementations("batch_norm_statistics",
                                                                       sums_of_channels<StatisticsProblem>());
const ImplementationList<GradientSumsProblem> gradient_sums_implementations(
    "batch_norm_gradient_sums", sums_of_channels<GradientSumsProblem>());
const ImplementationList<ForwardProblem> forward_implementations("batch_norm_forward",
                                                                 element_by_element<ForwardProblem>());
const ImplementationList<InputGradientProblem> input_gradient_implementations(
    "batch_norm_input_gradient", element_by_element<InputGradientProblem>());

void require_statistics(const char* op, const Tensor& x, const BatchNormExtents& e, const Tensor& mean,
                        const Tensor& invstd, const RunningStatistics& running) {
  require(per_channel(e) != 1, op, ": expected more than 1 value per channel when training, got input size ",
          x.shape);
  require_channels(op, "mean", &mean, x);
  require_channels(op, "invstd", &invstd, x);
  require_channels(op, "running_mean", running.mean, x);
  require_channels(op, "running_var", running.variance, x);
}

void require_forward(const char* op, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                     const Tensor* weight, const Tensor* bias, const Tensor& y, const Epilogue& epilogue) {
  require_like(op, "the result", y, x.shape, x.dtype);
  for (const Tensor* t : {&mean, &invstd}) require_channels(op, "statistics", t, x);
  require_channels(op, "weight", weight, x);
  require_channels(op, "bias", bias, x);
  require_like(op, "the addend", epilogue.addend, x.shape, x.dtype);
  require_epilogue(op, epilogue.activation, epilogue.addend);
}

void require_epilogue_gradient(const char* op, const EpilogueGradient& epilogue, const Tensor& x) {
  require_epilogue(op, epilogue.activation, epilogue.y);
  require_channels(op, "bias", epilogue.bias, x);
  require_like(op, "the result", epilogue.y, x.shape, x.dtype);
  require_like(op, "the gradient of the addend", epilogue.addend, x.shape, x.dtype);
  require(!epilogue.y == !epilogue.addend && (epilogue.activation || !epilogue.y), op,
          ": the result of an activation and the gradient of an addend go together");
}

}  // namespace

Tensor batch_norm_items(const Tensor& t) {
  return t.is_contiguous() ? t : t.reshaped({t.numel() / t.size(1), t.size(1)});
}

void batch_norm_statistics(Queue& queue, const Tensor& x, double eps, const Tensor& mean,
                           const Tensor& invstd, const RunningStatistics& running) {
  ENTER(batch_norm_statistics, queue, x, eps, mean, invstd, running);
  constexpr const char* op = "batch_norm";
  const BatchNormExtents e = extents_of(queue, op, x);
  require_statistics(op, x, e, mean, invstd, running);
  if (x.numel() == 0) {
    for (const Tensor* t : {&mean, &invstd}) queue.zero(*t);
    return;
  }
  statistics_implementations.run(queue, {e, x, eps, mean, invstd, running});
}

void batch_norm_invstd(Queue& queue, const Tensor& variance, double eps, const Tensor& invstd) {
  ENTER(batch_norm_invstd, queue, variance, eps, invstd);
  constexpr const char* op = "batch_norm";
  require_floating(variance.dtype, queue.device(), op);
  require(is_compute_dtype(variance.dtype), op, ": expected statistics of dtype float32 or float64, got ",
          name(variance.dtype));
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

void check_batch_norm(Queue& queue, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                      const Tensor* weight, const Tensor* bias) {
  constexpr const char* op = "batch_norm";
  extents_of(queue, op, x);
  require_forward(op, x, mean, invstd, weight, bias, x, {});
}

void batch_norm_forward(Queue& queue, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                        const Tensor* weight, const Tensor* bias, const Tensor& y, const Epilogue& epilogue) {
  ENTER(batch_norm_forward, queue, x, mean, invstd, weight, bias, y, epilogue);
  constexpr const char* op = "batch_norm";
  const BatchNormExtents e = extents_of(queue, op, x);
  require_forward(op, x, mean, invstd, weight, bias, y, epilogue);
  if (x.numel() == 0) return;
  forward_implementations.run(queue, {e, x, mean, invstd, weight, bias, epilogue, y});
}

void batch_norm_training_forward(Queue& queue, const Tensor& x, const Tensor* weight, const Tensor* bias,
                                 double eps, const RunningStatistics& running, const Tensor& y,
                                 const Tensor& mean, const Tensor& invstd, const Epilogue& epilogue) {
  ENTER(batch_norm_training_forward, queue, x, weight, bias, eps, running, y, mean, invstd, epilogue);
  extents_of(queue, "batch_norm", x);
  require_forward("batch_norm", x, mean, invstd, weight, bias, y, epilogue);  // before statistics are written
  batch_norm_statistics(queue, x, eps, mean, invstd, running);
  batch_norm_forward(queue, x, mean, invstd, weight, bias, y, epilogue);
}

void batch_norm_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& mean,
                         const Tensor& invstd, const Tensor* weight, bool training, const Tensor* dx,
                         const Tensor* dweight, const Tensor* dbias, const EpilogueGradient& epilogue) {
  ENTER(batch_norm_backward, queue, dy, x, mean, invstd, weight, training, dx, dweight, dbias, epilogue);
  constexpr const char* op = "batch_norm backward";
  const BatchNormExtents e = extents_of(queue, op, x);
  require_like(op, "the gradient", dy, x.shape, x.dtype);
  require_like(op, "dx", dx, x.shape, x.dtype);
  for (const Tensor* t : {&mean, &invstd}) require_channels(op, "statistics", t, x);
  require_channels(op, "weight", weight, x);
  require_channels(op, "the gradient of weight", dweight, x);
  require_channels(op, "the gradient of bias", dbias, x);
  require_epilogue_gradient(op, epilogue, x);
  if (x.numel() == 0) {
    for (const Tensor* t : {dweight, dbias})
      if (t) queue.zero(*t);
    return;
  }
  Tensor coefficients;
  if (dweight || dbias || epilogue.y || (dx && training)) {
    coefficients = queue.scratch({e.channels, 2}, compute_dtype(x.dtype));
    gradient_sums_implementations.run(
        queue, {e, x, dy, mean, invstd, weight, epilogue, dweight, dbias, coefficients});
  }
  if (!dx) return;
  const Tensor* along = training ? &coefficients : nullptr;
  // Behind an addend the gradient of what it was added to is the addend's, which is there now.
  if (epilogue.y)
    input_gradient_implementations.run(
        queue, {e, x, *epilogue.addend, mean, invstd, weight, along, nullptr, nullptr, *dx});
  else
    input_gradient_implementations.run(
        queue, {e, x, dy, mean, invstd, weight, along, epilogue.activation, epilogue.bias, *dx});
}

}  // namespace dlprim
