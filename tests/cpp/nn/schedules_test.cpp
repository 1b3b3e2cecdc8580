#include "nn/optim/schedules.h"

#include <cmath>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Schedules : public OnDevice {
 protected:
  optim::SGD optimizer{{leaf({1}, {1})}, optim::SGDOptions(0.8).momentum(0.9)};

  std::vector<double> rates(optim::LRScheduler& schedule, int steps) {
    std::vector<double> all;
    for (int i = 0; i < steps; ++i) {
      all.push_back(schedule.get_last_lr()[0]);
      schedule.step();
    }
    return all;
  }
};

}  // namespace

TEST_F(Schedules, Lambda) {
  optim::LambdaLR schedule(optimizer, [](double epoch) { return 1.0 / (epoch + 1); });
  expect_close(rates(schedule, 3), std::vector<double>{0.8, 0.4, 0.8 / 3}, 1e-12, 0);
}

TEST_F(Schedules, OneAfterTheOther) {
  const auto warm_up =
      std::make_shared<optim::LinearLR>(optimizer, optim::LinearLROptions().start_factor(0.5).total_iters(2));
  const auto decay = std::make_shared<optim::ExponentialLR>(optimizer, 0.5);
  optim::SequentialLR schedule(optimizer, {warm_up, decay}, {3});
  expect_close(rates(schedule, 6), std::vector<double>{0.4, 0.6, 0.8, 0.8, 0.4, 0.2}, 1e-12, 0);
}

TEST_F(Schedules, SchedulesOfSchedulesGiveTheRatesThatTheyGiveAlone) {
  const auto step = [&] { return std::make_shared<optim::StepLR>(optimizer, 1, 0.5); };
  const auto constant = [&] {
    const auto options = optim::ConstantLROptions().factor(0.25).total_iters(2);
    return std::make_shared<optim::ConstantLR>(optimizer, options);
  };
  using Parts = std::vector<std::shared_ptr<optim::LRScheduler>>;
  using Milestones = std::vector<std::int64_t>;
  const auto sequence = [&](Parts parts, Milestones milestones) {
    return std::make_shared<optim::SequentialLR>(optimizer, std::move(parts), std::move(milestones));
  };
  const auto inner = [&] { return sequence({constant(), step()}, {3}); };
  expect_close(rates(*inner(), 6), std::vector<double>{0.2, 0.2, 0.8, 0.8, 0.4, 0.2}, 1e-12, 0);
  expect_close(rates(*sequence({inner(), step()}, {4}), 6), std::vector<double>{0.2, 0.2, 0.8, 0.8, 0.8, 0.4},
               1e-12, 0);
  expect_close(rates(*sequence({step(), sequence({inner(), step()}, {5})}, {2}), 8),
               std::vector<double>{0.8, 0.4, 0.2, 0.2, 0.8, 0.8, 0.4, 0.8}, 1e-12, 0);
  const auto both = std::make_shared<optim::ChainedScheduler>(Parts{constant(), step()});
  expect_close(rates(*sequence({step(), both}, {1}), 4), std::vector<double>{0.8, 0.2, 0.1, 0.2}, 1e-12, 0);
  optim::ChainedScheduler chained({inner(), step()});
  expect_close(rates(chained, 6), std::vector<double>{0.2, 0.1, 0.2, 0.1, 0.025, 0.00625}, 1e-12, 0);
}

TEST_F(Schedules, ResumeFromAState) {
  optim::CosineAnnealingLR schedule(optimizer, 10);
  rates(schedule, 4);
  const optim::SchedulerState state = schedule.state_dict();
  EXPECT_EQ(state.values.number("last_epoch"), 4);
  optim::SGD other({leaf({1}, {1})}, 0.8);
  optim::CosineAnnealingLR resumed(other, 3);
  resumed.load_state_dict(state);
  other.param_groups()[0].options.set("lr", optimizer.param_groups()[0].number("lr"));
  expect_close(rates(resumed, 6), rates(schedule, 6), 1e-12, 0);
}

