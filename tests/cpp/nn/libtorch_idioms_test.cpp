// Lines of programs for libtorch, with ocl:: in the place of torch::. The expected numbers are libtorch's.

#include <filesystem>

#include <unistd.h>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace testing_support;

namespace {

class LibtorchIdioms : public OnDevice {
 protected:
  LibtorchIdioms()
      : path_(std::filesystem::temp_directory_path() /
              ("libtorch_idioms." + std::to_string(::getpid()) + ".safetensors")) {}
  ~LibtorchIdioms() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_;
};

using Elements = std::vector<double>;

Elements elements(const ocl::Tensor& t) {
  return t.to_vector<double>();
}

void fill(ocl::TensorList parameters, double value) {
  for (ocl::Tensor& p : parameters) ocl::nn::init::constant_(p, value);
}

}  // namespace

TEST_F(LibtorchIdioms, Options) {
  const auto options = ocl::TensorOptions().dtype(ocl::kFloat64).requires_grad(true);
  const ocl::Tensor x = ocl::ones({2, 2}, options);
  EXPECT_TRUE(x.requires_grad() && x.dtype() == ocl::kFloat64);
  EXPECT_EQ(ocl::zeros({3}, ocl::dtype(ocl::kInt64)).dtype(), ocl::kInt64);
  EXPECT_EQ(ocl::zeros(3, ocl::dtype(ocl::kInt64)).sizes(), (ocl::Dims{3}));
  EXPECT_EQ(ocl::zeros({3}, x.options()).dtype(), ocl::kFloat64);
  EXPECT_FALSE(ocl::zeros({3}, x.options()).requires_grad());
  const ocl::Tensor w = ocl::tensor({1.0, 2.0, 3.0}, ocl::dtype(ocl::kFloat32).requires_grad(true));
  w.prod().backward();
  EXPECT_EQ(elements(w.grad()), (Elements{6, 3, 2}));
  EXPECT_EQ(elements(ocl::arange(0, 10, 2, ocl::dtype(ocl::kFloat32))), (Elements{0, 2, 4, 6, 8}));
  EXPECT_EQ(ocl::arange(4, ocl::requires_grad(false)).dtype(), ocl::kInt64);
  EXPECT_EQ(elements(ocl::eye(2, ocl::dtype(ocl::kFloat64))), (Elements{1, 0, 0, 1}));
  const double data[] = {1, 2};
  EXPECT_EQ(elements(ocl::from_blob(data, {2}, ocl::TensorOptions().dtype(ocl::kFloat64))), (Elements{1, 2}));
  const ocl::Tensor like = ocl::zeros_like(x, ocl::dtype(ocl::kFloat32).requires_grad(true));
  EXPECT_TRUE(like.requires_grad() && like.dtype() == ocl::kFloat32 && like.sizes() == x.sizes());
  EXPECT_EQ(ocl::full_like(x, 2, x.device()).dtype(), ocl::kFloat64);
  EXPECT_EQ(x.new_full({2}, 3).dtype(), ocl::kFloat64);
  EXPECT_EQ(x.new_zeros({2}, ocl::kInt32).dtype(), ocl::kInt32);
  EXPECT_EQ(x.to(ocl::dtype(ocl::kFloat16)).dtype(), ocl::kFloat16);
  EXPECT_EQ(ocl::randn({2}, x.device()).device(), x.device());
  EXPECT_EQ(ocl::randint(10, {5}, ocl::kInt32).dtype(), ocl::kInt32);
  EXPECT_EQ(x.nbytes(), 32);
  EXPECT_THROW(ocl::ones({2}, ocl::dtype(ocl::kInt64).requires_grad(true)), ocl::AutogradError);
}

TEST_F(LibtorchIdioms, WritesThroughConstHandles) {
  const ocl::Tensor x = ocl::ones({2}), y = ocl::ones({2});
  x.add_(y).mul_(3);
  EXPECT_EQ(elements(x), (Elements{6, 6}));
  x.zero_();
  x.fill_(4);
  x.copy_(y);
  EXPECT_EQ(elements(x), (Elements{1, 1}));
}

TEST_F(LibtorchIdioms, Modes) {
  const ocl::AutoGradMode off(false);
  EXPECT_FALSE(ocl::GradMode::is_enabled());
  {
    const ocl::AutoGradMode on(true);
    EXPECT_TRUE(ocl::GradMode::is_enabled());
    const ocl::InferenceMode inference;
    EXPECT_FALSE((ocl::ones({1}, ocl::requires_grad()) * 2).requires_grad());
  }
}

TEST_F(LibtorchIdioms, Modules) {
  ocl::nn::Linear fc(3, 2);
  ocl::nn::init::constant_(fc->weight, 0.5);
  ocl::nn::init::zeros_(fc->bias);
  EXPECT_EQ(elements(fc->forward(ocl::ones({1, 3}))), (Elements{1.5, 1.5}));
  ocl::nn::Sequential net(ocl::nn::Linear(2, 3), ocl::nn::ReLU(), ocl::nn::Linear(3, 1));
  fill(net->parameters(), 0.1);
  EXPECT_NEAR(net->forward(ocl::ones({1, 2})).item(), 0.19, 1e-6);
  ocl::nn::Sequential named({{"fc", ocl::nn::Linear(2, 2)}, {"act", ocl::nn::Tanh()}});
  named->push_back("out", ocl::nn::Linear(2, 1));
  EXPECT_EQ(named.named_children()[2].first, "out");
  EXPECT_TRUE(named[1]->as<ocl::nn::Tanh>() && !named[1]->as<ocl::nn::ReLU>());
  ocl::nn::Sequential functions(ocl::nn::Functional(ocl::relu),
                                ocl::nn::Functional([](const ocl::Tensor& x) { return x * 2; }));
  EXPECT_EQ(elements(functions(ocl::tensor({-1.F, 2.F}))), (Elements{0, 4}));
  ocl::nn::Sequential of_two(ocl::nn::Bilinear(2, 2, 1), ocl::nn::ReLU());
  fill(of_two->parameters(), 0.1);
  EXPECT_NEAR(of_two->forward(ocl::ones({1, 2}), ocl::ones({1, 2})).item(), 0.5, 1e-6);
  EXPECT_THROW(ocl::nn::Sequential()->forward(ocl::ones({1}), ocl::ones({1})), ocl::IndexError);
}

