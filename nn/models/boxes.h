#pragma once

#include "autograd/tensor/tensor.h"
#include "nn/layer.h"

/** \file What nets of detection do with boxes, as torchvision.models.detection. Boxes are [..., 4] (x1, y1,
 * x2, y2), places on the net's own picture unless said otherwise. */
namespace ocl::models {

using namespace nn;

/** Height and width. */
using PictureSize = std::array<std::int64_t, 2>;

struct DefaultBoxGeneratorOptions {
  DefaultBoxGeneratorOptions(std::vector<std::vector<std::int64_t>> aspect_ratios = {})
      : aspect_ratios_(std::move(aspect_ratios)) {}
  /** For each feature map, beside 1. */
  OPTION(std::vector<std::vector<std::int64_t>>, aspect_ratios);
  /** The size of the first and the last map's boxes relative to the picture, where there are no scales. */
  OPTION(double, min_ratio) = 0.15;
  OPTION(double, max_ratio) = 0.9;
  /** The size of each map's boxes relative to the picture, and one more. */
  OPTION(std::optional<std::vector<double>>, scales) = std::nullopt;
  /** For each map, in elements of the picture; none: they follow from the sizes. */
  OPTION(std::optional<std::vector<std::int64_t>>, steps) = std::nullopt;
  /** Whether widths and heights are held at the picture's. */
  OPTION(bool, clip) = true;
  OPTION_LIST(1, aspect_ratios_, min_ratio_, max_ratio_, scales_, steps_, clip_)
};
/** torchvision's DefaultBoxGenerator: the boxes that SSD starts from ("SSD: Single Shot MultiBox Detector",
 * Liu et al. 2016). Throws ValueError for fewer scales, or steps of another number. */
class DefaultBoxGenerator : public Layer<DefaultBoxGenerator, DefaultBoxGeneratorOptions> {
 public:
  explicit DefaultBoxGenerator(const DefaultBoxGeneratorOptions& options = {});
  /** So many boxes stand at a place of each map. */
  std::vector<std::int64_t> num_anchors_per_location() const;
  /** The boxes [boxes, 4] of all places of maps of those sizes. Throws ValueError for another number of
   * maps. */
  Tensor boxes(const std::vector<PictureSize>& maps, const PictureSize& picture, DType dtype,
               const Device& device) const;
  std::string repr() const override;

 private:
  std::vector<double> scales() const;
};

struct GeneralizedRCNNTransformOptions {
  OPTION(std::vector<std::int64_t>, fixed_size) { 320, 320 };
  OPTION(std::vector<double>, image_mean) { 0.5, 0.5, 0.5 };
  OPTION(std::vector<double>, image_std) { 0.5, 0.5, 0.5 };
  OPTION_LIST(0, fixed_size_, image_mean_, image_std_)
};
/** torchvision's GeneralizedRCNNTransform with a fixed size (width, height): makes a batch of pictures. */
class GeneralizedRCNNTransform : public Layer<GeneralizedRCNNTransform, GeneralizedRCNNTransformOptions> {
 public:
  using Layer::Layer;
  /** [N, C, height, width] of pictures [C, H, W] of any sizes: less the mean, over the deviation, resized.
   * Throws ValueError, TypeError for other tensors. */
  Tensor batch(const TensorList& images) const;
  PictureSize size() const;
  std::string repr() const override;
};
/** Boxes on a picture of size `from` as boxes on one of size `to`. */
Tensor resize_boxes(const Tensor& boxes, const PictureSize& from, const PictureSize& to);

/** torchvision's BoxCoder: boxes as what is to be added to reference boxes, over these weights. */
struct BoxCoder {
  double center_weight = 10, size_weight = 5;

  /** [..., 4] of boxes and reference boxes that broadcast. */
  Tensor encode(const Tensor& boxes, const Tensor& references) const;
  Tensor decode(const Tensor& codes, const Tensor& references) const;
};

/**
 * torchvision's SSDMatcher. The result, int64 [A], names for each of `anchors` [A, 4] one of the true boxes
 * [M, 4]. It is the one that the anchor overlaps with most, where that is at least `threshold`, else -1. For
 * each true box it also names the anchor that overlaps with it most.
 */
Tensor match_boxes(const Tensor& boxes, const Tensor& anchors, double threshold);

}  // namespace ocl::models
