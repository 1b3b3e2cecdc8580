#include "preparation.h"

namespace transforms = ocl::data::transforms;
using ocl::data::HostArray;
using ocl::data::Image;
using transforms::Transform;

namespace {

/** One number for all channels, if there is but one. */
std::vector<float> widened(std::vector<float> values, std::size_t channels) {
  return values.size() == 1 ? std::vector<float>(channels, values.front()) : values;
}

}  // namespace

Preparation Preparation::of(int side, int channels, bool digits) {
  std::vector<float> mean{0.485F, 0.456F, 0.406F}, std{0.229F, 0.224F, 0.225F};
  if (digits)
    mean = {0.1307F}, std = {0.3081F};
  else if (channels == 1)
    mean = {0.449F}, std = {0.226F};
  const auto count = static_cast<std::size_t>(channels);
  return {side, channels, digits || channels == 1, widened(mean, count), widened(std, count)};
}

Transform Preparation::finished(std::vector<Transform> steps) const {
  if (is_gray) steps.push_back(transforms::grayscale());
  return transforms::compose(std::move(steps));
}

Transform Preparation::to_test() const {
  return finished({transforms::resize(8 * side / 7),  // 256 where the net sees 224, as torchvision's
                   transforms::center_crop(side, side)});
}

Transform Preparation::to_train(double least_scale, bool flip) const {
  std::vector<Transform> steps{
      transforms::random_resized_crop(transforms::RandomResizedCropOptions(side).scale({least_scale, 1}))};
  if (flip) steps.push_back(transforms::random_horizontal_flip());
  return finished(std::move(steps));
}

HostArray Preparation::array_of(const Image& picture) const {
  HostArray array =
      ocl::data::to_array(picture, {widened(mean, Image::channels), widened(std, Image::channels)});
  array.bytes.resize(array.bytes.size() / Image::channels * static_cast<std::size_t>(channels));
  array.shape.front() = channels;
  return array;
}
