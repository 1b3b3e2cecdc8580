#include "nn/models/boxes.h"

#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "autograd/ops/join.h"
#include "autograd/ops/masking.h"

namespace ocl::models {
namespace {

/** "[1, 2]", as Python prints lists. */
template <class T>
std::string list_repr(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) {
    text += text.empty() ? "" : ", ";
    if constexpr (std::is_arithmetic_v<T>)
      text += nn::repr_of(value);
    else
      text += list_repr(value);
  }
  return "[" + text + "]";
}

Tensor uploaded(const std::vector<float>& values, const Shape& shape, DType dtype, const Device& device) {
  return tensor(values, shape, device).to(dtype);
}

/** [..., 2] each. */
struct CenterSize {
  Tensor center, size;
};
CenterSize centers_of(const Tensor& boxes) {
  const Tensor low = narrow(boxes, -1, 0, 2), size = narrow(boxes, -1, 2, 2) - low;
  return {low + size * 0.5, size};
}

}  // namespace

DefaultBoxGenerator::DefaultBoxGenerator(const DefaultBoxGeneratorOptions& o) : Layer(o) {
  const std::size_t maps = o.aspect_ratios().size();
  dlprim::require(!o.steps() || o.steps()->size() == maps,
                  "aspect_ratios and steps should have the same length");
  dlprim::require(!o.scales() || o.scales()->size() > maps, "DefaultBoxGenerator: expected at least ",
                  maps + 1, " scales, one more than aspect_ratios, got ",
                  o.scales() ? o.scales()->size() : 0);
}

std::vector<double> DefaultBoxGenerator::scales() const {
  const DefaultBoxGeneratorOptions o = options();
  if (o.scales()) return *o.scales();
  const std::size_t maps = o.aspect_ratios().size();
  if (maps == 1) return {o.min_ratio(), o.max_ratio()};
  std::vector<double> result;
  const double range = o.max_ratio() - o.min_ratio();
  for (std::size_t k = 0; k < maps; ++k)
    result.push_back(o.min_ratio() + range * static_cast<double>(k) / (static_cast<double>(maps) - 1));
  result.push_back(1);
  return result;
}

std::vector<std::int64_t> DefaultBoxGenerator::num_anchors_per_location() const {
  const DefaultBoxGeneratorOptions o = options();
  std::vector<std::int64_t> counts;
  for (const auto& ratios : o.aspect_ratios())
    counts.push_back(2 + 2 * static_cast<std::int64_t>(ratios.size()));
  return counts;
}

Tensor DefaultBoxGenerator::boxes(const std::vector<PictureSize>& maps, const PictureSize& picture,
                                  DType dtype, const Device& device) const {
  const DefaultBoxGeneratorOptions o = options();
  dlprim::require(maps.size() == o.aspect_ratios().size(), "DefaultBoxGenerator: expected ",
                  o.aspect_ratios().size(), " feature maps, got ", maps.size());
  const std::vector<double> ratio_to_picture = scales();
  const auto side = [&](double length) {
    const auto rounded = static_cast<float>(length);
    return o.clip() ? std::clamp(rounded, 0.0f, 1.0f) : rounded;
  };
  std::vector<float> places;  // center and size, as parts of the picture
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const double scale = ratio_to_picture[k], between = std::sqrt(scale * ratio_to_picture[k + 1]);
    std::vector<std::array<float, 2>> sides{{side(scale), side(scale)}, {side(between), side(between)}};
    for (const std::int64_t aspect : o.aspect_ratios()[k]) {
      const double root = std::sqrt(static_cast<double>(aspect));
      sides.push_back({side(scale * root), side(scale / root)});
      sides.push_back({side(scale / root), side(scale * root)});
    }
    const auto step_count = [&](std::size_t axis) {
      if (!o.steps()) return static_cast<float>(maps[k][axis]);
      return static_cast<float>(static_cast<double>(picture[axis]) / static_cast<double>((*o.steps())[k]));
    };
    const float rows = step_count(0), columns = step_count(1);
    for (std::int64_t y = 0; y < maps[k][0]; ++y)
      for (std::int64_t x = 0; x < maps[k][1]; ++x)
        for (const auto& [width, height] : sides) {
          const float center_x = (static_cast<float>(x) + 0.5f) / columns;
          const float center_y = (static_cast<float>(y) + 0.5f) / rows;
          places.insert(places.end(), {center_x, center_y, width, height});
        }
  }
  const auto count = static_cast<std::int64_t>(places.size() / 4);
  const Tensor all = uploaded(places, {count, 4}, dtype, device);
  const std::vector<float> width_height{static_cast<float>(picture[1]), static_cast<float>(picture[0])};
  const Tensor extent = uploaded(width_height, {2}, dtype, device);
  const Tensor center = narrow(all, -1, 0, 2), half = narrow(all, -1, 2, 2) * 0.5;
  return cat({(center - half) * extent, (center + half) * extent}, -1);
}