TEST_F(LibtorchIdioms, AModuleOfYourOwn) {
  struct Net : ocl::nn::Module {
    Net() {
      fc = register_module("fc", ocl::nn::Linear(2, 1));
      scale = register_parameter("scale", ocl::ones({1}));
    }
    ocl::Tensor forward(const ocl::Tensor& x) override { return ocl::relu(fc->forward(x)) * scale; }
    ocl::nn::Child<ocl::nn::Linear> fc{nullptr};
    ocl::Tensor scale;
  };
  Net net;
  fill(net.parameters(), 0.5);
  EXPECT_EQ(net.forward(ocl::ones({1, 2})).item(), 0.75F);
  EXPECT_EQ(net.named_parameters().size(), 3U);
}

TEST_F(LibtorchIdioms, Files) {
  const ocl::Tensor x = ocl::arange(4.0);
  ocl::save(x, path_);
  ocl::Tensor y;
  ocl::load(y, path_);
  EXPECT_TRUE(x.equal(y));
  ocl::save(ocl::TensorList{x, x + 1}, path_);
  ocl::TensorList several;
  ocl::load(several, path_);
  EXPECT_EQ(several.size(), 2U);
  EXPECT_EQ(elements(several.at(1)), (Elements{1, 2, 3, 4}));
  EXPECT_THROW(ocl::load(y, path_), ocl::ValueError);
  ocl::nn::Linear a(2, 1), b(2, 1);
  ocl::save(a, path_);
  ocl::load(b, path_);
  EXPECT_TRUE(a->weight.equal(b->weight) && a->bias.equal(b->bias));
  EXPECT_THROW(ocl::load(several, path_), ocl::ValueError);
}

TEST_F(LibtorchIdioms, ParametersAsAVector) {
  ocl::nn::Linear fc(2, 1);
  const ocl::Tensor vector = ocl::nn::utils::parameters_to_vector(fc->parameters());
  EXPECT_EQ(vector.numel(), 3);
  ocl::nn::utils::vector_to_parameters(ocl::ones_like(vector), fc->parameters());
  EXPECT_EQ(elements(fc->weight), (Elements{1, 1}));
  EXPECT_THROW(ocl::nn::utils::vector_to_parameters(ocl::ones({4}), fc->parameters()), ocl::ValueError);
}

TEST_F(LibtorchIdioms, LayersThatDrop) {
  const ocl::Tensor x = ocl::randn({64, 8, 2, 2, 2});
  ocl::nn::AlphaDropout alpha(0.3);
  const ocl::Tensor y = alpha(x);
  EXPECT_NEAR(y.mean().item<double>(), 0, 0.1);
  EXPECT_NEAR(y.std().item<double>(), 1, 0.1);
  EXPECT_FALSE(y.equal(x));
  const ocl::Tensor by_channel = ocl::nn::FeatureAlphaDropout(0.5)(ocl::zeros({4, 8, 5}));
  EXPECT_TRUE(by_channel.amax(2).equal(by_channel.amin(2)));
  const ocl::Tensor dropped = ocl::nn::Dropout3d(0.5)(ocl::ones_like(x));
  EXPECT_TRUE(dropped.amax({2, 3, 4}).equal(dropped.amin({2, 3, 4})));
  EXPECT_TRUE(((dropped == 0) | (dropped == 2)).all().item<bool>());
  alpha.eval();
  EXPECT_TRUE(alpha(x).equal(x));
  EXPECT_THROW(ocl::nn::AlphaDropout(1.5), ocl::ValueError);
}

TEST_F(LibtorchIdioms, OtherLayers) {
  const ocl::Tensor x = ocl::arange(4.0).view({1, 1, 2, 2});
  EXPECT_EQ(elements(ocl::nn::ConstantPad2d(ocl::nn::ConstantPad2dOptions({1, 0, 0, 1}, 7))(x)),
            (Elements{7, 0, 1, 7, 2, 3, 7, 7, 7}));
  const ocl::Tensor a = ocl::tensor({{1.F, 2.F}}), p = ocl::tensor({{1.F, 3.F}}),
                    n = ocl::tensor({{2.F, 2.F}});
  ocl::nn::TripletMarginWithDistanceLoss loss(
      ocl::nn::TripletMarginWithDistanceLossOptions().distance_function(
          [](const ocl::Tensor& u, const ocl::Tensor& v) { return (u - v).abs().sum(1) * 2; }));
  EXPECT_EQ(loss.forward(a, p, n).item(), 1.F);
  const ocl::Tensor image = ocl::randn({1, 4, 3, 3});
  EXPECT_TRUE(ocl::nn::CrossMapLRN2d(2)(image).equal(ocl::nn::LocalResponseNorm(2)(image)));
}
