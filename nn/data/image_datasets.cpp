#include "nn/data/image_datasets.h"

#include <algorithm>
#include <cctype>

#include "dlprim/core/error.h"

namespace ocl::data {
namespace {

using dlprim::FileError;
using dlprim::require;
namespace fs = std::filesystem;

/** torchvision's list of what counts as a picture, less TIFF and WebP, which read_image does not read. */
bool is_picture(const fs::path& path) {
  static const auto& extensions =
      *new std::vector<std::string>{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm"};
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::vector<fs::path> pictures_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink))
    if (entry.is_regular_file() && is_picture(entry.path())) found.push_back(entry.path());
  // Folder by folder, as torchvision walks them.
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.parent_path().string(), a.filename().string()) <
           std::pair(b.parent_path().string(), b.filename().string());
  });
  return found;
}

}  // namespace

ImageFolder::ImageFolder(const fs::path& root, transforms::Transform transform, Normalization normalization)
    : transform_(std::move(transform)), normalization_(std::move(normalization)) {
  require<FileError>(fs::is_directory(root), root.string(), ": is no folder");
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory()) classes_.push_back(entry.path().filename().string());
  require<FileError>(!classes_.empty(), root.string(), ": holds no folder of a class");
  std::sort(classes_.begin(), classes_.end());
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const std::vector<fs::path> pictures = pictures_below(root / classes_[c]);
    require<FileError>(!pictures.empty(), (root / classes_[c]).string(),
                       ": holds no pictures (.jpg, .jpeg, .png, .ppm, .bmp, .pgm)");
    for (const fs::path& picture : pictures) samples_.emplace_back(picture, c);
  }
}

Sample ImageFolder::get(std::size_t index, Random& random) const {
  const auto& [path, label] = samples_.at(index);
  Image image = read_image(path);
  if (transform_) image = transform_(image, random);
  return {to_array(image, normalization_), HostArray::of(label)};
}

IdxImages::IdxImages(IdxArray images, IdxArray labels, float mean, float std)
    : images_(std::move(images)), labels_(std::move(labels)), mean_(mean), std_(std) {
  require(images_.shape.size() == 3 && labels_.shape.size() == 1 && images_.shape[0] == labels_.shape[0],
          "IdxImages: expected images (N, rows, columns) and N labels");
  require(std != 0, "IdxImages: expected a standard deviation other than 0");
}

Sample IdxImages::get(std::size_t index, Random&) const {
  const std::int64_t rows = images_.shape[1], columns = images_.shape[2];
  std::vector<float> pixels(static_cast<std::size_t>(rows * columns));
  const std::uint8_t* const image = images_.values.data() + index * pixels.size();
  std::transform(image, image + pixels.size(), pixels.begin(),
                 [&](std::uint8_t pixel) { return (static_cast<float>(pixel) / 255 - mean_) / std_; });
  return {HostArray::of({1, rows, columns}, pixels), HostArray::of(std::int64_t{labels_.values[index]})};
}

FakeImages::FakeImages(std::size_t size, std::int64_t channels, std::int64_t side, std::int64_t classes,
                       std::uint64_t seed)
    : size_(size), channels_(channels), side_(side), classes_(classes), seed_(seed) {
  require(channels > 0 && side > 0 && classes > 0, "FakeImages: expected positive sizes, got ", channels,
          " channels, side ", side, ", ", classes, " classes");
}

Sample FakeImages::get(std::size_t index, Random&) const {
  Random random{seed_, index};
  const auto label = static_cast<std::int64_t>(random.integer(static_cast<std::uint64_t>(classes_)));
  std::vector<float> pixels(static_cast<std::size_t>(channels_ * side_ * side_));
  // Stripes whose direction tells the class, at a place that tells nothing.
  constexpr double pi = 3.14159265358979323846, stripes = 3;
  const double angle = pi * static_cast<double>(label) / static_cast<double>(classes_),
               phase = random.uniform(0, 2 * pi);
  const double across = std::cos(angle), down = std::sin(angle);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) % (side_ * side_);
    const double x = static_cast<double>(place % side_) / static_cast<double>(side_);
    const double y = static_cast<double>(place / side_) / static_cast<double>(side_);
    const double stripe = std::sin(2 * pi * stripes * (x * across + y * down) + phase);
    pixels[i] = static_cast<float>(stripe + random.uniform(-0.5, 0.5));
  }
  return {HostArray::of({channels_, side_, side_}, pixels), HostArray::of(label)};
}

}  // namespace ocl::data
