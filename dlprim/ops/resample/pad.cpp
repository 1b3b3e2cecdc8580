#include "dlprim/ops/resample/pad.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/resample/resample_launch.h"
#include "dlprim/ops/resample/resample_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

void launch(Queue& queue, const char* op, const char* kernel, const Tensor& source, const Tensor& result,
            const Dims& x, const Dims& y, const PadGeometry& g) {
  require_floating(result.dtype, queue.device(), op);
  if (result.numel() == 0) return;
  const auto size = spatial_sizes(op, x, g.axes), out = spatial_sizes(op, y, g.axes);
  KernelPadding p{};
  for (std::size_t i = 0; i < 3; ++i) {
    p.size[i] = size[i];
    p.out[i] = out[i];
    p.before[i] = std::max(g.before[i], -size[i]);  // to cut more than all shows the same
  }
  p.reflect = g.mode == PadMode::reflect;
  const std::int64_t columns = result.size(-1), rows = result.numel() / columns;
  queue.launch(resample_kernel(queue, kernel, result.dtype), rows_range(queue, rows, columns), source, result,
               cl_long{rows}, p);
}

/** The rest of dimension `d` where margins cut. */
std::int64_t kept_size(const Dims& x, const PadMargins& margins, int d) {
  return x[d] + std::min<std::int64_t>(margins.before[d], 0) + std::min<std::int64_t>(margins.after[d], 0);
}

}  // namespace

Dims pad_output_shape(const char* op, const Dims& x, const PadGeometry& g) {
  require(g.axes >= 1 && g.axes <= 3 && x.size() >= g.axes, op, ": cannot pad ", g.axes,
          " dimensions of an input of shape ", x);
  Dims y = x;
  for (int axis = 3 - g.axes; axis < 3; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const int dim = x.size() - 3 + axis;
    require(x[dim] > 0, op, ": expected an input with a size other than 0 in dimension ", dim, ", got ", x);
    require(g.mode == PadMode::replicate || (g.before[i] < x[dim] && g.after[i] < x[dim]), op,
            ": padding size should be less than the corresponding input dimension, but got: padding (",
            g.before[i], ", ", g.after[i], ") at dimension ", dim, " of input ", x);
    y[dim] += std::int64_t{g.before[i]} + g.after[i];
    require(y[dim] > 0, op, ": input of shape ", x, " is too small for padding (", g.before[i], ", ",
            g.after[i], ") at dimension ", dim);
  }
  return y;
}

void pad_forward(Queue& queue, const Tensor& x, const PadGeometry& geometry, const Tensor& y) {
  ENTER(pad_forward, queue, x, geometry, y);
  require_contiguous("pad", "the input", x);
  require_like("pad", "the result", y, pad_output_shape("pad", x.shape, geometry), x.dtype);
  launch(queue, "pad", "pad", x, y, x.shape, y.shape, geometry);
}

void pad_backward(Queue& queue, const Tensor& dy, const PadGeometry& geometry, const Tensor& dx) {
  ENTER(pad_backward, queue, dy, geometry, dx);
  constexpr const char* op = "pad backward";
  require_like(op, "the gradient", dy, pad_output_shape(op, dx.shape, geometry), dx.dtype);
  require_contiguous(op, "dx", dx);
  launch(queue, op, "pad_backward", dy, dx, dx.shape, dy.shape, geometry);
}

Dims pad_constant_output_shape(const char* op, const Dims& x, const PadMargins& m) {
  require(m.before.size() == x.size() && m.after.size() == x.size(), op, ": expected margins of ", x.size(),
          " dimensions, got ", m.before.size(), " and ", m.after.size());
  Dims y = x;
  for (int d = 0; d < x.size(); ++d) {
    require(m.before[d] >= -x[d] && m.after[d] >= -x[d] && kept_size(x, m, d) >= 0, op, ": padding (",
            m.before[d], ", ", m.after[d], ") cuts more than dimension ", d, " of input ", x, " has");
    require(try_add(kept_size(x, m, d), std::max<std::int64_t>(m.before[d], 0), y[d]) &&
                try_add(y[d], std::max<std::int64_t>(m.after[d], 0), y[d]),
            op, ": padding (", m.before[d], ", ", m.after[d], ") makes dimension ", d, " of input ", x,
            " larger than 64 bits count");
  }
  return y;
}

void pad_constant(Queue& queue, const Tensor& x, const PadMargins& margins, const Scalar& value,
                  const Tensor& y) {
  ENTER(pad_constant, queue, x, margins, value, y);
  const Dims shape = pad_constant_output_shape("pad", x.shape, margins);
  require(y.shape == shape, "pad: expected a result of shape ", shape, ", got ", y.shape);
  require<TypeError>(y.dtype == x.dtype, "pad: expected a result of dtype ", name(x.dtype), ", got ",
                     name(y.dtype));
  require_holds("pad", y.dtype, value);
  Tensor kept = x, inner = y;
  for (int d = 0; d < x.rank(); ++d) {
    kept.shape[d] = inner.shape[d] = kept_size(x.shape, margins, d);
    kept.offset += std::max<std::int64_t>(-margins.before[d], 0) * x.strides[d];
    inner.offset += std::max<std::int64_t>(margins.before[d], 0) * y.strides[d];
  }
  if (inner.shape != y.shape) fill(queue, y, value);
  if (kept.numel() > 0) copy(queue, kept, inner);
}

}  // namespace dlprim
