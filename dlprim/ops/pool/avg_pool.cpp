#include "dlprim/ops/pool/avg_pool.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pool/pool_implementations.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** Elements along an axis that each window counts, where all count as many; else 0. */
std::int64_t extent_of_all(const PoolWindow& w, int axis, bool count_include_pad) {
  if (w.adaptive) return w.size[axis] % w.out[axis] == 0 ? w.size[axis] / w.out[axis] : 0;
  if (w.padding[axis] > 0 && !count_include_pad) return 0;
  const std::int64_t last = (w.out[axis] - std::int64_t{1}) * w.stride[axis] - w.padding[axis];
  return last + w.kernel_size[axis] <= std::int64_t{w.size[axis]} + w.padding[axis] ? w.kernel_size[axis] : 0;
}

PoolDivisor kernel_divisor(const AveragePoolDivisor& divisor, const PoolWindow& w) {
  const bool pads = divisor.count_include_pad;
  const std::int64_t of_all =
      extent_of_all(w, 0, pads) * extent_of_all(w, 1, pads) * extent_of_all(w, POOL_DEPTH, pads);
  return {pads ? 1 : 0, divisor.divisor_override ? divisor.divisor_override : of_all};
}

template <std::size_t axes>
void require_average(const char* op, const PoolGeometry<axes>& geometry) {
  for (const int n : geometry.dilation) require(n == 1, op, ": dilation must be 1, got ", n);
}

/** Either direction: y from x, or dx from dy. */
struct Problem {
  const Tensor& from;
  const Tensor& to;
  PoolWindow window;
  PoolDivisor divisor;

  const Tensor& result() const { return to; }
  std::optional<ProblemKey> key() const { return pool_key(window, from, to); }
  void launch(Queue& queue, const char* kernel, const Range& range) const {
    queue.launch(pool_kernel(queue, kernel, window, to.dtype), range, from, to, cl_long{to.shape[0]}, window,
                 divisor);
  }
};

// ---- averages of whole planes and volumes, on a GPU: an item for each would be few, with long sums

bool takes_whole_planes(const DeviceInfo& device, const Problem& p) {
  if (device.runs_cpu_kernels() || !is_floating(p.from.dtype)) return false;
  for (int i = 0; i < 3; ++i)
    if (p.window.out[i] != 1 ||
        (!p.window.adaptive && (p.window.kernel_size[i] != p.window.size[i] || p.window.padding[i] != 0)))
      return false;
  const std::int64_t area = std::int64_t{p.window.size[0]} * p.window.size[1] * p.window.size[POOL_DEPTH];
  return p.divisor.of_all == area && area <= max_kernel_int;
}
double cost_of_whole_planes(const DeviceInfo& device, const Problem& p) {
  return pool_cost(device, p) / 2;
}

void average_planes(Queue& queue, const Problem& p) {
  static const ReductionOp& mean = reduction("mean");
  const std::int64_t planes = p.from.shape[0];
  reduce(queue, mean, p.from.reshaped({planes, p.from.numel() / planes}), dim_mask({1}, 2, "avg_pool2d"),
         p.to.reshaped({planes}));
}

void share_among_planes(Queue& queue, const Problem& p) {
  const std::int64_t planes = p.to.shape[0], area = p.to.numel() / planes;
  const int items = work_group(queue.device().info());
  int lanes = 1;
  while (lanes < items && 4 * lanes < area) lanes *= 2;
  const int lines = items / lanes;
  queue.launch(pool_kernel(queue, "avg_pool2d_backward_planes", p.window, p.to.dtype),
               Range::lines(lanes, lines, ceil_div(planes, std::int64_t{lines})), p.from, p.to,
               cl_long{planes}, static_cast<int>(area));
}

const Implementation<Problem> forward_list[] = {
    {"simt_planes", takes_whole_planes, cost_of_whole_planes, average_planes},
    {"cpu_planes", runs_cpu_kernels<Problem>, pool_cost<Problem>,
     [](Queue& queue, const Problem& p) {
       p.launch(queue, "avg_pool2d_forward", pool_volumes_range(queue, p.to));
     }},
    {"simt_elements", runs_simt_kernels<Problem>, pool_cost<Problem>, [](Queue& queue, const Problem& p) {
       p.launch(queue, "avg_pool2d_forward", pool_elements_range(queue, p.to));
     }}};
const ImplementationList<Problem> forward_implementations("avg_pool2d_forward", forward_list);

// On a CPU the plane stays in the cache, so that adding each window to it is cheaper than to gather what
// covers an element; sums need to be kept in what is stored.
const Implementation<Problem> backward_list[] = {
    {"simt_planes", takes_whole_planes, cost_of_whole_planes, share_among_planes},
    {"cpu_scatter", runs_cpu_kernels_exactly<Problem>, pool_cost<Problem>,
     [](Queue& queue, const Problem& p) {
       p.launch(queue, "avg_pool2d_backward_scatter", pool_volumes_range(queue, p.to));
     }},
    {"cpu_gather", runs_cpu_kernels<Problem>, pool_cost_of_gathering<Problem>,
     [](Queue& queue, const Problem& p) {
       p.launch(queue, "avg_pool2d_backward_gather", pool_volumes_range(queue, p.to));
     }},
    {"simt_elements", runs_simt_kernels<Problem>, pool_cost_of_gathering<Problem>,
     [](Queue& queue, const Problem& p) {
       p.launch(queue, "avg_pool2d_backward_gather", pool_elements_range(queue, p.to));
     }}};
