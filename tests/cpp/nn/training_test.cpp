#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Training : public OnDevice {
 protected:
  void SetUp() override { manual_seed(1); }
};

struct Xor : nn::Module {
  nn::Child<nn::Linear> hidden = add<nn::Linear>("hidden", 2, 8);
  nn::Child<nn::Linear> out = add<nn::Linear>("out", 8, 2);
  Tensor forward(const Tensor& x) override { return out(ocl::tanh(hidden(x))); }
};

Values train_xor() {
  manual_seed(1);
  Xor net;
  optim::Adam optimizer(net.parameters(), 0.05);
  const Tensor x = tensor(Values{0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}),
               target = tensor(std::vector<std::int64_t>{0, 1, 1, 0}, {4});
  Values losses;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(net(x), target);
    loss.backward();
    optimizer.step();
    if (step % 50 == 0) losses.push_back(loss.item());
  }
  EXPECT_EQ(argmax(net(x), 1).to_vector<std::int64_t>(), target.to_vector<std::int64_t>());
  losses.push_back(cross_entropy(net(x), target).item());
  return losses;
}

}  // namespace

TEST_F(Training, LearnsXor) {
  const Values losses = train_xor();
  EXPECT_LT(losses.back(), 0.05f);
  EXPECT_EQ(train_xor(), losses);  // a seed gives the same numbers
}

TEST_F(Training, FindsALine) {
  const Tensor x = randn({200, 3}), w = tensor(Values{1, -2, 0.5f}, {1, 3});
  const Tensor y = linear(x, w) + 0.25;
  nn::Linear model(3, 1);
  optim::SGD optimizer(model.parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    mse_loss(model(x), y).backward();
    optimizer.step();
  }
  expect_close(model.weight.to_vector(), Values{1, -2, 0.5f}, 1e-3, 1e-3);
  EXPECT_NEAR(model.bias.item(), 0.25, 1e-3);
}

TEST_F(Training, AFailedStepLeavesTheProgramAbleToGoOn) {
  Xor net;
  optim::SGD optimizer(net.parameters(), 0.1);
  const Tensor x = ones({4, 2});
  const auto step = [&](std::int64_t label) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(net(x), full({4}, label, DType::int64));
    loss.backward();
    return loss.item();
  };
  expect_error<IndexError>([&] { step(2); }, "2");
  EXPECT_TRUE(std::isfinite(step(1)));
}

TEST_F(Training, Oclgrind) {
  nn::Linear model(2, 2);
  optim::SGD optimizer(model.parameters(), optim::SGDOptions(0.1).momentum(0.9));
  cross_entropy(relu(model(ones({2, 2}))), full({2}, 1, DType::int64)).backward();
  optimizer.step();
  EXPECT_TRUE(std::isfinite(sum(model.weight).item()));
}