TEST_F(Schedules, AStateThatDoesNotFitChangesNothing) {
  const auto first = std::make_shared<optim::StepLR>(optimizer, 2);
  const auto second = std::make_shared<optim::CosineAnnealingLR>(optimizer, 3);
  optim::SequentialLR schedule(optimizer, {first, second}, {2});
  const optim::SchedulerState before = schedule.state_dict();
  optim::SchedulerState state = before;
  state.values.set("last_epoch", std::int64_t{7});
  state.schedulers[0].values.set("last_epoch", std::int64_t{7});
  state.schedulers[1].values.set("T_max", std::int64_t{0});
  expect_error<ValueError>([&] { schedule.load_state_dict(state); },
                           "CosineAnnealingLR: expected T_max > 0, got T_max=0");
  EXPECT_EQ(schedule.state_dict().values, before.values);
  EXPECT_EQ(schedule.state_dict().schedulers[0].values, before.schedulers[0].values);
  EXPECT_EQ(schedule.state_dict().schedulers[1].values, before.schedulers[1].values);
  schedule.step();
}

TEST_F(Schedules, AtOnce) {
  const auto first = std::make_shared<optim::StepLR>(optimizer, 1, 0.5);
  const auto second = std::make_shared<optim::MultiplicativeLR>(optimizer, [](double) { return 0.1; });
  optim::ChainedScheduler schedule({first, second});
  expect_close(rates(schedule, 3), std::vector<double>{0.8, 0.04, 0.002}, 1e-12, 0);
}

TEST_F(Schedules, Cycles) {
  optim::CyclicLR schedule(optimizer, optim::CyclicLROptions(0.1, 0.5).step_size_up(2).scale_fn(
                                          [](double cycle) { return 1 / cycle; }));
  expect_close(rates(schedule, 7), std::vector<double>{0.1, 0.3, 0.5, 0.3, 0.1, 0.2, 0.3}, 1e-12, 0);
}

TEST_F(Schedules, OneOfYourOwn) {
  struct Halving : optim::LRScheduler {
    explicit Halving(optim::Optimizer& optimizer) : LRScheduler(optimizer) { start(); }

   protected:
    std::vector<double> get_lr() override {
      std::vector<double> rates = base_lrs();
      for (double& rate : rates) rate /= static_cast<double>(1 << last_epoch());
      return rates;
    }
  };
  Halving schedule(optimizer);
  expect_close(rates(schedule, 3), std::vector<double>{0.8, 0.4, 0.2}, 1e-12, 0);
}

TEST_F(Schedules, Plateau) {
  optim::ReduceLROnPlateau schedule(optimizer, optim::ReduceLROnPlateauOptions().patience(1).factor(0.5));
  for (const double metric : {3.0, 2.0, 2.0, 2.0, 2.0}) schedule.step(metric);
  EXPECT_EQ(schedule.get_last_lr()[0], 0.4);
  expect_error<TypeError>([&] { schedule.step(); }, "needs the metric");
}

TEST_F(Schedules, OneCycle) {
  optim::OneCycleLR schedule(optimizer, optim::OneCycleLROptions(1.0).total_steps(10));
  const optim::ParameterGroup& group = optimizer.param_groups()[0];
  EXPECT_NEAR(group.number("lr"), 1.0 / 25, 1e-12);
  EXPECT_EQ(group.number("momentum"), 0.95);
  schedule.step();
  schedule.step();
  EXPECT_NEAR(group.number("lr"), 1.0, 1e-12);
  EXPECT_NEAR(group.number("momentum"), 0.85, 1e-12);
}

TEST_F(Schedules, Clipping) {
  Tensor p = leaf({0, 0}, {2});
  p.set_grad(tensor(Values{3, 4}, {2}));
  EXPECT_EQ(nn::utils::clip_grad_norm_({p}, 1).item(), 5);
  expect_close(gradient(p), Values{0.6f, 0.8f}, 1e-6, 0);
  nn::utils::clip_grad_value_({p}, 0.7);
  expect_close(gradient(p), Values{0.6f, 0.7f}, 1e-6, 0);
  p.set_grad(tensor(Values{INFINITY, 4}, {2}));
  expect_error<AutogradError>([&] { nn::utils::clip_grad_norm_({p}, 1, 2, true); }, "is non-finite");
}
