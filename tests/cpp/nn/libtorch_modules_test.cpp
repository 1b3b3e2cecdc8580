// Calls that a program written for libtorch makes on modules, files and optimizers.

#include <filesystem>

#include <unistd.h>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl::nn;
using namespace testing_support;

namespace {

class LibtorchModules : public OnDevice {};

}  // namespace

TEST_F(LibtorchModules, ASequentialTakesModulesThemselves) {
  Sequential net(Linear(4, 8), ReLU(), LayerNorm(8), make<Linear>(8, 2), Softmax(1));
  EXPECT_EQ(net.size(), 5U);
  const ocl::Tensor x = ocl::randn({3, 4}), y = net(x);
  EXPECT_EQ(y.sizes(), (ocl::Dims{3, 2}));
  EXPECT_TRUE(ocl::allclose(y.sum(1), ocl::ones(3)));
  const ocl::StateDict state = net.state_dict();
  ocl::Tensor z = (x.matmul(state["0.weight"].t()) + state["0.bias"]).relu();
  z = (z - z.mean(1, true)) / (z.var(1, false).unsqueeze(1) + 1e-5).sqrt();
  z = (z.matmul(state["3.weight"].t()) + state["3.bias"]).softmax(1);
  EXPECT_TRUE(ocl::allclose(y, z, 1e-4, 1e-6));
  y[0][0].backward();
  EXPECT_TRUE(net.get_parameter("0.weight").grad().defined());
  // A copy keeps the numbers of the module that was given, and its mode.
  Linear given(2, 2);
  given.eval();
  const ocl::Tensor weight = given.weight.detach().clone();
  Sequential one(std::move(given));
  EXPECT_TRUE(one.at(0)->own_parameter("weight")->equal(weight));
  EXPECT_FALSE(one.at(0)->is_training());
  ModuleList list(Linear(1, 2), Linear(2, 3));
  EXPECT_EQ(list.size(), 2U);
}

TEST_F(LibtorchModules, NormsTakeOneNumber) {
  const ocl::Tensor x = ocl::randn({2, 5});
  EXPECT_TRUE(LayerNorm(5)(x).equal(LayerNorm(LayerNormOptions({5}))(x)));
  EXPECT_TRUE(RMSNorm(5)(x).equal(ocl::rms_norm(x, {5})));
  EXPECT_EQ(make<LayerNorm>(7)->options().normalized_shape(), (std::vector<std::int64_t>{7}));
  EXPECT_THROW(LayerNorm(6)(x), ocl::ValueError);
}

TEST_F(LibtorchModules, AFileHasItsTensorsByName) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("libtorch_modules." + std::to_string(::getpid()) + ".safetensors");
  Linear linear(3, 2);
  ocl::save(linear.state_dict(), path);
  EXPECT_TRUE(ocl::load(path)["weight"].equal(linear.weight));
  const ocl::StateDict state = ocl::load(path);
  EXPECT_TRUE(state.contains("bias") && !state.contains("scale"));
  expect_error<ocl::ValueError>([&] { state["scale"]; }, "none named 'scale'");
  std::filesystem::remove(path);
}

namespace {

/** Steps of an optimizer with a gradient that depends on the parameter. */
void steps(ocl::optim::Optimizer& optimizer, ocl::Tensor p, int count) {
  for (int n = 0; n < count; ++n) {
    optimizer.step([&] {
      optimizer.zero_grad();
      ocl::Tensor loss = (p * p + p.sin()).sum();
      loss.backward();
      return loss;
    });
  }
}

/** An optimizer that takes up the state of another goes on as that one does. */
template <class Optimizer>
void expect_resumes(const char* name) {
  const ocl::Tensor start = ocl::tensor({{0.5F, -1.F}, {2.F, 0.1F}});
  const ocl::Tensor p = start.clone().requires_grad_();
  Optimizer optimizer({p});
  steps(optimizer, p, 3);
  const ocl::Tensor q = p.detach().clone().requires_grad_();
  Optimizer resumed({q});
  resumed.load_state_dict(optimizer.state_dict());
  EXPECT_FALSE(p.equal(start)) << name;
  steps(optimizer, p, 3);
  steps(resumed, q, 3);
  EXPECT_TRUE(p.equal(q)) << name;
}

}  // namespace

TEST_F(LibtorchModules, EveryOptimizerIsResumed) {
#define KEYWORD_ONLY
#define OPTIMIZER(Name, ...) expect_resumes<ocl::optim::Name>(#Name);
#include "dlprim/ops/optim/optimizers.def"
}

TEST_F(LibtorchModules, SoftmaxTakesItsDimension) {
  const ocl::Tensor x = ocl::randn({2, 3});
  EXPECT_TRUE(Softmax(0)(x).equal(x.softmax(0)));
  EXPECT_TRUE(Softmax(SoftmaxOptions().dim(-1))(x).equal(x.softmax(1)));
  EXPECT_TRUE(Softmax()(x).equal(x.softmax(1)));
}
