#include "nn/data/image.h"

#include <algorithm>
#include <cmath>

#include "dlprim/core/error.h"

namespace ocl::data {
namespace {

using dlprim::require;

std::size_t bytes_of(int height, int width) {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * Image::channels;
}

/** Pillow's bilinear filter along one dimension: for each new place the first old one that it takes
 * from, and the weights from there on, in its fixed point. */
struct Resampling {
  static constexpr int fraction_bits = 32 - 8 - 2;
  std::vector<int> first, count;
  std::vector<std::int32_t> weights;
  int weights_per_place = 0;

  Resampling(int from, int to) {
    const double scale = static_cast<double>(from) / to, reach = std::max(scale, 1.0);
    weights_per_place = static_cast<int>(std::ceil(reach)) * 2 + 1;
    weights.assign(static_cast<std::size_t>(weights_per_place) * static_cast<std::size_t>(to), 0);
    std::vector<double> exact(static_cast<std::size_t>(weights_per_place));
    for (int place = 0; place < to; ++place) {
      const double center = (place + 0.5) * scale;
      const int begin = std::max(static_cast<int>(center - reach + 0.5), 0);
      const int end = std::min(static_cast<int>(center + reach + 0.5), from);
      double sum = 0;
      for (int i = begin; i < end; ++i) {
        const double weight = std::max(1 - std::abs((i - center + 0.5) / reach), 0.0);
        exact[static_cast<std::size_t>(i - begin)] = weight;
        sum += weight;
      }
      std::int32_t* const own = weights.data() + std::ptrdiff_t{place} * weights_per_place;
      for (int i = 0; i < end - begin; ++i)
        own[i] =
            static_cast<std::int32_t>(0.5 + exact[static_cast<std::size_t>(i)] / sum * (1 << fraction_bits));
      first.push_back(begin);
      count.push_back(end - begin);
    }
  }

  /** The new value at `place` of what lies `step` bytes apart from `values` on. */
  std::uint8_t at(int place, const std::uint8_t* values, std::ptrdiff_t step) const {
    const auto p = static_cast<std::size_t>(place);
    const std::int32_t* const own = weights.data() + std::ptrdiff_t{place} * weights_per_place;
    std::int32_t sum = 1 << (fraction_bits - 1);
    for (int i = 0; i < count[p]; ++i) sum += values[(first[p] + i) * step] * own[i];
    return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
  }
};

}  // namespace

Image::Image(int image_height, int image_width) : height(image_height), width(image_width) {
  require(height > 0 && width > 0, "an image of ", height, " x ", width, " pixels");
  pixels.assign(bytes_of(height, width), 0);
}

Image crop(const Image& image, int top, int left, int height, int width) {
  Image part(height, width);
  const int first_x = std::max(left, 0), end_x = std::min(left + width, image.width);
  for (int y = std::max(top, 0); y < std::min(top + height, image.height) && first_x < end_x; ++y)
    std::copy(image.row(y) + std::ptrdiff_t{first_x} * Image::channels,
              image.row(y) + std::ptrdiff_t{end_x} * Image::channels,
              part.row(y - top) + std::ptrdiff_t{first_x - left} * Image::channels);
  return part;
}

Image flip_horizontal(const Image& image) {
  Image flipped(image.height, image.width);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      std::copy_n(image.row(y) + std::ptrdiff_t{x} * Image::channels, Image::channels,
                  flipped.row(y) + std::ptrdiff_t{image.width - 1 - x} * Image::channels);
  return flipped;
}

Image resize(const Image& image, int height, int width) {
  require(height > 0 && width > 0, "resize: expected a positive size, got ", height, " x ", width);
  Image wide = image;
  if (width != image.width) {
    const Resampling across(image.width, width);
    wide = Image(image.height, width);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < Image::channels; ++c)
          wide.row(y)[x * Image::channels + c] = across.at(x, image.row(y) + c, Image::channels);
  }
  if (height == image.height) return wide;
  const Resampling down(image.height, height);
  Image resized(height, width);
  const std::ptrdiff_t row_bytes = std::ptrdiff_t{width} * Image::channels;
  for (int y = 0; y < height; ++y)
    for (std::ptrdiff_t i = 0; i < row_bytes; ++i)
      resized.row(y)[i] = down.at(y, wide.pixels.data() + i, row_bytes);
  return resized;
}

HostArray to_array(const Image& image, const Normalization& normalization) {
  const auto& [mean, std] = normalization;
  require(mean.size() == Image::channels && std.size() == Image::channels &&
              std::count(std.begin(), std.end(), 0) == 0,
          "to_array: expected three means and three standard deviations other than 0");
  const std::size_t plane = bytes_of(image.height, image.width) / Image::channels;
  std::vector<float> values(plane * Image::channels);
  for (std::size_t c = 0; c < Image::channels; ++c)
    for (std::size_t i = 0; i < plane; ++i)
      values[c * plane + i] =
          (static_cast<float>(image.pixels[i * Image::channels + c]) / 255 - mean[c]) / std[c];
  return HostArray::of({Image::channels, image.height, image.width}, values);
}

}  // namespace ocl::data
