#include "nn/io/checkpoint.h"

#include <limits>
#include <set>
#include <typeindex>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Checkpoints : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tapecl_checkpoints";
  const std::filesystem::path path = folder / "last.safetensors";
};

/** Steps of an optimizer on two parameters in two groups, with momentum and the like where it has them. */
template <class Optimizer>
struct Training {
  static constexpr bool has_groups = !std::is_same_v<Optimizer, optim::LBFGS>;

  explicit Training(const std::vector<std::vector<float>>& start)
      : a(leaf(start[0], {3, 2})),
        b(leaf(start[1], {4})),
        optimizer(has_groups ? TensorList{a} : TensorList{a, b}) {
    if (has_groups) optimizer.add_param_group({b}, {{"lr", 0.01}});
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i)
      optimizer.step([&] {
        optimizer.zero_grad();
        const Tensor loss = sum(a * a * a * a) + sum(b * b * b * b);
        loss.backward();
        return loss;
      });
  }
  std::vector<std::vector<float>> values() const { return {a.to_vector(), b.to_vector()}; }

  Tensor a, b;
  Optimizer optimizer;
};

template <class Optimizer>
void goes_on_as_if_never_stopped(const std::filesystem::path& path) {
  SCOPED_TRACE(Optimizer({leaf({1}, {1})}).name());
  Training<Optimizer> whole({random_floats(6, 1), random_floats(4, 2)});
  whole.steps(3);
  const auto reached = whole.values();
  save(whole.optimizer, path);
  whole.steps(3);

  Training<Optimizer> resumed(reached);
  load(resumed.optimizer, path);
  resumed.steps(3);
  EXPECT_EQ(resumed.values(), whole.values());
  if constexpr (Training<Optimizer>::has_groups) {  // LBFGS is at the end by then
    EXPECT_NE(reached, whole.values());
    EXPECT_EQ(resumed.optimizer.param_groups()[1].number("lr"), 0.01);
  }
}

TEST_F(Checkpoints, EveryOptimizerGoesOn) {
#define KEYWORD_ONLY
#define OPTIMIZER(Name, ...) goes_on_as_if_never_stopped<optim::Name>(path);
#include "dlprim/ops/optim/optimizers.def"
}

TEST_F(Checkpoints, EveryScheduleGoesOn) {
  std::set<std::type_index> seen;
  const auto rates = [](optim::LRScheduler& schedule, int steps) {
    std::vector<double> all;
    for (int i = 0; i < steps; ++i) {
      schedule.optimizer().step();
      schedule.step();
      all.push_back(schedule.get_last_lr()[0]);
    }
    return all;
  };
  const auto check = [&](const auto& make_schedule) {
    optim::SGD optimizer({leaf({1}, {1})}, 0.8), other({leaf({1}, {1})}, 0.8);
    const auto schedule = make_schedule(optimizer), resumed = make_schedule(other);
    const optim::LRScheduler& base = *schedule;
    SCOPED_TRACE(typeid(base).name());
    seen.insert(typeid(base));
    rates(*schedule, 4);
    Checkpoint().add("schedule", *schedule).add("optimizer", optimizer).save(path);
    Checkpoint::load(path).restore("optimizer", other).restore("schedule", *resumed);
    EXPECT_EQ(rates(*resumed, 5), rates(*schedule, 5));
  };
  check([](auto& optimizer) { return std::make_shared<optim::StepLR>(optimizer, 3, 0.5); });
  check([](auto& optimizer) { return std::make_shared<optim::CosineAnnealingLR>(optimizer, 10); });
  check([](auto& optimizer) {
    return std::make_shared<optim::MultiStepLR>(optimizer, std::vector<double>{2, 6});
  });
  check([](auto& optimizer) {
    return std::make_shared<optim::LambdaLR>(optimizer, [](double epoch) { return 1 / (epoch + 1); });
  });
  check([](auto& optimizer) {
    return std::make_shared<optim::MultiplicativeLR>(optimizer,
                                                     [](double epoch) { return 0.9 - epoch / 100; });
  });
  check([](auto& optimizer) { return std::make_shared<optim::ConstantLR>(optimizer, 0.5, 6); });
  check([](auto& optimizer) { return std::make_shared<optim::LinearLR>(optimizer, 0.25, 1.0, 7); });
  check([](auto& optimizer) { return std::make_shared<optim::ExponentialLR>(optimizer, 0.9); });
  check([](auto& optimizer) { return std::make_shared<optim::PolynomialLR>(optimizer, 8, 2.0); });
  check(
      [](auto& optimizer) { return std::make_shared<optim::CosineAnnealingWarmRestarts>(optimizer, 3, 2); });
  check([](auto& optimizer) {
    return std::make_shared<optim::CyclicLR>(
        optimizer, optim::CyclicLROptions(0.1, 0.5).step_size_up(3).cycle_momentum(false));
  });
  check([](auto& optimizer) {
    return std::make_shared<optim::OneCycleLR>(
        optimizer, optim::OneCycleLROptions(1.0).total_steps(20).cycle_momentum(false));
  });
  using Parts = std::vector<std::shared_ptr<optim::LRScheduler>>;
  check([](auto& optimizer) {
    return std::make_shared<optim::ChainedScheduler>(
        Parts{std::make_shared<optim::ConstantLR>(optimizer, 0.5, 6),
              std::make_shared<optim::ExponentialLR>(optimizer, 0.9)});
  });
  check([](auto& optimizer) {
    return std::make_shared<optim::SequentialLR>(
        optimizer,
        Parts{std::make_shared<optim::LinearLR>(optimizer),
              std::make_shared<optim::ExponentialLR>(optimizer, 0.9)},
        std::vector<std::int64_t>{6});
  });
#define SCHEDULE(Name, ...) EXPECT_EQ(seen.count(typeid(optim::Name)), 1U) << #Name;
#include "nn/optim/schedules.def"
}

