#include "dlprim/ops/resample/pad.h"
#include "autograd/ops/call.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

using dlprim::require;

/** What is added on either side of a dimension. */
struct Margin {
  std::int64_t before = 0, after = 0;
};

/** A margin a dimension, in the tensor's order. */
std::vector<Margin> margins_of(const Tensor& x, const std::vector<std::int64_t>& pad) {
  const auto rank = static_cast<std::size_t>(x.dim());
  require(pad.size() % 2 == 0 && pad.size() <= 2 * rank,
          "pad: expected two numbers for each padded dimension, got ", pad.size(),
          " numbers for an input of shape ", x.shape());
  std::vector<Margin> margins(rank);
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    margins[rank - 1 - i] = {pad[2 * i], pad[2 * i + 1]};
    for (const std::int64_t n : {pad[2 * i], pad[2 * i + 1]})
      require(n >= -INT32_MAX && n <= INT32_MAX, "pad: a padding of ", n, " is too large");
  }
  return margins;
}

/** Without the elements that negative margins cut. */
Tensor cut(Tensor x, const std::vector<Margin>& margins) {
  for (int d = 0; d < x.dim(); ++d) {
    const Margin& m = margins[static_cast<std::size_t>(d)];
    const std::int64_t start = std::max<std::int64_t>(-m.before, 0);
    const std::int64_t end = x.size(d) - std::max<std::int64_t>(-m.after, 0);
    require(start <= end, "pad: padding (", m.before, ", ", m.after, ") cuts more than dimension ", d,
            " of input ", x.shape(), " has");
    if (end - start != x.size(d)) x = slice(x, d, start, end);
  }
  return x;
}

Tensor pad_constant(const Tensor& x, const std::vector<Margin>& margins, const Scalar& value) {
  const Tensor kept = cut(x.detach(), margins);
  Dims shape = x.shape();
  for (int d = 0; d < x.dim(); ++d) {
    const Margin& m = margins[static_cast<std::size_t>(d)];
    shape[d] += m.before + m.after;
  }
  const dlprim::Tensor y =
      dlprim::Tensor::empty_strided(*x.device(), shape, dlprim::strides_of(format_of(x), shape), x.dtype());
  dlprim::Tensor inner = y;
  inner.shape = kept.shape();
  for (int d = 0; d < x.dim(); ++d)
    inner.offset += std::max<std::int64_t>(margins[static_cast<std::size_t>(d)].before, 0) * y.strides[d];
  dlprim::fill(x.device()->queue(), y, value);
  dlprim::copy(x.device()->queue(), kept.data(), inner);
  return record("ConstantPadNdBackward", {x}, y, [&] {
    std::vector<Margin> undone;
    for (const Margin& m : margins) undone.push_back({-m.before, -m.after});
    return [undone](const TensorList& g) { return TensorList{pad_constant(g[0], undone, 0)}; };
  });
}

Tensor pad_circular(const Tensor& x, const std::vector<Margin>& margins) {
  Tensor y = cut(x, margins);
  for (int d = 0; d < x.dim(); ++d) {
    const std::int64_t size = y.size(d);
    const std::int64_t before = std::max<std::int64_t>(margins[static_cast<std::size_t>(d)].before, 0);
    const std::int64_t after = std::max<std::int64_t>(margins[static_cast<std::size_t>(d)].after, 0);
    require(before <= size && after <= size, "pad: circular padding (", before, ", ", after,
            ") goes more than once around dimension ", d, " of input ", x.shape());
    if (before || after) y = cat({narrow(y, d, size - before, before), y, narrow(y, d, 0, after)}, d);
  }
  return y;
}

Tensor pad_border(const Tensor& x, const std::vector<Margin>& margins, int axes, dlprim::PadMode mode) {
  dlprim::PadGeometry geometry;
  geometry.mode = mode;
  geometry.axes = axes;
  for (int axis = 0; axis < axes; ++axis) {
    const Margin& m = margins[static_cast<std::size_t>(x.dim() - axes + axis)];
    geometry.before[static_cast<std::size_t>(3 - axes + axis)] = static_cast<int>(m.before);
    geometry.after[static_cast<std::size_t>(3 - axes + axis)] = static_cast<int>(m.after);
  }
  const Tensor input = contiguous(x);
  const dlprim::Tensor y =
      dlprim::Tensor::empty(*x.device(), dlprim::pad_output_shape("pad", x.shape(), geometry), x.dtype());
  dlprim::pad_forward(x.device()->queue(), input.data(), geometry, y);
  const Tensor result = record("PadBackward", {input}, y, [&] {
    return [geometry, shape = x.shape()](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), shape, g.dtype());
      dlprim::pad_backward(g.device()->queue(), g.data(), geometry, dx);
      return TensorList{Tensor(dx)};
    };
  });
  return in_format(result, format_of(x));
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<std::int64_t>& pad, const std::string& mode,
           const std::optional<Scalar>& value) {
  ENTER_OPERATOR(pad, x, pad, mode, value);
  const std::vector<Margin> margins = margins_of(x, pad);
  if (mode == "constant") return pad_constant(x, margins, value.value_or(0));
  require(mode == "reflect" || mode == "replicate" || mode == "circular", "pad: unknown mode '", mode,
          "'; expected constant, reflect, replicate or circular");
  require(!value, "pad: mode ", mode, " takes no value");
  const int axes = static_cast<int>(pad.size() / 2);
  require(
      axes >= 1 && axes <= 3 && (x.dim() == axes + 1 || x.dim() == axes + 2), "pad: mode ", mode,
      " pads the last dimension of a 2D or 3D input, the last two of a 3D or 4D, or the last three of a 4D "
      "or 5D one; got ",
      pad.size(), " numbers and an input of shape ", x.shape());
  if (mode == "circular") return pad_circular(x, margins);
  return pad_border(x, margins, axes,
                    mode == "reflect" ? dlprim::PadMode::reflect : dlprim::PadMode::replicate);
}

}  // namespace ocl
