// The C++ code of README.md and docs/ compiles and runs as it stands there (tests/extract_code.cmake cuts it
// out).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "autograd/export.h"
#include "dlprim/dlprim.h"
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

TEST(Documentation, ADatasetOfYourOwnIsLoaded) {
  int steps = 0;
  const auto step = [&](const ocl::Tensor& bits, const ocl::Tensor& labels) {
    EXPECT_EQ(bits.shape(), (ocl::Shape{64, 10}));
    EXPECT_TRUE(labels.equal(ocl::remainder(bits.sum(1), 2).to(ocl::kInt64)));
    ++steps;
  };
#include "data_1.inc"
  EXPECT_EQ(steps, 4);
}

TEST_F(DocumentationFolder, DlprimRunsAProgram) {
  const auto net = ocl::models::create_model("resnet18", ocl::models::ModelOptions());
  net->eval();
  const ocl::Tensor x = ocl::zeros({1, 3, 224, 224});
  ocl::Tensor expected;
  {
    const ocl::NoGradGuard no_grad;
    const auto work = [&] { return ocl::NamedTensors{{"output", net->forward(x)}}; };
    dlprim::save_program(ocl::export_program(work, {{"x", x}}), "resnet18.ocl");
    expected = net->forward(x);
  }
#include "deploy_0.inc"
  EXPECT_EQ(scores, expected.to_vector());
}

TEST_F(DocumentationFolder, LibtorchsUsersFindTheirCalls) {
#include "cpp_0.inc"
  EXPECT_EQ(z.sizes(), (ocl::Dims{2, 3}));
  EXPECT_EQ(s.sizes(), (ocl::Dims{2}));
  EXPECT_EQ(b.to_vector(), host);
  EXPECT_EQ(n.to_vector(), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(largest.dim() + places.dim(), 2);
  EXPECT_EQ(either.dtype(), ocl::kBool);
  EXPECT_EQ(half.dtype(), ocl::kFloat16);
  EXPECT_EQ(elements, x.to_vector());
  EXPECT_EQ(number, x.max().item<float>());
#include "cpp_1.inc"
  EXPECT_EQ(row.sizes(), (ocl::Dims{4}));
  EXPECT_EQ(part.sizes(), (ocl::Dims{1, 3, 2}));
  EXPECT_EQ(last.sizes(), (ocl::Dims{2, 3}));
  EXPECT_EQ(chosen.numel(), 18);
  EXPECT_EQ(t[0].to_vector(), (std::vector<float>{0, 0, 2, 3, 1, 1, 1, 1, 8, 0, 10, 11}));
#include "cpp_2.inc"
  EXPECT_TRUE(ocl::allclose(w, 0.8 * grads[0] / 2));
#include "cpp_3.inc"
  EXPECT_TRUE(ocl::allclose(w.grad(), grads[0] + 3 * w * w));
#include "cpp_4.inc"
  EXPECT_EQ(y.sizes(), (ocl::Dims{1, 4, 2, 2}));
#include "cpp_5.inc"
  EXPECT_EQ(layers(x).sizes(), (ocl::Dims{2, 8}));
  EXPECT_TRUE(weight.equal(net.out->weight));
  EXPECT_EQ(optimizer.state(net.out->weight).numbers.at("step"), 1);
  EXPECT_EQ(TutorialNet().forward(x).sizes(), (ocl::Dims{2, 2}));
#include "cpp_6.inc"
  EXPECT_EQ(loader->begin()->data.sizes(), (ocl::Dims{4, 2}));
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
