#include "nn/data/image_datasets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "dlprim/core/error.h"

namespace {

namespace fs = std::filesystem;
using ocl::data::Random;
using ocl::data::Sample;

const float* floats(const ocl::data::HostArray& array) {
  return reinterpret_cast<const float*>(array.bytes.data());
}
std::int64_t label_of(const Sample& sample) {
  EXPECT_TRUE(sample[1].shape.empty());
  return *reinterpret_cast<const std::int64_t*>(sample[1].bytes.data());
}

class Folder : public testing::Test {
 protected:
  Folder() : root_(fs::temp_directory_path() / ("image_datasets_test." + std::to_string(::getpid()))) {
    fs::create_directories(root_);
  }
  ~Folder() override { fs::remove_all(root_); }
  void SetUp() override {
    if (!ocl::data::can_read_images()) GTEST_SKIP() << "built without stb_image";
  }
  void write(const std::string& name, char red) {
    fs::create_directories((root_ / name).parent_path());
    // A BMP file of one pixel.
    std::string bytes("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0", 30);
    bytes.resize(54);
    std::ofstream(root_ / name, std::ios::binary) << bytes << "\x03\x02" << red << '\0';
  }
  fs::path root_;
};

TEST_F(Folder, HoldsAClassInEachFolder) {
  write("b/z.bmp", 1);
  write("a/y/deep.BMP", 2);
  write("a/x.bmp", 3);
  write("a/notes.txt", 4);
  write("top.bmp", 5);
  std::ofstream(root_ / "a" / "0.webp") << "what stb does not read is left out";
  const ocl::data::ImageFolder folder(root_);
  EXPECT_EQ(folder.classes(), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(folder.size(), 3U);
  const std::pair<int, std::int64_t> expected[] = {{3, 0}, {2, 0}, {1, 1}};
  for (std::size_t i = 0; i < 3; ++i) {
    Random random{0};
    const Sample sample = folder.get(i, random);
    EXPECT_EQ(sample[0].shape, (std::vector<std::int64_t>{3, 1, 1}));
    EXPECT_EQ(floats(sample[0])[0], static_cast<float>(expected[i].first) / 255);
    EXPECT_EQ(label_of(sample), expected[i].second);
  }
  const ocl::data::ImageFolder grown(root_, ocl::data::transforms::resize(4),
                                     ocl::data::Normalization::imagenet());
  Random random{0};
  EXPECT_EQ(grown.get(0, random)[0].shape, (std::vector<std::int64_t>{3, 4, 4}));
}

TEST_F(Folder, ErrorsSayWhatIsMissing) {
  EXPECT_THROW(ocl::data::ImageFolder(root_ / "nowhere"), dlprim::FileError);
  EXPECT_THROW(ocl::data::ImageFolder{root_}, dlprim::FileError);
  write("a/x.bmp", 1);
  fs::create_directories(root_ / "b");
  EXPECT_THROW(ocl::data::ImageFolder{root_}, dlprim::FileError);
}

TEST(IdxImages, AreNormalised) {
  const ocl::data::IdxImages images({{2, 1, 2}, {0, 255, 51, 102}}, {{2}, {7, 3}}, 0.5F, 0.25F);
  Random random{0};
  const Sample sample = images.get(1, random);
  EXPECT_EQ(sample[0].shape, (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(floats(sample[0])[0], (51.0F / 255 - 0.5F) / 0.25F);
  EXPECT_EQ(label_of(sample), 3);
  EXPECT_THROW(ocl::data::IdxImages({{2, 1, 1}, {0, 1}}, {{3}, {0, 1, 2}}), dlprim::ValueError);
}

TEST(FakeImages, AreTheSameForTheSameNumber) {
  const ocl::data::FakeImages fake(50, 3, 8, 4, 1), other(50, 3, 8, 4, 2);
  std::vector<int> labels(4);
  for (std::size_t i = 0; i < fake.size(); ++i) {
    Random one{1}, two{2};
    const Sample first = fake.get(i, one), again = fake.get(i, two);
    EXPECT_EQ(first[0].bytes, again[0].bytes);
    EXPECT_NE(first[0].bytes, other.get(i, one)[0].bytes);
    ++labels[static_cast<std::size_t>(label_of(first))];
  }
  for (const int count : labels) EXPECT_GT(count, 3);
  EXPECT_THROW(ocl::data::FakeImages(5, 3, 8, 0), dlprim::ValueError);
}

}  // namespace
