#include "nn/data/image.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "dlprim/core/error.h"
#include "tests/cpp/support/messages.h"

namespace {

namespace fs = std::filesystem;
using ocl::data::Image;

Image drawn(int height, int width) {
  Image image(height, width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < Image::channels; ++c)
        image.row(y)[x * Image::channels + c] =
            static_cast<std::uint8_t>((y * 37 + x * 91 + c * 53 + x * y % 17 * 11) % 256);
  return image;
}

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211U;
  return hash;
}

class ImageFile : public testing::Test {
 protected:
  ImageFile() : path_(fs::temp_directory_path() / ("image_test." + std::to_string(::getpid()))) {}
  ~ImageFile() override { fs::remove(path_); }
  void SetUp() override {
    if (!ocl::data::can_read_images()) GTEST_SKIP() << "built without stb_image";
  }

  const fs::path& with(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return path_;
  }

  fs::path path_;
};

TEST(Resize, GivesPillowsBytes) {
  EXPECT_EQ(ocl::data::resize(drawn(7, 9), 3, 2).pixels,
            (std::vector<std::uint8_t>{115, 141, 130, 133, 126, 143, 133, 128, 129, 125, 119, 132, 132, 120,
                                       125, 110, 118, 133}));
  // Image.fromarray(drawn).resize((new_width, new_height), Image.BILINEAR) of Pillow, across first.
  struct Case {
    int height, width, new_height, new_width;
    std::uint64_t hash;
  };
  for (const Case& c : {Case{7, 9, 4, 5, 3498038124780986382U},
                        {7, 9, 13, 6, 1855116380836544816U},
                        {7, 9, 1, 1, 10702494561277927219U},
                        {7, 9, 7, 3, 3764577054953143360U},
                        {7, 9, 20, 9, 7420927244309996658U},
                        {64, 48, 11, 17, 5096636752866642941U},
                        {33, 100, 50, 37, 2978162357670373020U},
                        {1, 1, 3, 4, 14778490441401575057U},
                        {200, 3, 5, 300, 8145063428610747018U}}) {
    const Image resized = ocl::data::resize(drawn(c.height, c.width), c.new_height, c.new_width);
    EXPECT_EQ(fnv1a(resized.pixels), c.hash)
        << c.height << " x " << c.width << " to " << c.new_height << " x " << c.new_width;
  }
  EXPECT_EQ(ocl::data::resize(drawn(7, 9), 7, 9).pixels, drawn(7, 9).pixels);
  EXPECT_THROW(ocl::data::resize(drawn(7, 9), 0, 3), dlprim::ValueError);
}

TEST(Crop, IsBlackBeyondTheImage) {
  const Image image = drawn(4, 5);
  for (const auto& [top, left, height, width] :
       {std::array{1, 2, 2, 2}, std::array{-2, -1, 8, 9}, std::array{3, 4, 5, 5}, std::array{9, 9, 2, 2},
        std::array{-5, 0, 3, 3}}) {
    const Image part = ocl::data::crop(image, top, left, height, width);
    ASSERT_EQ(part.height, height);
    ASSERT_EQ(part.width, width);
    for (int y = 0; y < height; ++y)
      for (int i = 0; i < width * Image::channels; ++i) {
        const int from_y = y + top, from = i + left * Image::channels;
        const bool inside = from_y >= 0 && from_y < 4 && from >= 0 && from < 5 * Image::channels;
        EXPECT_EQ(part.row(y)[i], inside ? image.row(from_y)[from] : 0);
      }
  }
}

TEST(FlipHorizontal, TurnsRowsRound) {
  const Image image = drawn(3, 4), flipped = ocl::data::flip_horizontal(image);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      for (int c = 0; c < Image::channels; ++c)
        EXPECT_EQ(flipped.row(y)[x * 3 + c], image.row(y)[(3 - x) * 3 + c]);
}

TEST(ToArray, IsChannelsFirstAndNormalised) {
  const Image image = drawn(2, 3);
  const auto array = ocl::data::to_array(image, ocl::data::Normalization::imagenet());
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{3, 2, 3}));
  const auto* values = reinterpret_cast<const float*>(array.bytes.data());
  const auto& [mean, std] = ocl::data::Normalization::imagenet();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(values[c * 6 + i], (static_cast<float>(image.pixels[i * 3 + c]) / 255 - mean[c]) / std[c]);
  EXPECT_THROW(ocl::data::to_array(image, {{0, 0, 0}, {1, 0, 1}}), dlprim::ValueError);
  EXPECT_THROW(ocl::data::to_array(image, {{0}, {1}}), dlprim::ValueError);
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// 8 x 8 pixels of grey 77.
const std::string& grey_jpeg = *new std::string(from_hex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300020101010101020101010202020202040302020202050404030406"
    "0506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affc0000b080008000801011100ffc4"
    "0014000100000000000000000000000000000008ffc40014100100000000000000000000000000000000ffda0008010100003f00"
    "19bfffd9"));
// Red, green, transparent blue and (10, 20, 30).
const std::string& png = *new std::string(
    from_hex("89504e470d0a1a0a0000000d494844520000000200000002080600000072b60d240000001a4944415478da63f8cfc0f"
             "09fe13f43030303c37f062e11b9ff00378005b8a0baca200000000049454e44ae426082"));

TEST_F(ImageFile, HoldsColoursGreysOrTransparency) {
  EXPECT_EQ(ocl::data::read_image(with(png)).pixels,
            (std::vector<std::uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}));
  const Image grey = ocl::data::read_image(with(grey_jpeg));
  EXPECT_EQ(grey.height, 8);
  EXPECT_EQ(grey.width, 8);
  EXPECT_EQ(grey.pixels, std::vector<std::uint8_t>(8 * 8 * 3, 77));
}

TEST_F(ImageFile, ErrorsNameTheFile) {
  for (const std::string& content : {std::string(), std::string("no picture"), png.substr(0, 50),
                                     grey_jpeg.substr(0, grey_jpeg.size() - 4)}) {
    const fs::path path = with(content);
    testing_support::expect_error<dlprim::FileError>([&] { ocl::data::read_image(path); }, path.string());
  }
  EXPECT_THROW(ocl::data::read_image("/nowhere/at.png"), dlprim::FileError);
  EXPECT_THROW(ocl::data::read_image("/tmp"), dlprim::FileError);
}

}  // namespace
