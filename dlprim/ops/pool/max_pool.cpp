#include "dlprim/ops/pool/max_pool.h"

#include <array>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pool/pool_implementations.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** y and its indices from x. */
struct ForwardProblem {
  const Tensor& x;
  const Tensor& y;
  const Tensor* indices;
  PoolWindow window;

  const Tensor& result() const { return y; }
  std::array<const Tensor*, 3> vectors() const { return {&x, &y, indices}; }
  std::optional<ProblemKey> key() const {
    return pool_key(window, x, y, indices ? indices->dtype : DType::boolean);
  }
  void launch(Queue& queue, const char* kernel, const Range& range) const {
    queue.launch(pool_kernel(queue, kernel, window, x.dtype, indices ? indices->dtype : DType::int32), range,
                 x, y, Optional{indices}, cl_long{y.shape[0]}, window);
  }
};

/** dx from dy and the forward pass' indices. */
struct BackwardProblem {
  const Tensor& dy;
  const Tensor& indices;
  const Tensor& dx;
  PoolWindow window;

  const Tensor& result() const { return dx; }
  std::array<const Tensor*, 3> vectors() const { return {&dy, &indices, &dx}; }
  std::optional<ProblemKey> key() const { return pool_key(window, dy, dx, indices.dtype); }
  void launch(Queue& queue, const char* kernel, const Range& range) const {
    queue.launch(pool_kernel(queue, kernel, window, dx.dtype, indices.dtype), range, dy, indices, dx,
                 cl_long{dx.shape[0]}, window);
  }
};

/** Windows of 2 by 2 side by side, none of which leaves the plane. */
bool are_side_by_side_2x2(const PoolWindow& w) {
  if (w.adaptive || has_depth(w)) return false;
  for (const int axis : {0, 1})
    if (w.kernel_size[axis] != 2 || w.stride[axis] != 2 || w.dilation[axis] != 1 || w.padding[axis] != 0 ||
        2 * w.out[axis] > w.size[axis])
      return false;
  return true;
}

/** Whether an item of a GPU may take four of them: they cover planes of rows that are vectors. */
template <class Problem>
bool takes_four_windows(const DeviceInfo& device, const Problem& p) {
  const PoolWindow& w = p.window;
  if (device.runs_cpu_kernels() || !is_floating(p.result().dtype) || !are_side_by_side_2x2(w)) return false;
  if (2 * w.out[0] != w.size[0] || 2 * w.out[1] != w.size[1] || w.out[1] % 4 != 0) return false;
  for (const Tensor* t : p.vectors())
    if (t && !is_aligned_to(4, *t)) return false;
  return true;
}

bool runs_cpu_vectors(const DeviceInfo& device, const ForwardProblem& p) {
  return device.runs_cpu_kernels() && is_floating(p.x.dtype);
}

// On a CPU: eight windows from two loads; a row's windows by one of their elements after the other, in
// vectors; window by window.
const Implementation<ForwardProblem> forward_list[] = {
    {"cpu_2x2",
     [](const DeviceInfo& device, const ForwardProblem& p) {
       return runs_cpu_vectors(device, p) && are_side_by_side_2x2(p.window);
     },
     [](const DeviceInfo& device, const ForwardProblem& p) { return pool_cost(device, p) / 8; },
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "max_pool2d_forward_2x2", pool_volumes_range(queue, p.y));
     }},
    {"cpu_strips",
     [](const DeviceInfo& device, const ForwardProblem& p) {
       return runs_cpu_vectors(device, p) && !p.window.adaptive;
     },
     [](const DeviceInfo& device, const ForwardProblem& p) { return pool_cost(device, p) / 2; },
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "max_pool2d_forward_strips", pool_volumes_range(queue, p.y));
     }},
    {"cpu_windows", runs_cpu_kernels<ForwardProblem>, pool_cost<ForwardProblem>,
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "max_pool2d_forward_windows", pool_volumes_range(queue, p.y));
     }},
    {"simt_2x2", takes_four_windows<ForwardProblem>,
     [](const DeviceInfo& device, const ForwardProblem& p) { return pool_cost(device, p) / 4; },
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "max_pool2d_forward_2x2", share_range(queue, p.y.numel() / 4));
     }},
    {"simt_elements", runs_simt_kernels<ForwardProblem>, pool_cost<ForwardProblem>,
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "max_pool2d_forward_windows", pool_elements_range(queue, p.y));
     }}};
const ImplementationList<ForwardProblem> forward_implementations("max_pool2d_forward", forward_list);

/** Elements from a window's start to the next one's. */
std::int64_t cell_size(const PoolWindow& window) {
  return std::int64_t{window.stride[0]} * window.stride[1] * window.stride[POOL_DEPTH];
}

std::int64_t count_of_cells(const PoolWindow& window, const Tensor& dx) {
  std::int64_t cells = dx.shape[0];
  for (const int axis : {0, 1, +POOL_DEPTH})
    cells *= ceil_div(std::int64_t{window.size[axis]} + window.padding[axis], window.stride[axis]);
  return cells;
}

