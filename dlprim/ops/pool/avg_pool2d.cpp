#include "dlprim/ops/pool/avg_pool2d.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pool/pool_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

PoolDivisor kernel_divisor(const AveragePoolDivisor& divisor) {
  return {divisor.count_include_pad ? 1 : 0, divisor.divisor_override};
}

void require_average(const char* op, const Pool2dGeometry& geometry) {
  require(geometry.dilation[0] == 1 && geometry.dilation[1] == 1, op, ": dilation must be 1, got ",
          geometry.dilation[0], " and ", geometry.dilation[1]);
}

/** y from x. */
struct ForwardProblem {
  const Tensor& x;
  const Tensor& y;
  PoolWindow window;
  PoolDivisor divisor;

  const Tensor& result() const { return y; }
  void launch(Queue& queue, const char* kernel, const Range& range) const {
    queue.launch(pool_kernel(queue, kernel, x.dtype), range, x, y, cl_long{pool_planes(y.shape)}, window,
                 divisor);
  }
};

/** dx from dy. */
struct BackwardProblem {
  const Tensor& dy;
  const Tensor& dx;
  PoolWindow window;
  PoolDivisor divisor;

  const Tensor& result() const { return dx; }
  void launch(Queue& queue, const char* kernel, const Range& range) const {
    queue.launch(pool_kernel(queue, kernel, dx.dtype), range, dy, dx, cl_long{pool_planes(dx.shape)}, window,
                 divisor);
  }
};

const Implementation<ForwardProblem> forward_list[] = {
    {"cpu_planes", runs_cpu_kernels<ForwardProblem>, pool_cost<ForwardProblem>,
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "avg_pool2d_forward", pool_planes_range(queue, p.y));
     }},
    {"simt_elements", runs_simt_kernels<ForwardProblem>, pool_cost<ForwardProblem>,
     [](Queue& queue, const ForwardProblem& p) {
       p.launch(queue, "avg_pool2d_forward", pool_elements_range(queue, p.y));
     }}};
const ImplementationList<ForwardProblem> forward_implementations("avg_pool2d_forward", forward_list);

// On a CPU the plane stays in the cache, so that adding each window to it is cheaper than to gather what
// covers an element; sums need to be kept in what is stored.
const Implementation<BackwardProblem> backward_list[] = {
    {"cpu_scatter", runs_cpu_kernels_exactly<BackwardProblem>, pool_cost<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "avg_pool2d_backward_scatter", pool_planes_range(queue, p.dx));
     }},
    {"cpu_gather", runs_cpu_kernels<BackwardProblem>, pool_cost_of_gathering<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "avg_pool2d_backward_gather", pool_planes_range(queue, p.dx));
     }},
    {"simt_elements", runs_simt_kernels<BackwardProblem>, pool_cost_of_gathering<BackwardProblem>,
     [](Queue& queue, const BackwardProblem& p) {
       p.launch(queue, "avg_pool2d_backward_gather", pool_elements_range(queue, p.dx));
     }}};
const ImplementationList<BackwardProblem> backward_implementations("avg_pool2d_backward", backward_list);

void forward(Queue& queue, const char* op, const Tensor& x, const Pool2dGeometry* geometry,
             PoolDivisor divisor, const Tensor& y) {
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  if (y.numel() == 0) return;
  forward_implementations.run(queue, {x, y, pool_window(op, x.shape, y.shape, geometry), divisor});
}

void backward(Queue& queue, const char* op, const Tensor& dy, const Pool2dGeometry* geometry,
              PoolDivisor divisor, const Tensor& dx) {
  require_floating(dx.dtype, queue.device(), op);
  require_contiguous(op, "dx", dx);
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dx);
  backward_implementations.run(queue, {dy, dx, pool_window(op, dx.shape, dy.shape, geometry), divisor});
}

}  // namespace

void avg_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry,
                        const AveragePoolDivisor& divisor, const Tensor& y) {
  ENTER(avg_pool2d_forward, queue, x, geometry, divisor, y);
  constexpr const char* op = "avg_pool2d";
  require_average(op, geometry);
  require_like(op, "the result", y, pool2d_output_shape(op, x.shape, geometry), x.dtype);
  forward(queue, op, x, &geometry, kernel_divisor(divisor), y);
}

void avg_pool2d_backward(Queue& queue, const Tensor& dy, const Pool2dGeometry& geometry,
                         const AveragePoolDivisor& divisor, const Tensor& dx) {
  ENTER(avg_pool2d_backward, queue, dy, geometry, divisor, dx);
  constexpr const char* op = "avg_pool2d backward";
  require_average(op, geometry);
  require_like(op, "the gradient", dy, pool2d_output_shape(op, dx.shape, geometry), dx.dtype);
  backward(queue, op, dy, &geometry, kernel_divisor(divisor), dx);
}

void adaptive_avg_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y) {
  ENTER(adaptive_avg_pool2d_forward, queue, x, y);
  constexpr const char* op = "adaptive_avg_pool2d";
  require_adaptive_shapes(op, x, y);
  forward(queue, op, x, nullptr, {0, 0}, y);
}

void adaptive_avg_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& dx) {
  ENTER(adaptive_avg_pool2d_backward, queue, dy, dx);
  constexpr const char* op = "adaptive_avg_pool2d backward";
  require_adaptive_shapes(op, dx, dy);
  backward(queue, op, dy, nullptr, {0, 0}, dx);
}

}  // namespace dlprim
