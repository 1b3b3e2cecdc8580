#include "pictures.h"

#include <numeric>

#include "dlprim/core/error.h"
#include "made_pictures.h"
#include "nets.h"
#include "nn/data/mnist.h"

namespace {

namespace fs = std::filesystem;
using dlprim::FileError;
using dlprim::require;
using ocl::data::HostArray;
using ocl::data::IdxArray;
using ocl::data::Image;
using ocl::data::ImageFolder;
using ocl::data::Random;
using ocl::data::Sample;
using ocl::data::transforms::Transform;

/** Pictures and their classes by number, before they are prepared. */
struct Source {
  std::size_t size;
  std::function<std::pair<Image, std::int64_t>(std::size_t)> read;
};

class Prepared : public ocl::data::Dataset {
 public:
  Prepared(Source source, Transform transform, Preparation preparation)
      : source_(std::move(source)), transform_(std::move(transform)), preparation_(std::move(preparation)) {}
  std::size_t size() const override { return source_.size; }
  Sample get(std::size_t index, Random& random) const override {
    const auto [image, label] = source_.read(index);
    return {preparation_.array_of(transform_(image, random)), HostArray::of(label)};
  }

 private:
  Source source_;
  Transform transform_;
  Preparation preparation_;
};

struct Sources {
  Source train, test;
  std::vector<std::string> classes;
};

Source part_of(const std::shared_ptr<const ImageFolder>& folder, std::vector<std::size_t> numbers) {
  const std::size_t size = numbers.size();
  return {size, [folder, numbers = std::move(numbers)](std::size_t index) {
            const auto& [path, label] = folder->samples()[numbers[index]];
            return std::pair(ocl::data::read_image(path), label);
          }};
}

std::vector<std::size_t> all_of(const ImageFolder& folder) {
  std::vector<std::size_t> numbers(folder.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

/** `train` and `val` (or `test`) below `root`; or else some of the classes' pictures kept back to test. */
Sources from_folder(const fs::path& root, double test_share) {
  for (const char* name : {"val", "test"}) {
    if (!fs::is_directory(root / "train") || !fs::is_directory(root / name)) continue;
    const auto train = std::make_shared<ImageFolder>(root / "train"),
               test = std::make_shared<ImageFolder>(root / name);
    require<FileError>(train->classes() == test->classes(), root.string(), ": train and ", name,
                       " have different classes");
    return {part_of(train, all_of(*train)), part_of(test, all_of(*test)), train->classes()};
  }
  const auto folder = std::make_shared<ImageFolder>(root);
  std::vector<std::size_t> order = all_of(*folder);
  Random random{0};
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.integer(i)]);
  const auto share = std::lround(static_cast<double>(order.size()) * test_share);
  const auto kept = order.begin() + std::max(share, 1L);
  return {part_of(folder, {kept, order.end()}), part_of(folder, {order.begin(), kept}), folder->classes()};
}

Source digits(IdxArray images, IdxArray labels) {
  const std::size_t size = labels.values.size();
  return {size, [images = std::move(images), labels = std::move(labels)](std::size_t index) {
            Image image(static_cast<int>(images.shape[1]), static_cast<int>(images.shape[2]));
            const std::size_t count = image.pixels.size() / Image::channels;
            for (std::size_t i = 0; i < image.pixels.size(); ++i)
              image.pixels[i] = images.values[index * count + i / Image::channels];
            return std::pair(std::move(image), std::int64_t{labels.values[index]});
          }};
}

Sources from_mnist(const fs::path& folder) {
  auto mnist = ocl::data::load_mnist(folder);
  std::vector<std::string> classes;
  for (int digit = 0; digit < 10; ++digit) classes.push_back(std::to_string(digit));
  return {digits(std::move(mnist.train_images), std::move(mnist.train_labels)),
          digits(std::move(mnist.test_images), std::move(mnist.test_labels)), classes};
}

Source made(std::size_t size, int side, std::size_t first) {
  return {size, [side, first](std::size_t index) {
            MadePicture picture = made_picture(side, first + index);
            return std::pair(std::move(picture.image), picture.label);
          }};
}

Sources sources_of(const TrainingOptions& options, int side) {
  if (!options.data.empty()) return from_folder(options.data, options.test_share);
  if (!options.mnist.empty()) return from_mnist(options.mnist);
  return {made(options.fake_size, side, 0), made(made_to_test(options.fake_size), side, options.fake_size),
          made_classes()};
}

}  // namespace

std::size_t made_to_test(std::size_t made_to_train) {
  return std::max<std::size_t>(made_to_train / 4, 1);
}

Pictures load_pictures(const TrainingOptions& options) {
  const bool are_digits = !options.mnist.empty();
  if (options.side > 0) require_side(options.net, options.side);
  const int usual_side = !options.data.empty() ? 224 : are_digits ? 28 : 32;
  const int side = options.side > 0 ? options.side : suitable_side(options.net, usual_side);
  const int channels = options.channels > 0 ? options.channels : are_digits ? 1 : 3;
  const Preparation preparation = Preparation::of(side, channels, are_digits);
  Sources sources = sources_of(options, side);
  const Transform to_train = preparation.to_train(are_digits ? 0.7 : options.least_scale, !are_digits);
  return {std::make_shared<Prepared>(std::move(sources.train), to_train, preparation),
          std::make_shared<Prepared>(std::move(sources.test), preparation.to_test(), preparation),
          std::move(sources.classes), preparation};
}
