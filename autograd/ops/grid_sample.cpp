#include "autograd/ops/grid_sample.h"

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/resample/grid_sample.h"

namespace ocl {
namespace {

using dlprim::GridGeometry;
using dlprim::GridInterpolation;
using dlprim::GridPadding;
using dlprim::require;

GridInterpolation interpolation_named(const std::string& mode) {
  if (mode == "bilinear") return GridInterpolation::linear;
  if (mode == "nearest") return GridInterpolation::nearest;
  require(mode == "bicubic", "grid_sample: expected mode to be bilinear, nearest or bicubic, got '", mode,
          "'");
  return GridInterpolation::cubic;
}

GridPadding padding_named(const std::string& mode) {
  if (mode == "zeros") return GridPadding::zeros;
  if (mode == "border") return GridPadding::border;
  require(mode == "reflection", "grid_sample: expected padding_mode to be zeros, border or reflection, got '",
          mode, "'");
  return GridPadding::reflection;
}

// The code below takes contiguous tensors. Sampling is linear in x, and `spread` is its transpose; its
// derivatives with respect to the grid are samplings by other weights (GridGeometry::order).

Tensor sampled(const Tensor& x, const Tensor& grid, const GridGeometry& geometry);
Tensor moved(const Tensor& dy, const Tensor& x, const Tensor& grid, const GridGeometry& geometry);

/** The gradient with respect to x, of that shape, of what was sampled. */
Tensor spread(const Tensor& dy, const Tensor& grid, const GridGeometry& geometry, const Dims& shape) {
  const dlprim::Tensor dx = dlprim::Tensor::empty(*dy.device(), shape, dy.dtype());
  dlprim::grid_sample_backward_input(dy.device()->queue(), dy.data(), grid.data(), geometry, dx);
  return record("GridSampleBackward", {dy, grid}, dx, [&] {
    return [dy = SavedTensor(dy), grid = SavedTensor(grid), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(2);
      if (gradient_is_wanted(0)) results[0] = sampled(g, grid.input(1), geometry);
      if (gradient_is_wanted(1)) results[1] = moved(dy.input(0), g, grid.input(1), geometry);
      return results;
    };
  });
}

/** The gradient with respect to the grid. */
Tensor moved(const Tensor& dy, const Tensor& x, const Tensor& grid, const GridGeometry& geometry) {
  const std::int64_t axes = grid.size(-1);
  if (grad_enabled() && geometry.interpolation != GridInterpolation::nearest) {
    TensorList along;  // from the last axis to the first, as coordinates stand
    for (std::int64_t i = 0; i < axes; ++i) {
      GridGeometry slope = geometry;
      ++slope.order[static_cast<std::size_t>(2 - i)];
      along.push_back(sum(mul(dy, sampled(x, grid, slope)), {1}));
    }
    return stack(along, -1);
  }
  const dlprim::Tensor dgrid = dlprim::Tensor::empty(*dy.device(), grid.shape(), dy.dtype());
  dlprim::grid_sample_backward_grid(dy.device()->queue(), dy.data(), x.data(), grid.data(), geometry, dgrid);
  return Tensor(dgrid);
}

Tensor sampled(const Tensor& x, const Tensor& grid, const GridGeometry& geometry) {
  const Dims shape = dlprim::grid_sample_output_shape("grid_sample", x.shape(), grid.shape(), geometry);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::grid_sample_forward(x.device()->queue(), x.data(), grid.data(), geometry, y);
  return record("GridSampleBackward", {x, grid}, y, [&] {
    return [x = SavedTensor(x), grid = SavedTensor(grid), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(2);
      if (gradient_is_wanted(0)) results[0] = spread(g, grid.input(1), geometry, x.unpack().shape);
      if (gradient_is_wanted(1)) results[1] = moved(g, x.input(0), grid.input(1), geometry);
      return results;
    };
  });
}

/** `steps` numbers from -1 to 1; without align_corners the centers of as many parts between. */
Tensor positions(std::int64_t steps, bool align_corners, DType dtype, const Device& device) {
  if (steps <= 1) return zeros({steps}, dtype, device);
  const double most = align_corners ? 1 : (static_cast<double>(steps) - 1) / static_cast<double>(steps);
  return linspace(-most, most, steps, dtype, device);
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const std::string& mode,
                   const std::string& padding_mode, std::optional<bool> align_corners) {
  ENTER_OPERATOR(grid_sample, x, grid, mode, padding_mode, align_corners);
  constexpr const char* op = "grid_sample";
  require<TypeError>(x.dtype() == grid.dtype(), op, ": expected input and grid of one dtype, got ",
                     name(x.dtype()), " and ", name(grid.dtype()));
  require(x.device() == grid.device(), op, ": expected input and grid on one device");
  const GridGeometry geometry{interpolation_named(mode), padding_named(padding_mode),
                              align_corners.value_or(false)};
  dlprim::grid_sample_output_shape(op, x.shape(), grid.shape(), geometry);
  return in_format(sampled(contiguous(x), contiguous(grid), geometry), format_of(x));
}

Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& size,
                   std::optional<bool> align_corners) {
  ENTER_OPERATOR(affine_grid, theta, size, align_corners);
  constexpr const char* op = "affine_grid";
  require<TypeError>(is_floating(theta.dtype()), op, ": expected a theta of a floating dtype, got ",
                     name(theta.dtype()));
  const std::size_t axes = size.size() < 2 ? 0 : size.size() - 2;
  require(axes == 2 || axes == 3, op, ": expected a size (N, C, H, W) or (N, C, D, H, W), got ", Dims(size));
  for (const std::int64_t n : size) require(n > 0, op, ": expected sizes greater than 0, got ", Dims(size));
  const auto rows = static_cast<std::int64_t>(axes);
  require(theta.shape() == Dims{size[0], rows, rows + 1}, op, ": expected a theta of shape ",
          Dims{size[0], rows, rows + 1}, " for size ", Dims(size), ", got ", theta.shape());
  const Tensor matrix = in_compute_dtype(theta);
  // [N, 1 …, axes] of each column of theta: the last says what is added, the others what one axis gives.
  const auto column = [&](std::size_t i) {
    std::vector<std::int64_t> shape(axes + 2, 1);
    shape.front() = size[0];
    shape.back() = rows;
    return reshape(select(matrix, 2, static_cast<std::int64_t>(i)), shape);
  };
  Tensor grid = column(axes);
  for (std::size_t i = axes; i-- > 0;) {  // from the outermost axis of the result to the last
    std::vector<std::int64_t> shape(axes + 2, 1);
    const std::size_t dim = axes - i;
    shape[dim] = size[dim + 1];
    const Tensor along =
        positions(size[dim + 1], align_corners.value_or(false), matrix.dtype(), theta.device());
    grid = add(grid, mul(column(i), reshape(along, shape)));
  }
  return to(grid, theta.dtype());
}

}  // namespace ocl
