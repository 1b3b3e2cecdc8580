// The C++ code of README.md and docs/ compiles and runs as it stands there (tests/extract_code.cmake cuts it
// out).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "nn/data/data_loader.h"
#include "nn/data/image_datasets.h"
#include "nn/data/transforms.h"
#include "nn/models/models.h"
#include "nn/nn.h"

namespace {

TEST(Documentation, ReadmeTrainsANet) {
  const ocl::Device before;
  const std::vector<std::pair<ocl::Tensor, ocl::Tensor>> batches(
      20, {ocl::randn({16, 784}), ocl::zeros({16}, ocl::DType::int64)});
#include "README_0.inc"
  const auto& [x, y] = batches.front();
  EXPECT_LT(functional::cross_entropy(model(x), y).item<float>(), 0.5F);
  ocl::set_default_device(before);
}

class DocumentationFolder : public testing::Test {
 protected:
  DocumentationFolder() : before_(std::filesystem::current_path()) {
    root_ = std::filesystem::temp_directory_path() / ("documentation_test." + std::to_string(::getpid()));
    std::filesystem::create_directories(root_ / "train" / "cat");
    std::filesystem::current_path(root_);
  }
  ~DocumentationFolder() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(root_);
  }
  std::filesystem::path root_, before_;
};

TEST_F(DocumentationFolder, LoadsPictures) {
  if (!ocl::data::can_read_images()) GTEST_SKIP() << "built without stb_image";
  std::string bytes("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0",
                    30);  // one pixel
  bytes.resize(54);
  std::ofstream("train/cat/one.bmp", std::ios::binary) << bytes << "abc" << '\0';
  int steps = 0;
  const auto step = [&](const ocl::Tensor& pictures, const ocl::Tensor& labels) {
    EXPECT_EQ(pictures.shape(), (ocl::Shape{1, 3, 224, 224}));
    EXPECT_EQ(labels.shape(), (ocl::Shape{1}));
    ++steps;
  };
#include "data_0.inc"
  EXPECT_EQ(steps, 1);
}

TEST(Documentation, ModelsAreMade) {
#include "models_0.inc"
  EXPECT_EQ(net->forward(ocl::randn({2, 3, 32, 32})).shape(), (ocl::Shape{2, 10}));
  EXPECT_EQ(same(ocl::randn({2, 3, 32, 32})).shape(), (ocl::Shape{2, 4}));
}

TEST(Documentation, Gpt2Generates) {
  const ocl::Tensor tokens = ocl::zeros({1, 4}, ocl::DType::int64);
#include "models_1.inc"
  EXPECT_EQ(longer.shape(), (ocl::Shape{1, 54}));
}

}  // namespace
