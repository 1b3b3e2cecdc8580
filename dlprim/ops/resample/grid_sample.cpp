#include "dlprim/ops/resample/grid_sample.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/resample/resample_launch.h"
#include "dlprim/ops/resample/resample_shared.h"
#include "dlprim/ops/sort/sort.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

int taps_of(GridInterpolation interpolation) {
  return interpolation == GridInterpolation::nearest ? 1 : interpolation == GridInterpolation::cubic ? 4 : 2;
}

/** The coordinates of a point of an input of this shape. */
int axes_of(const Dims& x) {
  return x.size() - 2;
}

Kernel& grid_kernel(Queue& queue, const char* name, const Tensor& x, const GridGeometry& g) {
  return queue.kernel(
      "ops/resample/grid_sample.cl", name,
      dtype_defines(x.dtype).set("AXES", axes_of(x.shape)).set("TAPS", taps_of(g.interpolation)));
}

/** How many blocks of points, which a work item takes at a time, a number of points makes. */
std::int64_t blocks_of(const Queue& queue, std::int64_t points) {
  return ceil_div(points, queue.device().info().runs_cpu_kernels() ? GRID_LANES : 1);
}

KernelGrid kernel_grid(const char* op, const Dims& x, const Dims& grid, const GridGeometry& g) {
  KernelGrid k{};
  kernel_int(product(Dims(x.begin() + 2, x.end())), op, "a number of elements of a plane or volume");
  k.channels = x[1];
  k.points = product(Dims(grid.begin() + 1, grid.end() - 1));
  const auto sizes = spatial_sizes(op, x, axes_of(x));
  for (std::size_t i = 0; i < 3; ++i) {
    k.size[i] = sizes[i];
    k.order[i] = g.order[i];
  }
  k.padding = g.padding == GridPadding::zeros    ? GRID_ZEROS
              : g.padding == GridPadding::border ? GRID_BORDER
                                                 : GRID_REFLECTION;
  k.align_corners = g.align_corners;
  return k;
}

void check(const char* op, const Queue& queue, const Tensor& x, const Tensor& grid, const GridGeometry& g,
           const Tensor& y) {
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input or its gradient", x);
  require_like(op, "the grid", grid, grid.shape, x.dtype);
  require_like(op, "the result or its gradient", y, grid_sample_output_shape(op, x.shape, grid.shape, g),
               x.dtype);
}

std::int64_t channel_groups(const Dims& x) {
  return ceil_div(x[1], GRID_CHANNELS);
}

/** How many elements a point reads at most. */
std::int64_t reads_of_point(const Dims& x, const GridGeometry& g) {
  std::int64_t reads = 1;
  for (int axis = 0; axis < axes_of(x); ++axis) reads *= taps_of(g.interpolation);
  return reads;
}

/** The elements that points read, a line of `per_point` for each; `none` fills lines up. */
struct Reads {
  Tensor keys, weights;
  int per_point, none;
};

Reads find_reads(Queue& queue, const char* op, const Tensor& grid, const GridGeometry& g, const KernelGrid& k,
                 const Tensor& dx) {
  const std::int64_t elements = dx.numel() / dx.shape[1];
  const int per_point =
      kernel_int(reads_of_point(dx.shape, g), op, "a number of elements that a point reads");
  const int count =
      kernel_int(dx.shape[0] * k.points * per_point, op, "a number of elements that all points read");
  const int none = kernel_int(elements, op, "a number of elements");
  Reads reads{queue.scratch({count}, DType::int32), queue.scratch({count}, compute_dtype(dx.dtype)),
              per_point, none};
  const cl_long parts = dx.shape[0] * blocks_of(queue, k.points);
  queue.launch(grid_kernel(queue, "find_reads", dx, g), share_range(queue, parts, GRID_LANES * per_point),
               grid, reads.keys, reads.weights, parts, none, k);
  return reads;
}

/** On CPUs: planes stay in the cache, and get their points one after another. */
void scatter(Queue& queue, const Tensor& dy, const Reads& reads, const GridGeometry& g, const KernelGrid& k,
             const Tensor& dx) {
  const bool is_exact = is_compute_dtype(dx.dtype);
  const Tensor sums = is_exact ? dx : queue.scratch(dx.shape);
  const cl_long planes = dx.shape[0] * dx.shape[1];
  queue.launch(grid_kernel(queue, "grid_sample_backward_input", dx, g),
               share_range(queue, planes, dx.numel() / planes + k.points * reads.per_point), dy, reads.keys,
               reads.weights, sums, planes, reads.none, k);
  if (!is_exact)
    queue.launch(grid_kernel(queue, "store_sums", dx, g), share_range(queue, dx.numel()), sums, dx,
                 cl_long{dx.numel()});
}