TEST_F(Checkpoints, APlateauGoesOn) {
  const auto options = optim::ReduceLROnPlateauOptions().patience(1).factor(0.5);
  optim::SGD optimizer({leaf({1}, {1})}, 0.8), other({leaf({1}, {1})}, 0.8);
  optim::ReduceLROnPlateau schedule(optimizer, options), resumed(other, options);
  schedule.step(1.0);
  schedule.step(1.0);
  Checkpoint().add("schedule", schedule).add("optimizer", optimizer).save(path);
  Checkpoint::load(path).restore("optimizer", other).restore("schedule", resumed);
  schedule.step(1.0);
  resumed.step(1.0);
  EXPECT_EQ(schedule.get_last_lr(), (std::vector<double>{0.4}));
  EXPECT_EQ(resumed.get_last_lr(), schedule.get_last_lr());
}

TEST_F(Checkpoints, HoldWhateverATrainingHas) {
  nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4)), other(nn::Linear(3, 4), nn::BatchNorm1d(4));
  optim::AdamW optimizer(net.parameters(), 1e-2);
  GradScaler scaler, other_scaler;
  scaler.set_state({512, 7});
  Generator generator(3), other_generator;
  generator.next(1000);
  Checkpoint()
      .add("net", net)
      .add("optimizer", optimizer)
      .add("scaler", scaler)
      .add("generator", generator)
      .add("note", "epoch 3, \"best\"")
      .save(path);
  const Checkpoint read = Checkpoint::load(path);
  read.restore("net", other).restore("scaler", other_scaler).restore("generator", other_generator);
  EXPECT_EQ(other.state_dict().size(), net.state_dict().size());
  EXPECT_EQ(other.parameters()[0].to_vector(), net.parameters()[0].to_vector());
  EXPECT_EQ(other_scaler.state().scale, 512);
  EXPECT_EQ(other_scaler.state().steps_since_growth, 7);
  EXPECT_EQ(other_generator.state().seed, 3u);
  EXPECT_EQ(other_generator.state().offset, generator.state().offset);
  EXPECT_EQ(read.text("note"), "epoch 3, \"best\"");
  EXPECT_TRUE(read.has("net"));
  EXPECT_FALSE(read.has("average"));
}

TEST_F(Checkpoints, NumbersThatAreNotFinite) {
  optim::SGD optimizer({leaf({1}, {1})}, 0.5), other({leaf({1}, {1})}, 0.5);
  optimizer.state(optimizer.param_groups()[0].parameters[0]).numbers = {
      {"best", std::numeric_limits<double>::infinity()}, {"last", -0.1}};
  save(optimizer, path);
  load(other, path);
  EXPECT_EQ(other.state(other.param_groups()[0].parameters[0]).numbers,
            optimizer.state(optimizer.param_groups()[0].parameters[0]).numbers);
}

TEST_F(Checkpoints, SayWhatDoesNotFit) {
  optim::SGD sgd({leaf({1}, {1})}, 0.5);
  optim::Adam adam({leaf({1}, {1})}, 0.5), two({leaf({1}, {1}), leaf({2}, {1})}, 0.5);
  Checkpoint checkpoint;
  checkpoint.add("optimizer", sgd);
  expect_error<ValueError>([&] { checkpoint.add("optimizer", sgd); },
                           "has something named \"optimizer\" already");
  expect_error<ValueError>([&] { checkpoint.add("a.b", sgd); }, "has no dots");
  expect_error<ValueError>([&] { checkpoint.restore("net", sgd); }, "has nothing named \"net\"");
  expect_error<ValueError>([&] { checkpoint.restore("optimizer", adam); },
                           "is of the class SGD, expected Adam");
  expect_error<ValueError>([&] { checkpoint.text("optimizer"); }, "is no text but of the kind optimizer");
  expect_error<ValueError>([&] { Checkpoint().add("optimizer", adam).restore("optimizer", two); },
                           "doesn't match the size of optimizer's group");
  save({{"x", ones({2})}}, path);
  expect_error<FileError>([&] { Checkpoint::load(path); }, "no checkpoint");
  expect_error<FileError>([&] { Checkpoint::load(folder / "none"); }, "none");
  save({{"x", ones({2})}}, path,
       {{"kind of optimizer", "optimizer"}, {"numbers of optimizer", "{\"class\": 3"}});
  expect_error<ValueError>([&] { load(sgd, path); }, "cannot be read");
}

}  // namespace
