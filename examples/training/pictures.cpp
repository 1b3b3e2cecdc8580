#include "pictures.h"

#include "dlprim/core/error.h"
#include "nn/data/mnist.h"

namespace {

namespace transforms = ocl::data::transforms;
using ocl::data::IdxArray;
using ocl::data::Normalization;

int side_of(const TrainingOptions& options, int otherwise) {
  return options.side > 0 ? options.side : otherwise;
}

Pictures from_folder(const TrainingOptions& options) {
  const int side = side_of(options, 224);
  const auto train = std::make_shared<ocl::data::ImageFolder>(
      std::filesystem::path(options.data) / "train",
      transforms::compose({transforms::random_resized_crop(transforms::RandomResizedCropOptions(side)),
                           transforms::random_horizontal_flip()}),
      Normalization::imagenet());
  const auto test = std::make_shared<ocl::data::ImageFolder>(std::filesystem::path(options.data) / "val",
                                                             test_transform(side), Normalization::imagenet());
  dlprim::require<dlprim::FileError>(train->classes() == test->classes(), options.data,
                                     ": train and val hold other classes");
  return {train, test, train->classes(), side};
}

Pictures from_mnist(const TrainingOptions& options) {
  auto mnist = ocl::data::load_mnist(options.mnist);
  const auto part = [](IdxArray images, IdxArray labels) {
    return std::make_shared<ocl::data::IdxImages>(std::move(images), std::move(labels), ocl::data::mnist_mean,
                                                  ocl::data::mnist_std);
  };
  Pictures pictures;
  pictures.side = static_cast<int>(mnist.train_images.shape[1]);
  pictures.train = part(std::move(mnist.train_images), std::move(mnist.train_labels));
  pictures.test = part(std::move(mnist.test_images), std::move(mnist.test_labels));
  for (int digit = 0; digit < 10; ++digit) pictures.classes.push_back(std::to_string(digit));
  return pictures;
}

Pictures made(const TrainingOptions& options) {
  constexpr std::int64_t classes = 4, channels = 3;
  const int side = side_of(options, 32);
  const auto part = [&](std::size_t size, std::uint64_t seed) {
    return std::make_shared<ocl::data::FakeImages>(size, channels, side, classes, seed);
  };
  return {
      part(options.fake_size, 1), part(options.fake_size / 8 + 1, 2), {"0", "45", "90", "135 degrees"}, side};
}

}  // namespace

Pictures load_pictures(const TrainingOptions& options) {
  if (!options.data.empty()) return from_folder(options);
  return options.mnist.empty() ? made(options) : from_mnist(options);
}

transforms::Transform test_transform(int side) {
  return transforms::compose({transforms::resize(side * 8 / 7), transforms::center_crop(side, side)});
}
