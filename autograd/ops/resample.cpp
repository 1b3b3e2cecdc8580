#include "autograd/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/unfold.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::product;
using dlprim::require;
using Sizes = std::vector<std::int64_t>;

struct InterpolationMode {
  const char* name;
  int axes;  // 0: as many as there are
  dlprim::Interpolation interpolation;
};

const InterpolationMode& mode_of(const std::string& name, int axes) {
  using dlprim::Interpolation;
  static constexpr InterpolationMode modes[] = {
      {"nearest", 0, Interpolation::nearest},  {"nearest-exact", 0, Interpolation::nearest_exact},
      {"linear", 1, Interpolation::linear},    {"bilinear", 2, Interpolation::linear},
      {"trilinear", 3, Interpolation::linear},
  };
  for (const InterpolationMode& mode : modes) {
    if (name != mode.name) continue;
    require(mode.axes == 0 || mode.axes == axes, "interpolate: mode ", name, " needs an input of ",
            mode.axes + 2, " dimensions, got ", axes + 2);
    return mode;
  }
  throw ValueError("interpolate: unknown mode '" + name +
                   "'; expected nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area");
}

Sizes target_size(const Tensor& x, const Sizes& size, const std::vector<double>& scale_factor) {
  const int axes = x.dim() - 2;
  require(size.empty() != scale_factor.empty(),
          "interpolate: expected either size or scale_factor, and not both");
  require(static_cast<int>(size.size() + scale_factor.size()) == axes, "interpolate: input of shape ",
          x.shape(), " has ", axes, " spatial dimensions, but ", size.size() + scale_factor.size(),
          " sizes or scale factors were given");
  if (!size.empty()) return size;
  Sizes result;
  for (int axis = 0; axis < axes; ++axis) {
    const double factor = scale_factor[static_cast<std::size_t>(axis)];
    const double scaled = std::floor(static_cast<double>(x.size(axis + 2)) * factor);
    require(std::abs(scaled) < std::exp2(62), "interpolate: a scale factor of ", factor,
            " for input of shape ", x.shape(), " gives no size");
    result.push_back(static_cast<std::int64_t>(scaled));
  }
  return result;
}

Tensor area(const Tensor& x, const Sizes& size) {
  if (size.size() == 1) return adaptive_avg_pool1d(x, size[0]);
  if (size.size() == 2) return adaptive_avg_pool2d(x, {size[0], size[1]});
  return adaptive_avg_pool3d(x, {size[0], size[1], size[2]});
}

// Keys' piecewise cubic of parameter `a`, and the triangle: what a tap at a distance counts.
double cubic_weight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double triangle_weight(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}

/** How one dimension is brought to another size. */
struct AxisResize {
  std::int64_t size, out;
  double scale;  // input elements an output element
  bool align_corners, cubic;

  double position(std::int64_t i) const {
    const auto place = static_cast<double>(i);
    return align_corners ? scale * place : scale * (place + 0.5) - 0.5;
  }
};

/** The matrix [out, size] of bicubic interpolation: four taps a row, those beyond the border at the border.
 */
std::vector<double> cubic_matrix(const AxisResize& axis) {
  constexpr double a = -0.75;  // PyTorch's
  std::vector<double> matrix(static_cast<std::size_t>(axis.out * axis.size), 0.0);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const double position = axis.position(i), first = std::floor(position) - 1;
    for (int tap = 0; tap < 4; ++tap) {
      const auto place = std::clamp<std::int64_t>(static_cast<std::int64_t>(first) + tap, 0, axis.size - 1);
      matrix[static_cast<std::size_t>(i * axis.size + place)] +=
          cubic_weight(position - first - static_cast<double>(tap), a);
    }
  }
  return matrix;
}

/** The matrix [out, size] of resampling with a filter as wide as an output element where that is wider than
 * one of the input: Pillow's, and PyTorch's with antialias. */
