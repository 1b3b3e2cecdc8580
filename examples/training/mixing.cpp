#include "mixing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "nn/data/random.h"

namespace {

using ocl::Tensor;
using ocl::data::Random;

/** From Beta(alpha, alpha), which two gamma numbers give. */
double beta(double alpha, Random& random) {
  std::gamma_distribution<double> gamma(alpha);
  const double one = gamma(random.engine()), other = gamma(random.engine());
  return one + other > 0 ? one / (one + other) : 0.5;
}

/** A part of [0, size) that is `length` long, as far as it lies within. */
std::pair<std::int64_t, std::int64_t> part_of(std::int64_t size, double length, Random& random) {
  const auto middle = static_cast<double>(random.integer(static_cast<std::uint64_t>(size)));
  const auto place = [&](double at) {
    return std::clamp(static_cast<std::int64_t>(std::lround(at)), std::int64_t{0}, size);
  };
  return {place(middle - length / 2), place(middle + length / 2)};
}

Mixing::Mixed mixup(const Tensor& pictures, double share) {
  return {pictures * share + moved_on(pictures) * (1 - share), share};
}

Mixing::Mixed cutmix(const Tensor& pictures, double share, Random& random) {
  const std::int64_t height = pictures.size(2), width = pictures.size(3);
  const double side = std::sqrt(1 - share);
  const auto [top, bottom] = part_of(height, side * static_cast<double>(height), random);
  const auto [left, right] = part_of(width, side * static_cast<double>(width), random);
  std::vector<float> inside(static_cast<std::size_t>(height * width));
  for (std::int64_t y = top; y < bottom; ++y)
    std::fill(inside.begin() + y * width + left, inside.begin() + y * width + right, 1.0F);
  const double cut = std::accumulate(inside.begin(), inside.end(), 0.0) / static_cast<double>(inside.size());
  const Tensor mask = ocl::tensor(inside, {height, width}, pictures.device());
  return {pictures + (moved_on(pictures) - pictures) * mask, 1 - cut};
}

}  // namespace

Tensor moved_on(const Tensor& batch) {
  return ocl::roll(batch, {1}, {0});
}

Mixing::Mixed Mixing::operator()(const Tensor& pictures, std::uint64_t batch) const {
  if (mixup_ <= 0 && cutmix_ <= 0) return {pictures, 1};
  Random random{seed_, batch};
  const bool cuts = mixup_ <= 0 || (cutmix_ > 0 && random.chance(0.5));
  const double share = beta(cuts ? cutmix_ : mixup_, random);
  return cuts ? cutmix(pictures, share, random) : mixup(pictures, share);
}