const ImplementationList<Problem> backward_implementations("avg_pool2d_backward", backward_list);

void forward(Queue& queue, const char* op, int axes, const Tensor& x, const Pool3dGeometry* geometry,
             const AveragePoolDivisor& divisor, const Tensor& y) {
  if (x.dtype != DType::int64) require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  if (y.numel() == 0) return;
  const Tensor from = as_volumes(x, axes), to = as_volumes(y, axes);
  const PoolWindow window = pool_window(op, from.shape, to.shape, geometry);
  forward_implementations.run(queue, {from, to, window, kernel_divisor(divisor, window)});
}

void backward(Queue& queue, const char* op, int axes, const Tensor& dy, const Pool3dGeometry* geometry,
              const AveragePoolDivisor& divisor, const Tensor& dx) {
  require_floating(dx.dtype, queue.device(), op);
  require_contiguous(op, "dx", dx);
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dx);
  const Tensor from = as_volumes(dy, axes), to = as_volumes(dx, axes);
  const PoolWindow window = pool_window(op, to.shape, from.shape, geometry);
  backward_implementations.run(queue, {from, to, window, kernel_divisor(divisor, window)});
}

void adaptive_forward(Queue& queue, const char* op, int axes, const Tensor& x, const Tensor& y) {
  require_floating(x.dtype, queue.device(), op);
  require_adaptive_shapes(op, x, y, axes);
  forward(queue, op, axes, x, nullptr, {}, y);
}

void adaptive_backward(Queue& queue, const char* op, int axes, const Tensor& dy, const Tensor& dx) {
  require_adaptive_shapes(op, dx, dy, axes);
  backward(queue, op, axes, dy, nullptr, {}, dx);
}

}  // namespace

void avg_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry,
                        const AveragePoolDivisor& divisor, const Tensor& y) {
  ENTER(avg_pool2d_forward, queue, x, geometry, divisor, y);
  constexpr const char* op = "avg_pool2d";
  require_average(op, geometry);
  require_like(op, "the result", y, pool2d_output_shape(op, x.shape, geometry), x.dtype);
  const Pool3dGeometry g = over_volumes(geometry);
  forward(queue, op, 2, x, &g, divisor, y);
}

void avg_pool2d_backward(Queue& queue, const Tensor& dy, const Pool2dGeometry& geometry,
                         const AveragePoolDivisor& divisor, const Tensor& dx) {
  ENTER(avg_pool2d_backward, queue, dy, geometry, divisor, dx);
  constexpr const char* op = "avg_pool2d backward";
  require_average(op, geometry);
  require_like(op, "the gradient", dy, pool2d_output_shape(op, dx.shape, geometry), dx.dtype);
  const Pool3dGeometry g = over_volumes(geometry);
  backward(queue, op, 2, dy, &g, divisor, dx);
}

void avg_pool3d_forward(Queue& queue, const Tensor& x, const Pool3dGeometry& geometry,
                        const AveragePoolDivisor& divisor, const Tensor& y) {
  ENTER(avg_pool3d_forward, queue, x, geometry, divisor, y);
  constexpr const char* op = "avg_pool3d";
  require_average(op, geometry);
  require_like(op, "the result", y, pool3d_output_shape(op, x.shape, geometry), x.dtype);
  forward(queue, op, 3, x, &geometry, divisor, y);
}

void avg_pool3d_backward(Queue& queue, const Tensor& dy, const Pool3dGeometry& geometry,
                         const AveragePoolDivisor& divisor, const Tensor& dx) {
  ENTER(avg_pool3d_backward, queue, dy, geometry, divisor, dx);
  constexpr const char* op = "avg_pool3d backward";
  require_average(op, geometry);
  require_like(op, "the gradient", dy, pool3d_output_shape(op, dx.shape, geometry), dx.dtype);
  backward(queue, op, 3, dy, &geometry, divisor, dx);
}

void adaptive_avg_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y) {
  ENTER(adaptive_avg_pool2d_forward, queue, x, y);
  adaptive_forward(queue, "adaptive_avg_pool2d", 2, x, y);
}

void adaptive_avg_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& dx) {
  ENTER(adaptive_avg_pool2d_backward, queue, dy, dx);
  adaptive_backward(queue, "adaptive_avg_pool2d backward", 2, dy, dx);
}

void adaptive_avg_pool3d_forward(Queue& queue, const Tensor& x, const Tensor& y) {
  ENTER(adaptive_avg_pool3d_forward, queue, x, y);
  adaptive_forward(queue, "adaptive_avg_pool3d", 3, x, y);
}

void adaptive_avg_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& dx) {
  ENTER(adaptive_avg_pool3d_backward, queue, dy, dx);
  adaptive_backward(queue, "adaptive_avg_pool3d backward", 3, dy, dx);
}

}  // namespace dlprim