std::vector<double> antialiased_matrix(const AxisResize& axis) {
  constexpr double a = -0.5;  // PyTorch's with antialias
  const double width = std::max(axis.scale, 1.0), support = (axis.cubic ? 2 : 1) * width;
  std::vector<double> matrix(static_cast<std::size_t>(axis.out * axis.size), 0.0);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const double center = axis.scale * (static_cast<double>(i) + 0.5);
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
    const auto end = std::min(static_cast<std::int64_t>(center + support + 0.5), axis.size);
    double* row = matrix.data() + i * axis.size;
    double total = 0;
    for (std::int64_t j = first; j < end; ++j) {
      const double distance = (static_cast<double>(j) - center + 0.5) / width;
      row[j] = axis.cubic ? cubic_weight(distance, a) : triangle_weight(distance);
      total += row[j];
    }
    for (std::int64_t j = first; j < end && total != 0; ++j) row[j] /= total;
  }
  return matrix;
}

/** Pictures [N, C, H, W] resized by a matrix a dimension, or by its transpose: the gradient. */
Tensor by_matrices(const Tensor& x, const AxisResize& rows, const AxisResize& columns, bool antialias,
                   bool transposes) {
  const DType compute = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const auto matrix_of = [&](const AxisResize& axis) {
    const std::vector<double> entries = antialias ? antialiased_matrix(axis) : cubic_matrix(axis);
    const Sizes shape{axis.out, axis.size};
    const Tensor matrix =
        compute == DType::float64
            ? tensor(entries, shape, *x.device())
            : tensor(std::vector<float>(entries.begin(), entries.end()), shape, *x.device());
    return transposes ? transpose(matrix, 0, 1) : matrix;
  };
  const Tensor wide = matmul(to(x, compute), transpose(matrix_of(columns), 0, 1));
  return in_format(to(matmul(matrix_of(rows), wide), x.dtype()), format_of(x));
}

/** The linear operator of `kernel`, whose results have `shape`, and `transpose` of the same form as its
 * gradient. */
template <class Kernel, class Transpose>
Tensor linear_map(const char* name, const Tensor& x, const Dims& shape, Kernel kernel, Transpose transpose) {
  return apply_linear(name, contiguous(x), on_contiguous(shape, kernel), on_contiguous(x.shape(), transpose));
}

std::int64_t product_before(const Tensor& x, int dims) {
  return product(Dims(x.shape().begin(), x.shape().end() - dims));
}

Sizes with_last(const Tensor& x, int dims, std::initializer_list<std::int64_t> last) {
  Sizes shape(x.shape().begin(), x.shape().end() - dims);
  shape.insert(shape.end(), last);
  return shape;
}

}  // namespace

Tensor interpolated(const Tensor& x, const Sizes& size, const dlprim::InterpolationGeometry& geometry) {
  require(x.dim() == geometry.axes + 2 && static_cast<int>(size.size()) == geometry.axes,
          "interpolate: expected an input of ", geometry.axes + 2, " dimensions and ", geometry.axes,
          " sizes, got shape ", x.shape(), " and sizes ", Dims(size));
  Dims shape{x.shape()[0], x.shape()[1]};
  for (int i = 0; i < geometry.axes; ++i) {
    shape.push_back(size[static_cast<std::size_t>(i)]);
    require(shape[i + 2] > 0 && x.shape()[i + 2] > 0,
            "interpolate: input and output sizes should be greater than 0, but got input ", x.shape(),
            " and output ", Dims(size));
  }
  const Tensor result = linear_map(
      "InterpolateBackward", x, shape,
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& from, const dlprim::Tensor& to) {
        dlprim::interpolate_forward(queue, from, geometry, to);
      },
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::interpolate_backward(queue, dy, geometry, dx);
      });
  return in_format(result, format_of(x));
}

