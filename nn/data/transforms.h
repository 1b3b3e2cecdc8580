#pragma once

#include <functional>
#include <utility>

#include "nn/data/image.h"
#include "nn/options.h"

/**
 * \file What changes pictures before a net sees them, by torchvision's names and rules. The numbers drawn are
 * not torchvision's.
 */
namespace ocl::data::transforms {

using Transform = std::function<Image(const Image&, Random&)>;

/** One after the other. */
Transform compose(std::vector<Transform> transforms);

/** The shorter side gets `size` pixels, the other as many as keep the proportions. */
Transform resize(int size);
/** The middle; black where the image is smaller. */
Transform center_crop(int height, int width);

struct RandomCropOptions {
  RandomCropOptions(int height, int width) : height_(height), width_(width) {}
  OPTION(int, height);
  OPTION(int, width);
  OPTION(int, padding) = 0;  // black pixels on every side first
};
/** A part anywhere. The transform throws ValueError for images that are smaller. */
Transform random_crop(const RandomCropOptions& options);

struct RandomResizedCropOptions {
  explicit RandomResizedCropOptions(int side) : height_(side), width_(side) {}
  OPTION(int, height);
  OPTION(int, width);
  using Range = std::pair<double, double>;
  OPTION(Range, scale) = { 0.08, 1.0 };             // of the image's area
  OPTION(Range, ratio) = { 3.0 / 4.0, 4.0 / 3.0 };  // width / height
};
/** A part of random area and proportions, resized (the Inception paper's crop, arXiv 1409.4842). */
Transform random_resized_crop(const RandomResizedCropOptions& options);

/** Mirrored with probability p. */
Transform random_horizontal_flip(double p = 0.5);

/** Three equal channels, of the brightness that Pillow gives a pixel. */
Transform grayscale();

}  // namespace ocl::data::transforms
