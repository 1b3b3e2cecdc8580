#include "nn/optim/grad_scaler.h"

#include <limits>

#include "nn/modules/linear.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class GradScaling : public OnDevice {};

TEST_F(GradScaling, LeavesOutAStepWithAnInfinity) {
  const Tensor a = leaf({1, 2}, {2}), b = leaf({3}, {1});
  optim::SGD optimizer({a}, optim::SGDOptions(0.5));
  optimizer.add_param_group({b});
  GradScaler scaler(8, 2, 0.5, 2);
  const auto step = [&](bool with_infinity) {
    optimizer.zero_grad();
    scaler.scale(sum(a) + sum(b)).backward();
    if (with_infinity) b.grad().fill_(std::numeric_limits<float>::infinity());
    scaler.step(optimizer);
    scaler.update();
  };
  step(true);
  EXPECT_EQ(a.to_vector(), (Values{1, 2}));
  EXPECT_EQ(b.to_vector(), (Values{3}));
  EXPECT_EQ(scaler.get_scale(), 4);
  step(false);
  EXPECT_EQ(a.to_vector(), (Values{0.5, 1.5}));
  EXPECT_EQ(b.to_vector(), (Values{2.5}));
  EXPECT_EQ(scaler.get_scale(), 4);
  step(false);
  EXPECT_EQ(scaler.get_scale(), 8);  // two steps without one
}

TEST_F(GradScaling, UnscalesOnce) {
  const Tensor a = leaf({1, 2}, {2});
  optim::SGD optimizer({a}, optim::SGDOptions(1.0));
  GradScaler scaler(4);
  scaler.scale(sum(a)).backward();
  EXPECT_EQ(gradient(a), (Values{4, 4}));
  scaler.unscale_(optimizer);
  EXPECT_EQ(gradient(a), (Values{1, 1}));
  expect_error<AutogradError>([&] { scaler.unscale_(optimizer); }, "already been called");
  scaler.step(optimizer);
  EXPECT_EQ(a.to_vector(), (Values{0, 1}));
  expect_error<AutogradError>([&] { scaler.step(optimizer); }, "already been called");
}

TEST_F(GradScaling, GoesOnFromItsState) {
  const Tensor a = leaf({1, 2}, {2});
  optim::SGD optimizer({a}, optim::SGDOptions(0.5));
  const auto step = [&](GradScaler& scaler, float gradient) {
    optimizer.zero_grad();
    scaler.scale(sum(a) * gradient).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  GradScaler before(8, 2, 0.5, 2), after(8, 2, 0.5, 2);
  step(before, std::numeric_limits<float>::infinity());
  step(before, 1);
  after.set_state(before.state());
  EXPECT_EQ(after.get_scale(), 4);
  step(after, 1);
  EXPECT_EQ(after.get_scale(), 8);  // the second step without an infinity
}

TEST_F(GradScaling, ScalesHalvesInFloat32) {
  EXPECT_EQ(GradScaler(131072).scale(ones({}, DType::float16)).item(), 131072);
}

TEST_F(GradScaling, RefusesWhatCannotWork) {
  expect_error<ValueError>([] { GradScaler(1, 1); }, "growth factor");
  expect_error<ValueError>([] { GradScaler(1, 2, 1); }, "backoff factor");
  expect_error<AutogradError>([] { GradScaler().update(); }, "No inf checks");
  expect_error<ValueError>([] { unscale_({ones({2}, DType::float16)}, 2); }, "FP16");
}

TEST_F(GradScaling, DoesNothingWhereDisabled) {
  const Tensor a = leaf({1}, {1});
  optim::SGD optimizer({a}, optim::SGDOptions(1.0));
  GradScaler scaler(65536, 2, 0.5, 2000, false);
  scaler.scale(sum(a)).backward();
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(a.item(), 0);
  EXPECT_EQ(scaler.get_scale(), 1);
}

}  // namespace