Tensor filtered(const Tensor& x, const Sizes& size, const std::array<std::optional<double>, 2>& scale_factors,
                bool align_corners, bool cubic, bool antialias) {
  constexpr const char* op = "interpolate";
  require(x.dim() == 4 && size.size() == 2, op, ": mode ", cubic ? "bicubic" : "bilinear",
          " needs an input of 4 dimensions and 2 sizes, got ", x.dim(), " and ", size.size());
  dlprim::require_floating(x.dtype(), *x.device(), op);
  const auto axis_of = [&](std::size_t axis) {
    const std::int64_t in = x.size(static_cast<int>(axis) + 2), out = size[axis];
    require(in > 0 && out > 0, op, ": input and output sizes should be greater than 0, but got input ",
            x.shape(), " and output ", Dims(size));
    double scale = static_cast<double>(in) / static_cast<double>(out);
    if (align_corners)
      scale = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    else if (scale_factors[axis])
      scale = 1 / *scale_factors[axis];
    return AxisResize{in, out, scale, align_corners, cubic};
  };
  const auto resized = [rows = axis_of(0), columns = axis_of(1), antialias](const Tensor& given,
                                                                            bool transposes) {
    return by_matrices(given, rows, columns, antialias, transposes);
  };
  return apply_linear(
      "FilterBackward", x, [resized](const Tensor& of) { return resized(of, false); },
      [resized](const Tensor& g) { return resized(g, true); });
}

Tensor interpolate(const Tensor& x, const Sizes& size, const std::vector<double>& scale_factor,
                   const std::string& mode, std::optional<bool> align_corners,
                   std::optional<bool> recompute_scale_factor, bool antialias) {
  if (mode != "area") {
    INTERCEPT_OPERATOR("interpolate", rows::interpolate, interpolate(rewritten...), x, size, scale_factor,
                       mode, align_corners, recompute_scale_factor, antialias);
  }
  ANNOUNCE_ROW("interpolate", interpolate, x, size, scale_factor, mode, align_corners, recompute_scale_factor,
               antialias);
  constexpr const char* op = "interpolate";
  require(x.dim() >= 3 && x.dim() <= 5, op,
          ": expected an input [N, C, ...] with one to three spatial dimensions, got shape ", x.shape());
  const Sizes target = target_size(x, size, scale_factor);
  const bool recomputes = recompute_scale_factor.value_or(false);
  require(!recomputes || size.empty(), op,
          ": recompute_scale_factor is not meaningful with an explicit size");
  const bool linear = mode == "linear" || mode == "bilinear" || mode == "trilinear";
  const bool cubic = mode == "bicubic";
  require(!align_corners || linear || cubic, op,
          ": align_corners can only be set with the modes linear, bilinear, bicubic and trilinear, got ",
          mode);
  require(!antialias || ((cubic || mode == "bilinear") && x.dim() == 4), op,
          ": antialias is for the modes bilinear and bicubic and an input of 4 dimensions, got mode ", mode,
          " and shape ", x.shape());
  if (mode == "area") return area(x, target);
  if (cubic || antialias) {
    std::array<std::optional<double>, 2> factors;
    for (std::size_t i = 0; i < scale_factor.size() && !recomputes; ++i) factors[i % 2] = scale_factor[i];
    return filtered(x, target, factors, align_corners.value_or(false), cubic, antialias);
  }
  dlprim::InterpolationGeometry geometry;
  geometry.axes = x.dim() - 2;
  geometry.mode = mode_of(mode, geometry.axes).interpolation;
  geometry.align_corners = align_corners.value_or(false);
  if (!recomputes)
    for (std::size_t i = 0; i < scale_factor.size(); ++i)
      geometry.scale_factors[3 - target.size() + i] = scale_factor[i];
  return interpolated(x, target, geometry);
}