/** On GPUs: what points read is sorted by the element, so that an element finds its readers. */
void gather(Queue& queue, const Tensor& dy, const Reads& reads, const GridGeometry& g, const KernelGrid& k,
            const Tensor& dx) {
  const SortedKeys sorted = sort_keys(queue, reads.keys, std::int64_t{reads.none} + 1);
  const cl_long parts = reads.none * channel_groups(dx.shape);
  queue.launch(grid_kernel(queue, "grid_sample_backward_input", dx, g), share_range(queue, parts), dy,
               sorted.keys, sorted.order, reads.weights, dx, parts, static_cast<int>(reads.keys.numel()), k);
}

}  // namespace

Dims grid_sample_output_shape(const char* op, const Dims& x, const Dims& grid, const GridGeometry& geometry) {
  const int axes = axes_of(x);
  require(axes == 2 || axes == 3, op, ": expected an input [N, C, H, W] or [N, C, D, H, W], got shape ", x);
  require(grid.size() == x.size() && grid[0] == x[0] && grid.back() == axes, op, ": expected a grid ",
          axes == 2 ? "[N, OH, OW, 2]" : "[N, OD, OH, OW, 3]", " for an input of shape ", x, ", got shape ",
          grid);
  for (int i = 2; i < x.size(); ++i)
    require(x[i] > 0, op, ": expected an input with elements along its axes, got shape ", x);
  require(axes == 2 || geometry.interpolation != GridInterpolation::cubic, op,
          ": bicubic interpolation only supports an input [N, C, H, W], got shape ", x);
  for (const int order : geometry.order)
    require(order >= 0, op, ": expected derivatives of an order that is not negative, got ", order);
  Dims y{x[0], x[1]};
  for (int i = 1; i <= axes; ++i) y.push_back(grid[i]);
  return y;
}

void grid_sample_forward(Queue& queue, const Tensor& x, const Tensor& grid, const GridGeometry& geometry,
                         const Tensor& y) {
  ENTER(grid_sample_forward, queue, x, grid, geometry, y);
  constexpr const char* op = "grid_sample";
  check(op, queue, x, grid, geometry, y);
  if (y.numel() == 0) return;
  const KernelGrid k = kernel_grid(op, x.shape, grid.shape, geometry);
  const cl_long parts = x.shape[0] * channel_groups(x.shape) * blocks_of(queue, k.points);
  queue.launch(grid_kernel(queue, "grid_sample", x, geometry),
               share_range(queue, parts, GRID_LANES * GRID_CHANNELS * reads_of_point(x.shape, geometry)), x,
               grid, y, parts, k);
}

void grid_sample_backward_input(Queue& queue, const Tensor& dy, const Tensor& grid,
                                const GridGeometry& geometry, const Tensor& dx) {
  ENTER(grid_sample_backward_input, queue, dy, grid, geometry, dx);
  constexpr const char* op = "grid_sample backward";
  check(op, queue, dx, grid, geometry, dy);
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return queue.zero(dx);
  const KernelGrid k = kernel_grid(op, dx.shape, grid.shape, geometry);
  const Reads reads = find_reads(queue, op, grid, geometry, k, dx);
  if (queue.device().info().runs_cpu_kernels())
    scatter(queue, dy, reads, geometry, k, dx);
  else
    gather(queue, dy, reads, geometry, k, dx);
}

void grid_sample_backward_grid(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& grid,
                               const GridGeometry& geometry, const Tensor& dgrid) {
  ENTER(grid_sample_backward_grid, queue, dy, x, grid, geometry, dgrid);
  constexpr const char* op = "grid_sample backward";
  check(op, queue, x, grid, geometry, dy);
  require_like(op, "the gradient of the grid", dgrid, grid.shape, x.dtype);
  if (dgrid.numel() == 0) return;
  if (dy.numel() == 0 || geometry.interpolation == GridInterpolation::nearest) return queue.zero(dgrid);
  const KernelGrid k = kernel_grid(op, x.shape, grid.shape, geometry);
  const cl_long parts = x.shape[0] * blocks_of(queue, k.points);
  queue.launch(grid_kernel(queue, "grid_sample_backward_grid", x, geometry),
               share_range(queue, parts,
                           GRID_LANES * x.shape[1] * axes_of(x.shape) * reads_of_point(x.shape, geometry)),
               dy, x, grid, dgrid, parts, k);
}

}  // namespace dlprim
