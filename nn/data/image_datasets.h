#pragma once

#include <cmath>
#include <string>

#include "nn/data/idx.h"
#include "nn/data/transforms.h"

namespace ocl::data {

/** Pictures in one folder for each class, root/class/….jpg (torchvision.datasets.ImageFolder): samples are
 * {float32 [3, height, width], int64 []}, classes count from 0 by name. Files of other names than
 * read_image's
 * (.jpg, .jpeg, .png, .ppm, .bmp, .pgm) are left out; torchvision takes TIFF and WebP too. */
class ImageFolder : public Dataset {
 public:
  /** Throws dlprim::FileError where there is no folder, or a class without pictures. */
  explicit ImageFolder(const std::filesystem::path& root, transforms::Transform transform = {},
                       Normalization normalization = Normalization::none());
  std::size_t size() const override { return samples_.size(); }
  /** Throws dlprim::FileError for a file that is no picture. */
  Sample get(std::size_t index, Random& random) const override;

  const std::vector<std::string>& classes() const { return classes_; }
  /** Files and their classes, in order. */
  const std::vector<std::pair<std::filesystem::path, std::int64_t>>& samples() const { return samples_; }

 private:
  transforms::Transform transform_;
  Normalization normalization_;
  std::vector<std::string> classes_;
  std::vector<std::pair<std::filesystem::path, std::int64_t>> samples_;
};

/** Images and labels of IDX files in memory: {float32 [1, rows, columns], int64 []}. */
class IdxImages : public Dataset {
 public:
  /** `mean`, `std`: of values from 0 to 1. Throws ValueError unless there is one label for each image. */
  IdxImages(IdxArray images, IdxArray labels, float mean = 0, float std = 1);
  std::size_t size() const override { return labels_.values.size(); }
  Sample get(std::size_t index, Random& random) const override;

 private:
  IdxArray images_, labels_;
  float mean_, std_;
};

/** Noise around a pattern of each class, which a net can learn: {float32 [channels, side, side], int64 []}.
 * Drawn anew from `seed` and the number of the sample whenever one is asked for. */
class FakeImages : public Dataset {
 public:
  FakeImages(std::size_t size, std::int64_t channels, std::int64_t side, std::int64_t classes,
             std::uint64_t seed = 0);
  std::size_t size() const override { return size_; }
  Sample get(std::size_t index, Random& random) const override;

 private:
  std::size_t size_;
  std::int64_t channels_, side_, classes_;
  std::uint64_t seed_;
};

}  // namespace ocl::data