Tensor unfold(const Tensor& x, Pair kernel_size, Pair dilation, Pair padding, Pair stride) {
  ENTER_OPERATOR(unfold, x, kernel_size, dilation, padding, stride);
  if (x.dtype() == DType::boolean)
    return to(unfold(to(x, DType::float32), kernel_size, dilation, padding, stride), DType::boolean);
  if (x.is_complex())
    return complex(unfold(real(x), kernel_size, dilation, padding, stride),
                   unfold(imag(x), kernel_size, dilation, padding, stride));
  const dlprim::BlockGeometry geometry{kernel_size.values, dilation.values, padding.values, stride.values};
  const Dims shape = dlprim::unfold_output_shape("unfold", x.shape(), geometry);
  return linear_map(
      "UnfoldBackward", x, shape,
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& from, const dlprim::Tensor& to) {
        dlprim::unfold(queue, from, geometry, to);
      },
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::fold(queue, dy, geometry, dx);
      });
}

Tensor fold(const Tensor& x, Pair output_size, Pair kernel_size, Pair dilation, Pair padding, Pair stride) {
  ENTER_OPERATOR(fold, x, output_size, kernel_size, dilation, padding, stride);
  if (x.dtype() == DType::boolean)
    return to(fold(to(x, DType::float32), output_size, kernel_size, dilation, padding, stride),
              DType::boolean);
  if (x.is_complex())
    return complex(fold(real(x), output_size, kernel_size, dilation, padding, stride),
                   fold(imag(x), output_size, kernel_size, dilation, padding, stride));
  const dlprim::BlockGeometry geometry{kernel_size.values, dilation.values, padding.values, stride.values};
  const Dims shape = dlprim::fold_output_shape("fold", x.shape(), output_size.values, geometry);
  return linear_map(
      "FoldBackward", x, shape,
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& from, const dlprim::Tensor& to) {
        dlprim::fold(queue, from, geometry, to);
      },
      [geometry](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::unfold(queue, dy, geometry, dx);
      });
}

Tensor pixel_shuffle(const Tensor& x, std::int64_t r) {
  ENTER_OPERATOR(pixel_shuffle, x, r);
  require(x.dim() >= 3, "pixel_shuffle: expected an input of at least 3 dimensions, got shape ", x.shape());
  require(r > 0, "pixel_shuffle: expected a positive upscale_factor, got ", r);
  const std::int64_t area = product({r, r}), channels = x.size(-3) / area, h = x.size(-2), w = x.size(-1);
  require(x.size(-3) == channels * area,
          "pixel_shuffle: expected the channels to be divisible by the square of upscale_factor ", r,
          ", got shape ", x.shape());
  const Tensor parts = reshape(x, {product_before(x, 3), channels, r, r, h, w});
  return reshape(permute(parts, {0, 1, 4, 2, 5, 3}),
                 with_last(x, 3, {channels, product({h, r}), product({w, r})}));
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t r) {
  ENTER_OPERATOR(pixel_unshuffle, x, r);
  require(x.dim() >= 3, "pixel_unshuffle: expected an input of at least 3 dimensions, got shape ", x.shape());
  require(r > 0, "pixel_unshuffle: expected a positive downscale_factor, got ", r);
  const std::int64_t channels = x.size(-3), h = x.size(-2) / r, w = x.size(-1) / r;
  require(x.size(-2) == h * r && x.size(-1) == w * r,
          "pixel_unshuffle: expected height and width to be divisible by downscale_factor ", r,
          ", got shape ", x.shape());
  const Tensor parts = reshape(x, {product_before(x, 3), channels, h, r, w, r});
  return reshape(permute(parts, {0, 1, 3, 5, 2, 4}), with_last(x, 3, {product({channels, r, r}), h, w}));
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups) {
  ENTER_OPERATOR(channel_shuffle, x, groups);
  require(x.dim() > 2, "channel_shuffle: expected an input of more than 2 dimensions, got shape ", x.shape());
  require(groups > 0 && x.size(1) % groups == 0, "channel_shuffle: expected the channels of input ",
          x.shape(), " to be divisible by groups ", groups);
  const std::int64_t rest = product(Dims(x.shape().begin() + 2, x.shape().end()));
  const Tensor parts = reshape(x, {x.size(0), groups, x.size(1) / groups, rest});
  return reshape(transpose(parts, 1, 2), x.shape().vector());
}

}  // namespace ocl
