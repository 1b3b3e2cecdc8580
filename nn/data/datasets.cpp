#include "nn/data/datasets.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
#include "nn/data/mnist.h"

namespace ocl::data::datasets {

TensorDataset::TensorDataset(const TensorList& rows) : tensor(stack(rows)) {}

TensorExample TensorDataset::get(std::size_t index) {
  return {tensor[static_cast<std::int64_t>(index)]};
}

MNIST::MNIST(const std::string& root, Mode mode, const Device& device) : is_train_(mode == Mode::kTrain) {
  const MnistHalf half = load_mnist_half(root, is_train_);
  const std::vector<std::int64_t>& sizes = half.images.shape;
  images_ = from_bytes(half.images.values.data(), {sizes[0], 1, sizes[1], sizes[2]}, DType::uint8, device)
                .to(DType::float32) /
            255;
  targets_ = from_bytes(half.labels.values.data(), {sizes[0]}, DType::uint8, device).to(DType::int64);
}

Example<> MNIST::get(std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {images_[i], targets_[i]};
}

Example<> MNIST::get_stacked(const std::vector<std::size_t>& indices) const {
  const std::vector<std::int64_t> places(indices.begin(), indices.end());
  const Tensor index =
      from_bytes(places.data(), {static_cast<std::int64_t>(places.size())}, DType::int64, images_.device());
  return {images_.index_select(0, index), targets_.index_select(0, index)};
}

}  // namespace ocl::data::datasets
