#include "autograd/ops/strided.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

/**
 * The dimensions, fewest elements first, that must be walked one index at a time so that the others show no
 * element twice.
 */
std::vector<int> repeating_dims(const Dims& shape, const Dims& strides) {
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : shape[a] > shape[b];
  });
  std::vector<int> repeating;
  std::int64_t reach = 1;
  for (const int d : order) {
    if (shape[d] <= 1) continue;
    if (strides[d] < reach)
      repeating.push_back(d);
    else
      reach = strides[d] * (shape[d] - 1) + reach;
  }
  return repeating;
}

}  // namespace

StridedSpan::StridedSpan(const dlprim::Tensor& whole, const dlprim::Tensor& view) {
  const auto [low, high] = whole.reach();
  const auto [view_low, view_high] = view.reach();
  const std::int64_t start = view.numel() ? std::min(low, view_low) : low;
  size_ = (view.numel() ? std::max(high, view_high) : high) - start;
  whole_ = place_of(whole, start);
  view_ = place_of(view, start);
}

StridedSpan::Place StridedSpan::place_of(const dlprim::Tensor& t, std::int64_t start) {
  return {t.shape, t.strides, t.numel() ? t.offset - start : 0};
}

dlprim::Tensor StridedSpan::Place::in(const dlprim::Tensor& stretch) const {
  dlprim::Tensor placed = stretch;
  placed.shape = shape;
  placed.strides = strides;
  placed.offset += offset;
  return placed;
}

bool StridedSpan::Place::is_injective() const {
  return repeating_dims(shape, strides).empty();
}

void StridedSpan::add_at(const dlprim::Tensor& stretch, Place place, Tensor values) {
  std::vector<std::int64_t> unmoving;
  for (int d = 0; d < place.shape.size(); ++d)
    if (place.strides[d] == 0 && place.shape[d] > 1) {
      unmoving.push_back(d);
      place.shape[d] = 1;
    }
  if (!unmoving.empty()) values = sum(values, unmoving, true);
  const std::vector<int> repeating = repeating_dims(place.shape, place.strides);
  if (repeating.empty()) {
    Tensor(place.in(stretch)).add_(values);
    return;
  }
  const int d = repeating.front();
  const std::int64_t count = std::exchange(place.shape[d], 1);
  for (std::int64_t i = 0; i < count; ++i, place.offset += place.strides[d])
    add_at(stretch, place, narrow(values, d, i, 1));
}

Tensor StridedSpan::stretch_with(const Place& place, const Tensor& values) const {
  const Tensor stretch = zeros({size_}, values.dtype(), values.device());
  add_at(stretch.data(), place, values);
  return stretch;
}

/** The stretch over how many elements of the whole share one place. */
Tensor StridedSpan::shared(const Tensor& stretch) const {
  if (whole_.is_injective()) return stretch;
  const Tensor counts = stretch_with(whole_, ones(whole_.shape.vector(), stretch.dtype(), stretch.device()));
  return div(stretch, maximum(counts, 1));
}

Tensor StridedSpan::scattered(const Tensor& gradient) const {
  return Tensor(whole_.in(shared(stretch_with(view_, gradient)).data()));
}

Tensor StridedSpan::gathered(const Tensor& gradient) const {
  return Tensor(view_.in(shared(stretch_with(whole_, gradient)).data())).clone();
}

Tensor StridedSpan::gradient_of_view(const Tensor& gradient) const {
  return apply_linear(
      "AsStridedBackward", gradient, [span = *this](const Tensor& g) { return span.scattered(g); },
      [span = *this](const Tensor& g) { return span.gathered(g); });
}

TensorList StridedSpan::recorded_gradients_of_write(const Tensor& gradient, const Backward& backward) const {
  const auto scatter = [span = *this](const Tensor& g) { return span.scattered(g); };
  const auto gather = [span = *this](const Tensor& g) { return span.gathered(g); };
  const auto keep_the_rest = [span = *this](const Tensor& g) {
    const Tensor stretch = span.stretch_with(span.whole_, g);
    dlprim::fill(g.device()->queue(), span.view_.in(stretch.data()), 0);
    return Tensor(span.whole_.in(stretch.data()));
  };
  const WrittenView view(*this);
  TensorList gradients = backward({apply_linear("AsStridedBackward", gradient, gather, scatter)});
  const Tensor rest = apply_linear("CopySlices", gradient, keep_the_rest, keep_the_rest);
  gradients[0] = gradients[0].defined()
                     ? add(rest, apply_linear("AsStridedBackward", gradients[0], scatter, gather))
                     : rest;
  return gradients;
}

TensorList StridedSpan::gradients_of_write(const Tensor& gradient, const Backward& backward) const {
  if (grad_enabled()) return recorded_gradients_of_write(gradient, backward);
  dlprim::Queue& queue = gradient.device()->queue();
  const Tensor stretch = zeros({size_}, gradient.dtype(), gradient.device());
  dlprim::copy(queue, gradient.data(), whole_.in(stretch.data()));
  const dlprim::Tensor written = view_.in(stretch.data());
  TensorList gradients = backward({Tensor(written).clone()});
  if (gradients[0].defined())
    dlprim::copy(queue, gradients[0].data(), written);
  else
    dlprim::fill(queue, written, 0);
  gradients[0] = Tensor(whole_.in(stretch.data()));
  return gradients;
}

}  // namespace ocl
