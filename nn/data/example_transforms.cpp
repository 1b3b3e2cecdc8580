#include "nn/data/example_transforms.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"

namespace ocl::data::transforms {
namespace {

using dlprim::require;

Tensor of_each_channel(const std::vector<double>& numbers, const Tensor& like) {
  const auto channels = static_cast<std::int64_t>(numbers.size());
  const Tensor each =
      tensor(std::vector<float>(numbers.begin(), numbers.end()), {channels, 1, 1}, like.device());
  return like.is_floating_point() ? each.to(like.dtype()) : each;
}

/** One field of all examples as one tensor. */
template <class E>
Tensor stacked(const std::vector<E>& batch, Tensor E::* field) {
  require(!batch.empty(), "Stack: there are no examples");
  TensorList all;
  for (const E& example : batch) all.push_back(example.*field);
  return stack(all);
}

}  // namespace

Example<> Stack<Example<>>::apply_batch(const std::vector<Example<>>& batch) const {
  return {stacked(batch, &Example<>::data), stacked(batch, &Example<>::target)};
}

TensorExample Stack<TensorExample>::apply_batch(const std::vector<TensorExample>& batch) const {
  return {stacked(batch, &TensorExample::data)};
}

Tensor normalized(const Tensor& x, const ChannelNumbers& mean, const ChannelNumbers& std) {
  require(!mean.empty() && !std.empty(), "Normalize: expected a mean and a standard deviation at least");
  if (mean.size() == 1 && std.size() == 1) return (x - mean[0]) / std[0];
  return (x - of_each_channel(mean, x)) / of_each_channel(std, x);
}

}  // namespace ocl::data::transforms
