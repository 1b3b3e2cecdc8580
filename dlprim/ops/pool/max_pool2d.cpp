#include "dlprim/ops/pool/max_pool2d.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pool/pool2d_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

void forward(Queue& queue, const char* op, const Tensor& x, const Pool2dGeometry* geometry, const Tensor& y,
             const Tensor* indices) {
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input", x);
  require_like(op, "indices", indices, y.shape, DType::int32);
  if (y.numel() == 0) return;
  queue.launch(pool_kernel(queue, "max_pool2d_forward", x.dtype), pool_range(queue, y), x, y,
               Optional{indices}, cl_long{pool_planes(y.shape)}, pool_window(op, x.shape, y.shape, geometry));
}

void backward(Queue& queue, const char* op, const Tensor& dy, const Tensor& indices,
              const Pool2dGeometry* geometry, const Tensor& dx) {
  require_floating(dx.dtype, queue.device(), op);
  require_contiguous(op, "dx", dx);
  require_like(op, "indices", indices, dy.shape, DType::int32);
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dx);
  const PoolWindow window = pool_window(op, dx.shape, dy.shape, geometry);
  const cl_long planes = pool_planes(dx.shape);
  const DeviceInfo& device = queue.device().info();
  constexpr int most_of_cell = 16;  // elements for one item
  if (!device.runs_cpu_kernels() && geometry && window.stride[0] <= most_of_cell / window.stride[1]) {
    std::int64_t cells = planes;
    for (const int axis : {0, 1})
      cells *= ceil_div(std::int64_t{window.size[axis]} + window.padding[axis], window.stride[axis]);
    return queue.launch(pool_kernel(queue, "max_pool2d_backward_cells", dx.dtype),
                        Range::linear(cells, work_group(device)), dy, indices, dx, planes, window);
  }
  queue.launch(pool_kernel(queue, "max_pool2d_backward", dx.dtype), pool_range(queue, dx), dy, indices, dx,
               planes, window);
}

}  // namespace

void max_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry, const Tensor& y,
                        const Tensor* indices) {
  ENTER(max_pool2d_forward, queue, x, geometry, y, indices);
  constexpr const char* op = "max_pool2d";
  require_like(op, "the result", y, pool2d_output_shape(op, x.shape, geometry), x.dtype);
  forward(queue, op, x, &geometry, y, indices);
}

void max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices,
                         const Pool2dGeometry& geometry, const Tensor& dx) {
  ENTER(max_pool2d_backward, queue, dy, indices, geometry, dx);
  constexpr const char* op = "max_pool2d backward";
  require_like(op, "the gradient", dy, pool2d_output_shape(op, dx.shape, geometry), dx.dtype);
  backward(queue, op, dy, indices, &geometry, dx);
}

void adaptive_max_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y, const Tensor* indices) {
  ENTER(adaptive_max_pool2d_forward, queue, x, y, indices);
  constexpr const char* op = "adaptive_max_pool2d";
  require_adaptive_shapes(op, x, y);
  forward(queue, op, x, nullptr, y, indices);
}

void adaptive_max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices, const Tensor& dx) {
  ENTER(adaptive_max_pool2d_backward, queue, dy, indices, dx);
  constexpr const char* op = "adaptive_max_pool2d backward";
  require_adaptive_shapes(op, dx, dy);
  backward(queue, op, dy, indices, nullptr, dx);
}

}  // namespace dlprim
