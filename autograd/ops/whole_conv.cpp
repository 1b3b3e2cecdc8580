#include "autograd/ops/whole_conv.h"

#include "autograd/ops/linalg.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

/** The sizes behind [N, C]. */
std::vector<std::int64_t> spatial(const Dims& shape) {
  return {shape.begin() + 2, shape.end()};
}

/** Where tap `number` of a kernel of these sizes lies along each dimension. */
std::vector<std::int64_t> place_of_tap(std::int64_t number, const std::vector<std::int64_t>& kernel) {
  std::vector<std::int64_t> place(kernel.size());
  for (std::size_t i = kernel.size(); i-- > 0; number /= kernel[i]) place[i] = number % kernel[i];
  return place;
}

/** The elements of `padded` that a tap meets, or comes from, at each of `counts` windows. */
Tensor met_by(const std::vector<std::int64_t>& place, const Tensor& padded, const WholeGeometry& g,
              const std::vector<std::int64_t>& counts) {
  Tensor met = padded;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const std::int64_t start = place[i] * g.dilation[i];
    met = slice(met, static_cast<std::int64_t>(i) + 2, start, start + (counts[i] - 1) * g.stride[i] + 1,
                g.stride[i]);
  }
  return met;
}

std::vector<std::int64_t> both_sides(const std::vector<std::int64_t>& padding) {
  std::vector<std::int64_t> margins;
  for (std::size_t i = padding.size(); i-- > 0;) margins.insert(margins.end(), 2, padding[i]);
  return margins;
}

}  // namespace

Tensor convolved_whole(const Tensor& x, const Tensor& weight, const WholeGeometry& g, const Dims& shape) {
  if (dlprim::product(shape) == 0) return zeros(shape.vector(), x.dtype(), x.device());
  const std::vector<std::int64_t> kernel = spatial(weight.shape()), out = spatial(shape);
  const std::int64_t n = shape[0], in = weight.size(1), each = shape[1] / g.groups;
  const Tensor padded = pad(x, both_sides(g.padding));
  const Tensor taps = reshape(weight, {g.groups, each, in, -1});
  Tensor sum = zeros({n, g.groups, each, dlprim::product(Dims(out))}, x.dtype(), x.device());
  for (std::int64_t tap = 0; tap < taps.size(3); ++tap) {
    const Tensor met = met_by(place_of_tap(tap, kernel), padded, g, out);
    sum += matmul(select(taps, 3, tap), reshape(met, {n, g.groups, in, -1}));
  }
  return reshape(sum, shape.vector());
}

Tensor convolved_back_whole(const Tensor& x, const Tensor& weight, const WholeGeometry& g,
                            const Dims& shape) {
  if (dlprim::product(shape) == 0) return zeros(shape.vector(), x.dtype(), x.device());
  const std::vector<std::int64_t> kernel = spatial(weight.shape()), sizes = spatial(x.shape());
  const std::int64_t n = shape[0], in = x.size(1) / g.groups, each = weight.size(1);
  Dims padded_shape = shape;
  for (std::size_t i = 0; i < kernel.size(); ++i) padded_shape[static_cast<int>(i) + 2] += 2 * g.padding[i];
  Tensor padded = zeros(padded_shape.vector(), x.dtype(), x.device());
  const Tensor taps = reshape(weight, {g.groups, in, each, -1}), columns = reshape(x, {n, g.groups, in, -1});
  for (std::int64_t tap = 0; tap < taps.size(3); ++tap) {
    Tensor met = met_by(place_of_tap(tap, kernel), padded, g, sizes);
    met += reshape(matmul(transpose(select(taps, 3, tap), -1, -2), columns), met.shape().vector());
  }
  Tensor y = padded;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const int d = static_cast<int>(i) + 2;
    y = narrow(y, d, g.padding[i], shape[d]);
  }
  return contiguous(y);
}

}  // namespace ocl
