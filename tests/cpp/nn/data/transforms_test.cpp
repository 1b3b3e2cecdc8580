#include "nn/data/transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "dlprim/core/error.h"

namespace {

namespace transforms = ocl::data::transforms;
using ocl::data::Image;
using ocl::data::Random;

/** Every pixel tells where it stands: red its row, green its column. */
Image places(int height, int width) {
  Image image(height, width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      image.row(y)[x * 3] = static_cast<std::uint8_t>(y + 1);
      image.row(y)[x * 3 + 1] = static_cast<std::uint8_t>(x + 1);
    }
  return image;
}

std::pair<int, int> size_of(const Image& image) {
  return {image.height, image.width};
}

TEST(Transforms, ResizeKeepsProportions) {
  Random random{1};
  EXPECT_EQ(size_of(transforms::resize(10)(Image(40, 33), random)), std::pair(12, 10));
  EXPECT_EQ(size_of(transforms::resize(50)(Image(33, 40), random)), std::pair(50, 60));
  EXPECT_EQ(size_of(transforms::resize(7)(Image(7, 7), random)), std::pair(7, 7));
}

TEST(Transforms, CenterCropTakesTorchvisionsMiddle) {
  Random random{1};
  // torchvision's corners: round(odd / 2) to even, and floor(odd / 2) of black before an image too small.
  EXPECT_EQ(transforms::center_crop(4, 4)(places(7, 9), random).row(0)[0], 2 + 1);
  EXPECT_EQ(transforms::center_crop(4, 4)(places(7, 9), random).row(0)[1], 2 + 1);
  EXPECT_EQ(transforms::center_crop(4, 4)(places(9, 5), random).row(0)[1], 0 + 1);
  const Image wide = transforms::center_crop(3, 8)(places(3, 5), random);
  EXPECT_EQ(wide.row(0)[0 * 3 + 1], 0);
  EXPECT_EQ(wide.row(0)[1 * 3 + 1], 1);
  EXPECT_EQ(wide.row(0)[5 * 3 + 1], 5);
  EXPECT_EQ(wide.row(0)[6 * 3 + 1], 0);
}

TEST(Transforms, RandomCropReachesEveryPlace) {
  Random random{3};
  std::set<std::pair<int, int>> corners;
  const auto crop = transforms::random_crop(transforms::RandomCropOptions(4, 5).padding(1));
  for (int i = 0; i < 400; ++i) {
    const Image part = crop(places(4, 6), random);
    ASSERT_EQ(size_of(part), std::pair(4, 5));
    corners.emplace(part.row(1)[3], part.row(1)[4]);  // row and column of the second pixel of the second row
  }
  EXPECT_EQ(corners.size(), 3U * 4U);
  EXPECT_THROW(crop(Image(1, 9), random), dlprim::ValueError);
}

TEST(Transforms, RandomResizedCropStaysInItsRanges) {
  Random random{4};
  const auto crop =
      transforms::random_resized_crop(transforms::RandomResizedCropOptions(200).scale({0.2, 0.5}));
  double smallest = 1, largest = 0;
  for (int i = 0; i < 200; ++i) {
    const Image part = crop(places(90, 120), random);
    ASSERT_EQ(size_of(part), std::pair(200, 200));
    const double height = part.row(199)[0] - part.row(0)[0] + 1,
                 width = part.row(0)[199 * 3 + 1] - part.row(0)[1] + 1;
    const double share = height * width / (90 * 120), ratio = width / height;
    EXPECT_GT(ratio, 0.72);
    EXPECT_LT(ratio, 1.39);
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
  }
  EXPECT_NEAR(smallest, 0.2, 0.03);
  EXPECT_NEAR(largest, 0.5, 0.03);
  // No part of the asked proportions: the largest one in the middle.
  const auto tall =
      transforms::random_resized_crop(transforms::RandomResizedCropOptions(8).scale({1, 1}).ratio({4, 5}));
  EXPECT_EQ(size_of(tall(places(30, 10), random)), std::pair(8, 8));
  EXPECT_THROW(transforms::random_resized_crop(transforms::RandomResizedCropOptions(8).scale({1, 0})),
               dlprim::ValueError);
}

TEST(Transforms, FlipsAsOftenAsAsked) {
  Random random{5};
  int flipped = 0;
  const auto flip = transforms::compose({transforms::resize(3), transforms::random_horizontal_flip(0.25)});
  for (int i = 0; i < 2000; ++i) flipped += flip(places(3, 3), random).row(0)[1] == 3;
  EXPECT_NEAR(flipped / 2000.0, 0.25, 0.04);
  EXPECT_THROW(transforms::random_horizontal_flip(1.5), dlprim::ValueError);
}

TEST(Transforms, GrayscaleIsPillows) {
  Image image(1, 4);
  image.pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 200, 31};
  Random random{1};
  // PIL.Image.convert("L")
  const std::vector<std::uint8_t> expected{76, 76, 76, 150, 150, 150, 29, 29, 29, 124, 124, 124};
  EXPECT_EQ(transforms::grayscale()(image, random).pixels, expected);
}

TEST(Random, IsFairAndTheSameEverywhere) {
  Random random{7};
  std::vector<int> counts(5);
  for (int i = 0; i < 5000; ++i) ++counts[random.integer(5)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
  Random first{1, 2}, again{1, 2}, other{2, 1};
  EXPECT_EQ(first.integer(1U << 30), again.integer(1U << 30));
  EXPECT_NE(first.uniform(), other.uniform());
  EXPECT_EQ(Random{0}.integer(1000000), 538995U);  // by the standard, on every platform
}

}  // namespace
