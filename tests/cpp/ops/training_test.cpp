// Training on dlprim alone (examples/mnist_dlprim_net.h) beside the same net with tape and modules: both call
// the same primitives on the same numbers, so they agree to the bit.
#include "examples/mnist_dlprim_net.h"
#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class TrainsAlone : public OnDevice {};

/** The net of examples/mnist.cpp; its parameters are in the order of mnist::Net::parameters(). */
struct TapedNet : nn::Module {
  nn::Child<nn::Conv2d> conv1 = add<nn::Conv2d>("conv1", nn::Conv2dOptions(1, 32, 3).bias(false));
  nn::Child<nn::BatchNorm2d> norm = add<nn::BatchNorm2d>("norm", 32);
  nn::Child<nn::Conv2d> conv2 = add<nn::Conv2d>("conv2", 32, 64, 3);
  nn::Child<nn::Linear> fc1 = add<nn::Linear>("fc1", 64 * 5 * 5, 128), fc2 = add<nn::Linear>("fc2", 128, 10);

  Tensor forward(const Tensor& images) override {
    Tensor x = nn::functional::max_pool2d(relu(norm(conv1(images))), 2);
    x = relu(nn::functional::max_pool2d(conv2(x), 2));
    return fc2(relu(fc1(flatten(x, 1))));
  }
};

std::vector<char> bytes_of(const dlprim::Tensor& t) {
  return Tensor(t).to_bytes();
}

template <class Optimizer, class Options>
void check_steps(int steps, const char* name, const dlprim::Options& options, const Options& taped_options) {
  dlprim::Queue& queue = device().queue();
  manual_seed(7);
  const Tensor images = randn({8, 1, 28, 28}), labels = randint(0, 10, {8});
  mnist::Net net(queue, 5);
  TapedNet taped;
  const std::vector<mnist::Parameter> parameters = net.parameters();
  const TensorList taped_parameters = taped.parameters();
  ASSERT_EQ(parameters.size(), taped_parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    ASSERT_EQ(parameters[i].parameter.shape, taped_parameters[i].shape());
    dlprim::copy(queue, parameters[i].parameter, taped_parameters[i].data());
  }

  mnist::Optimizer optimizer(queue, name, options, parameters);
  Optimizer taped_optimizer(taped_parameters, taped_options);
  for (int step = 0; step < steps; ++step) {
    const mnist::Loss loss = mnist::cross_entropy(queue, net.forward(images.data(), true), labels.data());
    net.backward(loss.dlogits);
    optimizer.step();
    const Tensor taped_loss = nn::functional::cross_entropy(taped(images), labels);
    taped_optimizer.zero_grad();
    taped_loss.backward();
    taped_optimizer.step();
    EXPECT_EQ(bytes_of(loss.value), taped_loss.to_bytes()) << "step " << step;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(bytes_of(parameters[i].gradient), taped_parameters[i].grad().to_bytes()) << "gradient " << i;
    EXPECT_EQ(bytes_of(parameters[i].parameter), taped_parameters[i].to_bytes()) << "parameter " << i;
  }
  taped.eval();
  EXPECT_EQ(bytes_of(net.forward(images.data(), false)), taped(images).to_bytes()) << "evaluation";
}

}  // namespace

TEST_F(TrainsAlone, AStepWithAdamLikeTheTape) {
  check_steps<optim::Adam>(1, "Adam", {{"lr", 1e-3}}, optim::AdamOptions(1e-3));
}

TEST_F(TrainsAlone, StepsWithAdamLikeTheTape) {
  check_steps<optim::Adam>(4, "Adam", {{"lr", 1e-3}}, optim::AdamOptions(1e-3));
}

TEST_F(TrainsAlone, StepsWithMomentumLikeTheTape) {
  check_steps<optim::SGD>(4, "SGD", {{"lr", 1e-2}, {"momentum", 0.9}}, optim::SGDOptions(1e-2).momentum(0.9));
}
