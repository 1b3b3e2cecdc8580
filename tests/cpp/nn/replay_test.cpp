// A whole training step as a list of calls (dlprim/core/recorder.h), done again on fresh memory: the same
// bits.
#include "dlprim/core/recorder.h"

#include <map>

#include "dlprim/runtime/device.h"
#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Replays : public OnDevice {};

dlprim::Tensor bytes_of(const dlprim::Tensor& t) {
  const auto count = static_cast<std::int64_t>(t.storage->bytes());
  return {t.storage, DType::uint8, {count}, {1}, 0};
}

std::vector<char> contents(const dlprim::Tensor& t) {
  std::vector<char> bytes(t.storage->bytes());
  t.device().queue().read(bytes_of(t), bytes.data(), bytes.size());
  return bytes;
}

/** Memory for a replay: what was there before as it was, all else filled with ones, which are NaN. */
class Before {
 public:
  void keep(const Tensor& t) { kept_[t.data().storage.get()] = contents(t.data()); }

  dlprim::MemoryMap memory() const {
    return dlprim::MemoryMap([this](const dlprim::Tensor& original) {
      const std::size_t size = original.storage->bytes();
      const dlprim::Tensor fresh =
          dlprim::Tensor::empty(original.device(), {static_cast<std::int64_t>(size)}, DType::uint8);
      const auto found = kept_.find(original.storage.get());
      const std::vector<char> bytes = found != kept_.end() ? found->second : std::vector<char>(size, '\xff');
      original.device().queue().write(fresh, bytes.data(), size);
      return fresh.storage;
    });
  }

 private:
  std::map<const dlprim::Storage*, std::vector<char>> kept_;
};

nn::Sequential mnist_net() {
  using namespace nn;
  return Sequential(make<Conv2d>(1, 8, 3), make<BatchNorm2d>(8), make<ReLU>(), make<MaxPool2d>(2),
                    make<Conv2d>(8, 16, 3), make<ReLU>(), make<MaxPool2d>(2), make<Flatten>(),
                    make<Dropout>(0.25), make<Linear>(16 * 5 * 5, 32), make<ReLU>(), make<Linear>(32, 10));
}

template <class Optimizer>
void check_step() {
  manual_seed(3);
  nn::Sequential net = mnist_net();
  Optimizer optimizer(net.parameters(), 1e-2);
  const Tensor x = randn({7, 1, 28, 28}), y = randint(0, 10, {7});
  Before before;
  for (const auto& [name, t] : net.state_dict()) before.keep(t);
  before.keep(x);
  before.keep(y);

  dlprim::Recorder recorder;
  Tensor loss;
  for (int step = 0; step < 2; ++step) {
    loss = nn::functional::cross_entropy(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  recorder.stop();
  EXPECT_TRUE(recorder.escapes().empty()) << recorder.escapes().front();
  EXPECT_GT(recorder.calls().size(), 50u);

  dlprim::MemoryMap memory = before.memory();
  recorder.replay(x.device()->queue(), memory);
  const auto expect_same = [&](const std::string& name, const Tensor& t) {
    const dlprim::Tensor again = memory.of(t.data());
    EXPECT_NE(again.storage, t.data().storage) << name;
    EXPECT_EQ(Tensor(again).to_bytes(), t.to_bytes()) << name;
  };
  for (const auto& [name, t] : net.state_dict()) expect_same(name, t);
  for (const auto& [name, p] : net.named_parameters()) expect_same(name + ".grad", p.grad());
  expect_same("loss", loss);
  EXPECT_GT(loss.item(), 0);
}

}  // namespace

TEST_F(Replays, AnMnistStepWithAdamGivesTheSameBits) {
  check_step<optim::Adam>();
}

TEST_F(Replays, AnMnistStepWithSgdGivesTheSameBits) {
  check_step<optim::SGD>();
}
