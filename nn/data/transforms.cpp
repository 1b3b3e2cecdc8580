#include "nn/data/transforms.h"

#include <algorithm>
#include <cmath>

#include "dlprim/core/error.h"

namespace ocl::data::transforms {
namespace {

using dlprim::require;

/** A part of an image. */
struct Part {
  int top, left, height, width;
};

Image cut(const Image& image, const Part& part) {
  return crop(image, part.top, part.left, part.height, part.width);
}

/** Python's rounding: halves to the even neighbour. */
int rounded(double x) {
  return static_cast<int>(std::nearbyint(x));
}

Part part_of_random_size(const Image& image, const RandomResizedCropOptions& options, Random& random) {
  const double area = static_cast<double>(image.height) * image.width;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(options.scale().first, options.scale().second);
    const double ratio =
        std::exp(random.uniform(std::log(options.ratio().first), std::log(options.ratio().second)));
    const int width = rounded(std::sqrt(target * ratio)), height = rounded(std::sqrt(target / ratio));
    if (width <= 0 || width > image.width || height <= 0 || height > image.height) continue;
    const auto top = random.integer(static_cast<std::uint64_t>(image.height - height) + 1);
    const auto left = random.integer(static_cast<std::uint64_t>(image.width - width) + 1);
    return {static_cast<int>(top), static_cast<int>(left), height, width};
  }
  // The largest part in the middle whose proportions are allowed.
  const double ratio = static_cast<double>(image.width) / image.height;
  int width = image.width, height = image.height;
  if (ratio < options.ratio().first) height = std::max(rounded(width / options.ratio().first), 1);
  if (ratio > options.ratio().second) width = std::max(rounded(height * options.ratio().second), 1);
  return {(image.height - height) / 2, (image.width - width) / 2, height, width};
}

bool is_range(const RandomResizedCropOptions::Range& range) {
  return range.first > 0 && range.first <= range.second;
}

}  // namespace

Transform compose(std::vector<Transform> transforms) {
  return [all = std::move(transforms)](const Image& image, Random& random) {
    Image changed = image;
    for (const Transform& transform : all) changed = transform(changed, random);
    return changed;
  };
}

Transform resize(int size) {
  require(size > 0, "resize: expected a positive size, got ", size);
  return [size](const Image& image, Random&) {
    const auto scaled = [&](int side, int shorter) {
      return static_cast<int>(static_cast<std::int64_t>(size) * side / shorter);
    };
    return image.height <= image.width ? data::resize(image, size, scaled(image.width, image.height))
                                       : data::resize(image, scaled(image.height, image.width), size);
  };
}

Transform center_crop(int height, int width) {
  require(height > 0 && width > 0, "center_crop: expected a positive size, got ", height, " x ", width);
  return [height, width](const Image& image, Random&) {
    // Beside an image that is too small, torchvision puts the odd pixel after it; in one too large it rounds.
    const auto begin = [](int from, int to) {
      return from < to ? -((to - from) / 2) : rounded((from - to) / 2.0);
    };
    return crop(image, begin(image.height, height), begin(image.width, width), height, width);
  };
}

Transform random_crop(const RandomCropOptions& options) {
  require(options.height() > 0 && options.width() > 0 && options.padding() >= 0,
          "random_crop: expected a positive size and a padding that is not negative, got ", options.height(),
          " x ", options.width(), " and ", options.padding());
  return [options](const Image& image, Random& random) {
    const int more_rows = image.height + 2 * options.padding() - options.height();
    const int more_columns = image.width + 2 * options.padding() - options.width();
    require(more_rows >= 0 && more_columns >= 0, "random_crop: required crop size ", options.height(), " x ",
            options.width(), " is larger than the image of ", image.height, " x ", image.width,
            " with padding ", options.padding());
    const auto top = random.integer(static_cast<std::uint64_t>(more_rows) + 1);
    const auto left = random.integer(static_cast<std::uint64_t>(more_columns) + 1);
    return cut(image, {static_cast<int>(top) - options.padding(), static_cast<int>(left) - options.padding(),
                       options.height(), options.width()});
  };
}

Transform random_resized_crop(const RandomResizedCropOptions& options) {
  require(options.height() > 0 && options.width() > 0, "random_resized_crop: expected a positive size, got ",
          options.height(), " x ", options.width());
  require(is_range(options.scale()) && is_range(options.ratio()),
          "random_resized_crop: expected scale and ratio as positive ranges");
  return [options](const Image& image, Random& random) {
    return data::resize(cut(image, part_of_random_size(image, options, random)), options.height(),
                        options.width());
  };
}

Transform random_horizontal_flip(double p) {
  require(p >= 0 && p <= 1, "random_horizontal_flip: expected a probability, got ", p);
  return
      [p](const Image& image, Random& random) { return random.chance(p) ? flip_horizontal(image) : image; };
}

Transform grayscale() {
  return [](const Image& image, Random&) {
    Image gray = image;
    for (auto pixel = gray.pixels.begin(); pixel != gray.pixels.end(); pixel += Image::channels) {
      // ITU-R 601-2 in Pillow's fixed point.
      const int brightness = (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + (1 << 15)) >> 16;
      std::fill_n(pixel, Image::channels, static_cast<std::uint8_t>(brightness));
    }
    return gray;
  };
}

}  // namespace ocl::data::transforms