// On a CPU the plane stays in the cache, so that adding to it is cheaper than asking of every element which
// windows chose it; sums need to be kept in what is stored. On a GPU an item that takes a cell divides once
// for all of it, as long as there are items enough.
const Implementation<BackwardProblem> backward_list[] = {
    {"cpu_scatter", runs_cpu_kernels_exactly<BackwardProblem>, pool_cost<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "max_pool2d_backward_scatter", pool_volumes_range(queue, p.dx));
     }},
    {"cpu_gather", runs_cpu_kernels<BackwardProblem>, pool_cost_of_gathering<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "max_pool2d_backward_gather", pool_volumes_range(queue, p.dx));
     }},
    {"simt_2x2", takes_four_windows<BackwardProblem>,
     [](const DeviceInfo& device, const BackwardProblem& p) { return pool_cost(device, p) / 4; },
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "max_pool2d_backward_2x2", share_range(queue, p.dy.numel() / 4));
     }},
    {"simt_cells",
     [](const DeviceInfo& device, const BackwardProblem& p) {
       return !device.runs_cpu_kernels() && !p.window.adaptive;
     },
     [](const DeviceInfo& device, const BackwardProblem& p) {
       constexpr std::int64_t most_of_cell = 16;
       return pool_cost_of_gathering(device, p) * (cell_size(p.window) <= most_of_cell ? 0.5 : 2);
     },
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "max_pool2d_backward_cells", share_range(queue, count_of_cells(p.window, p.dx)));
     }},
    {"simt_elements", runs_simt_kernels<BackwardProblem>, pool_cost_of_gathering<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "max_pool2d_backward_gather", pool_elements_range(queue, p.dx));
     }}};
const ImplementationList<BackwardProblem> backward_implementations("max_pool2d_backward", backward_list);

void require_places(const char* op, const Tensor& indices, const Tensor& y) {
  require_like(op, "indices", indices, y.shape, indices.dtype == DType::int64 ? DType::int64 : DType::int32);
}

void forward(Queue& queue, const char* op, int axes, const Tensor& x, const Pool3dGeometry* geometry,
             const Tensor& y, const Tensor* indices) {
  require_ordered(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  if (indices) require_places(op, *indices, y);
  if (y.numel() == 0) return;
  const Tensor from = as_volumes(x, axes), to = as_volumes(y, axes);
  forward_implementations.run(queue, {from, to, indices, pool_window(op, from.shape, to.shape, geometry)});
}

void backward(Queue& queue, const char* op, int axes, const Tensor& dy, const Tensor& indices,
              const Pool3dGeometry* geometry, const Tensor& dx) {
  require_floating(dx.dtype, queue.device(), op);
  require_contiguous(op, "dx", dx);
  require_places(op, indices, dy);
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dx);
  const Tensor from = as_volumes(dy, axes), to = as_volumes(dx, axes);
  backward_implementations.run(queue, {from, indices, to, pool_window(op, to.shape, from.shape, geometry)});
}

void adaptive_forward(Queue& queue, const char* op, int axes, const Tensor& x, const Tensor& y,
                      const Tensor* indices) {
  require_floating(x.dtype, queue.device(), op);
  require_adaptive_shapes(op, x, y, axes);
  forward(queue, op, axes, x, nullptr, y, indices);
}

void adaptive_backward(Queue& queue, const char* op, int axes, const Tensor& dy, const Tensor& indices,
                       const Tensor& dx) {
  require_adaptive_shapes(op, dx, dy, axes);
  backward(queue, op, axes, dy, indices, nullptr, dx);
}

}  // namespace

void max_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry, const Tensor& y,
                        const Tensor* indices) {
  ENTER(max_pool2d_forward, queue, x, geometry, y, indices);
  constexpr const char* op = "max_pool2d";
  require_like(op, "the result", y, pool2d_output_shape(op, x.shape, geometry), x.dtype);
  const Pool3dGeometry g = over_volumes(geometry);
  forward(queue, op, 2, x, &g, y, indices);
}

void max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices,
                         const Pool2dGeometry& geometry, const Tensor& dx) {
  ENTER(max_pool2d_backward, queue, dy, indices, geometry, dx);
  constexpr const char* op = "max_pool2d backward";
  require_like(op, "the gradient", dy, pool2d_output_shape(op, dx.shape, geometry), dx.dtype);
  const Pool3dGeometry g = over_volumes(geometry);
  backward(queue, op, 2, dy, indices, &g, dx);
}

void max_pool3d_forward(Queue& queue, const Tensor& x, const Pool3dGeometry& geometry, const Tensor& y,
                        const Tensor* indices) {
  ENTER(max_pool3d_forward, queue, x, geometry, y, indices);
  constexpr const char* op = "max_pool3d";
  require_like(op, "the result", y, pool3d_output_shape(op, x.shape, geometry), x.dtype);
  forward(queue, op, 3, x, &geometry, y, indices);
}

void max_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& indices,
                         const Pool3dGeometry& geometry, const Tensor& dx) {
  ENTER(max_pool3d_backward, queue, dy, indices, geometry, dx);
  constexpr const char* op = "max_pool3d backward";
  require_like(op, "the gradient", dy, pool3d_output_shape(op, dx.shape, geometry), dx.dtype);
  backward(queue, op, 3, dy, indices, &geometry, dx);
}

void adaptive_max_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y, const Tensor* indices) {
  ENTER(adaptive_max_pool2d_forward, queue, x, y, indices);
  adaptive_forward(queue, "adaptive_max_pool2d", 2, x, y, indices);
}

void adaptive_max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices, const Tensor& dx) {
  ENTER(adaptive_max_pool2d_backward, queue, dy, indices, dx);
  adaptive_backward(queue, "adaptive_max_pool2d backward", 2, dy, indices, dx);
}

void adaptive_max_pool3d_forward(Queue& queue, const Tensor& x, const Tensor& y, const Tensor* indices) {
  ENTER(adaptive_max_pool3d_forward, queue, x, y, indices);
  adaptive_forward(queue, "adaptive_max_pool3d", 3, x, y, indices);
}

void adaptive_max_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& indices, const Tensor& dx) {
  ENTER(adaptive_max_pool3d_backward, queue, dy, indices, dx);
  adaptive_backward(queue, "adaptive_max_pool3d backward", 3, dy, indices, dx);
}

}  // namespace dlprim
