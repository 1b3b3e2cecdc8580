#pragma once

#include <filesystem>
#include <vector>

#include "nn/data/dataset.h"

namespace ocl::data {

/** Red, green and blue of every pixel, row by row. */
struct Image {
  static constexpr int channels = 3;
  int height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // height * width * channels

  Image() = default;
  /** Black. Throws ValueError for sizes that are not positive. */
  Image(int image_height, int image_width);
  const std::uint8_t* row(int y) const { return pixels.data() + std::ptrdiff_t{y} * width * channels; }
  std::uint8_t* row(int y) { return pixels.data() + std::ptrdiff_t{y} * width * channels; }
};

/** A JPEG, PNG, BMP, binary PPM or PGM, or GIF file (its first picture); grey becomes three equal channels,
 * transparency is dropped. Throws dlprim::FileError, which names the file and what is wrong with it. */
Image read_image(const std::filesystem::path& path);
/** False for a build without stb_image, whose read_image throws Error. */
bool can_read_images();

/** The part of that size whose corner is at (top, left); black where it reaches beyond the image. */
Image crop(const Image& image, int top, int left, int height, int width);
/** Left and right exchanged. */
Image flip_horizontal(const Image& image);
/** By Pillow's bilinear filter, bit for bit: shrinking averages over all pixels that fall together
 * (torchvision's default). Across first, then down; Pillow 13 turns that round for some sizes, and rounds
 * otherwise then. Throws ValueError for sizes that are not positive. */
Image resize(const Image& image, int height, int width);

/** Per channel: (x - mean) / std, of x from 0 to 1. */
struct Normalization {
  std::vector<float> mean, std;
  static Normalization none() { return {{0, 0, 0}, {1, 1, 1}}; }
  /** Mean and deviation of ImageNet's pictures, which torchvision's weights expect. */
  static Normalization imagenet() { return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}; }
};

/** float32 [3, height, width]: torchvision's ToTensor and Normalize. Throws ValueError unless mean and std
 * have three numbers each, those of std not 0. */
HostArray to_array(const Image& image, const Normalization& normalization = Normalization::none());

}  // namespace ocl::data
