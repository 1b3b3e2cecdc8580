#include "autograd/ops/pad.h"

#include <algorithm>

#include "autograd/ops/call.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/views.h"
#include "dlprim/ops/resample/pad.h"

namespace ocl {
namespace {

using dlprim::PadMargins;
using dlprim::require;

/** Numbers for the last dimension before those of the one before it, as margins of all dimensions. */
PadMargins margins_of(const Tensor& x, const std::vector<std::int64_t>& pad) {
  const int rank = x.dim();
  require(pad.size() % 2 == 0 && pad.size() <= 2 * static_cast<std::size_t>(rank),
          "pad: expected two numbers for each padded dimension, got ", pad.size(),
          " numbers for an input of shape ", x.shape());
  PadMargins margins{Dims::filled(rank, 0), Dims::filled(rank, 0)};
  for (std::size_t i = 0; i < pad.size(); ++i) {
    require(pad[i] >= -INT32_MAX && pad[i] <= INT32_MAX, "pad: a padding of ", pad[i], " is too large");
    (i % 2 == 0 ? margins.before : margins.after)[rank - 1 - static_cast<int>(i / 2)] = pad[i];
  }
  return margins;
}

Dims negative(Dims numbers) {
  for (std::int64_t& number : numbers) number = -number;
  return numbers;
}

Tensor pad_constant(const Tensor& x, const PadMargins& margins, const Scalar& value) {
  const Dims shape = dlprim::pad_constant_output_shape("pad", x.shape(), margins);
  const dlprim::Tensor y =
      dlprim::Tensor::empty_strided(*x.device(), shape, dlprim::strides_of(format_of(x), shape), x.dtype());
  dlprim::pad_constant(x.device()->queue(), x.data(), margins, value, y);
  return record("ConstantPadNdBackward", {x}, y, [&] {
    return [undone = PadMargins{negative(margins.before), negative(margins.after)}](const TensorList& g) {
      return TensorList{pad_constant(g[0], undone, 0)};
    };
  });
}

/** Without the elements that negative margins cut. */
Tensor cut(const Tensor& x, const PadMargins& margins) {
  PadMargins cuts = margins;
  for (Dims* side : {&cuts.before, &cuts.after})
    for (std::int64_t& number : *side) number = std::min<std::int64_t>(number, 0);
  const Dims kept = dlprim::pad_constant_output_shape("pad", x.shape(), cuts);
  Tensor result = x;
  for (int d = 0; d < x.dim(); ++d)
    if (kept[d] != x.shape()[d]) result = narrow(result, d, -cuts.before[d], kept[d]);
  return result;
}

Tensor pad_circular(const Tensor& x, const PadMargins& margins) {
  Tensor y = cut(x, margins);
  for (int d = 0; d < x.dim(); ++d) {
    const std::int64_t size = y.size(d);
    const std::int64_t before = std::max<std::int64_t>(margins.before[d], 0);
    const std::int64_t after = std::max<std::int64_t>(margins.after[d], 0);
    require(before <= size && after <= size, "pad: circular padding (", before, ", ", after,
            ") goes more than once around dimension ", d, " of input ", x.shape());
    if (before || after) y = cat({narrow(y, d, size - before, before), y, narrow(y, d, 0, after)}, d);
  }
  return y;
}

Tensor pad_border(const Tensor& x, const PadMargins& margins, int axes, dlprim::PadMode mode) {
  dlprim::PadGeometry geometry;
  geometry.mode = mode;
  geometry.axes = axes;
  for (int axis = 0; axis < axes; ++axis) {
    const int d = x.dim() - axes + axis;
    geometry.before[static_cast<std::size_t>(3 - axes + axis)] = static_cast<int>(margins.before[d]);
    geometry.after[static_cast<std::size_t>(3 - axes + axis)] = static_cast<int>(margins.after[d]);
  }
  const Dims shape = dlprim::pad_output_shape("pad", x.shape(), geometry);
  using Raw = const dlprim::Tensor&;
  const auto forward = [geometry](dlprim::Queue& queue, Raw from, Raw to) {
    dlprim::pad_forward(queue, from, geometry, to);
  };
  const auto backward = [geometry](dlprim::Queue& queue, Raw dy, Raw dx) {
    dlprim::pad_backward(queue, dy, geometry, dx);
  };
  return in_format(apply_linear("PadBackward", contiguous(x), on_contiguous(shape, forward),
                                on_contiguous(x.shape(), backward)),
                   format_of(x));
}

/** pad_border of integers and truths, which it takes from their places along each dimension. */
Tensor pad_border_by_places(const Tensor& x, const PadMargins& margins, bool reflects) {
  Tensor y = x;
  for (int d = 0; d < x.dim(); ++d) {
    const std::int64_t before = margins.before[d], after = margins.after[d], last = x.size(d) - 1;
    if (!before && !after) continue;
    require(last + 1 + before + after > 0 && last >= 0, "pad: input ", x.shape(), " padded by (", before,
            ", ", after, ") along dimension ", d, " has no elements");
    require(!reflects || std::max(before, after) <= last, "pad: reflect padding (", before, ", ", after,
            ") must be less than dimension ", d, " of input ", x.shape());
    const Tensor place = arange(-before, last + 1 + after, 1, DType::int64, *x.device());
    y = index_select(y, d, reflects ? last - abs(last - abs(place)) : clamp_max(clamp_min(place, 0), last));
  }
  return y;
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<std::int64_t>& pad, const std::string& mode,
           const std::optional<Scalar>& value) {
  ENTER_OPERATOR(pad, x, pad, mode, value);
  const PadMargins margins = margins_of(x, pad);
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
  if (!is_floating(x.dtype())) return pad_border_by_places(x, margins, mode == "reflect");
  return pad_border(x, margins, axes,
                    mode == "reflect" ? dlprim::PadMode::reflect : dlprim::PadMode::replicate);
}

}  // namespace ocl