std::string DefaultBoxGenerator::repr() const {
  const DefaultBoxGeneratorOptions o = options();
  return dlprim::concat("DefaultBoxGenerator(aspect_ratios=", list_repr(o.aspect_ratios()),
                        ", clip=", nn::repr_of(o.clip()), ", scales=", list_repr(scales()),
                        ", steps=", o.steps() ? list_repr(*o.steps()) : "None", ")");
}

PictureSize GeneralizedRCNNTransform::size() const {
  const std::vector<std::int64_t> fixed = options().fixed_size();
  dlprim::require(fixed.size() == 2, "GeneralizedRCNNTransform: expected a fixed_size (width, height), got ",
                  fixed.size(), " numbers");
  return {fixed[1], fixed[0]};
}

Tensor GeneralizedRCNNTransform::batch(const TensorList& images) const {
  const GeneralizedRCNNTransformOptions o = options();
  const PictureSize wanted = size();
  dlprim::require(!images.empty(), "GeneralizedRCNNTransform: expected one image at least, got none");
  const auto channels = static_cast<std::int64_t>(o.image_mean().size());
  dlprim::require(o.image_std().size() == o.image_mean().size(), "GeneralizedRCNNTransform: image_mean has ",
                  channels, " numbers, image_std ", o.image_std().size());
  TensorList pictures;
  for (const Tensor& image : images) {
    dlprim::require(image.dim() == 3 && image.size(0) == channels,
                    "images is expected to be a list of 3d tensors of shape [C, H, W] with C = ", channels,
                    ", got ", image.shape());
    dlprim::require<TypeError>(
        is_floating(image.dtype()),
        "Expected input images to be of floating type (in range [0, 1]), but found type ",
        dlprim::name(image.dtype()), " instead");
    const auto of_channels = [&](const std::vector<double>& values) {
      const std::vector<float> rounded(values.begin(), values.end());
      return uploaded(rounded, {channels, 1, 1}, image.dtype(), image.device());
    };
    const Tensor normal = (image - of_channels(o.image_mean())) / of_channels(o.image_std());
    pictures.push_back(interpolate(unsqueeze(normal, 0), {wanted[0], wanted[1]}, {}, "bilinear", false));
  }
  return cat(pictures);
}

std::string GeneralizedRCNNTransform::repr() const {
  const GeneralizedRCNNTransformOptions o = options();
  const PictureSize wanted = size();
  return dlprim::concat("GeneralizedRCNNTransform(\n    Normalize(mean=", list_repr(o.image_mean()),
                        ", std=", list_repr(o.image_std()), ")\n    Resize(min_size=(",
                        std::min(wanted[0], wanted[1]), ",), max_size=", std::max(wanted[0], wanted[1]),
                        ", mode='bilinear')\n)");
}

Tensor resize_boxes(const Tensor& boxes, const PictureSize& from, const PictureSize& to_size) {
  const auto ratio = [&](std::size_t axis) {
    return static_cast<float>(to_size[axis]) / static_cast<float>(from[axis]);
  };
  const std::vector<float> ratios{ratio(1), ratio(0), ratio(1), ratio(0)};
  return boxes * uploaded(ratios, {4}, boxes.dtype(), boxes.device());
}

Tensor BoxCoder::encode(const Tensor& boxes, const Tensor& references) const {
  const CenterSize of = centers_of(boxes), from = centers_of(references);
  return cat({(of.center - from.center) * center_weight / from.size, log(of.size / from.size) * size_weight},
             -1);
}

Tensor BoxCoder::decode(const Tensor& codes, const Tensor& references) const {
  static const double most = std::log(1000.0 / 16);  // of a size's logarithm, so that exp stays finite
  const CenterSize from = centers_of(references);
  const Tensor center = narrow(codes, -1, 0, 2) / center_weight * from.size + from.center;
  const Tensor half = exp(clamp_max(narrow(codes, -1, 2, 2) / size_weight, most)) * from.size * 0.5;
  return cat({center - half, center + half}, -1);
}

Tensor match_boxes(const Tensor& boxes, const Tensor& anchors, double threshold) {
  if (boxes.size(0) == 0) return full({anchors.size(0)}, -1, DType::int64, anchors.device());
  const Tensor quality = box_iou(boxes, anchors);
  const auto [best, match] = max(quality, 0);
  const Tensor matches = masked_fill(match, lt(best, threshold), -1);
  return index_copy(matches, 0, max(quality, 1).second, arange(0, boxes.size(0), 1, {}, anchors.device()));
}

}  // namespace ocl::models
