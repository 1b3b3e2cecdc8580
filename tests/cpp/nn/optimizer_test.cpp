#include "nn/optim/optimizer.h"

#include <array>
#include <cmath>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Optimizers : public OnDevice {};

/** One number under optimisation, in double: its value and what the optimizer keeps for it. */
struct Number {
  double value;
  std::array<double, 3> state{};
};
using Update = std::function<void(Number&, double gradient, int step)>;

/** Five steps of `optimizer` on two parameters against `update`; the gradients are those of sum(p^3). */
void check(const std::function<std::unique_ptr<optim::Optimizer>(const TensorList&)>& make_optimizer,
           const Update& update) {
  const Values start = random_floats(7, 3);
  const Tensor a = leaf(start, {7}), b = leaf({0.5f, -2}, {2, 1});
  std::vector<Number> expected;
  for (const float v : start) expected.push_back({v});
  for (const float v : {0.5f, -2.0f}) expected.push_back({v});
  const auto optimizer = make_optimizer({a, b});
  for (int step = 1; step <= 5; ++step) {
    optimizer->zero_grad();
    (sum(a * a * a) + sum(b * b * b)).backward();
    optimizer->step();
    for (Number& n : expected) update(n, 3 * n.value * n.value, step);
  }
  std::vector<float> actual = a.to_vector();
  for (const float v : b.to_vector()) actual.push_back(v);
  std::vector<double> values;
  for (const Number& n : expected) values.push_back(n.value);
  expect_close(actual, values, 2e-5, 1e-6);
}

Update sgd(double lr, double momentum, double dampening, double weight_decay, bool nesterov, bool maximize) {
  return [=](Number& n, double g, int step) {
    g = (maximize ? -g : g) + weight_decay * n.value;
    if (momentum != 0) {
      n.state[0] = step == 1 ? g : momentum * n.state[0] + (1 - dampening) * g;
      g = nesterov ? g + momentum * n.state[0] : n.state[0];
    }
    n.value -= lr * g;
  };
}

Update adam(double lr, double beta1, double beta2, double eps, double weight_decay, bool amsgrad,
            bool decoupled) {
  return [=](Number& n, double g, int step) {
    if (decoupled)
      n.value *= 1 - lr * weight_decay;
    else
      g += weight_decay * n.value;
    n.state[0] = beta1 * n.state[0] + (1 - beta1) * g;
    n.state[1] = beta2 * n.state[1] + (1 - beta2) * g * g;
    n.state[2] = std::fmax(n.state[2], n.state[1]);
    const double first = n.state[0] / (1 - std::pow(beta1, step));
    const double second = (amsgrad ? n.state[2] : n.state[1]) / (1 - std::pow(beta2, step));
    n.value -= lr * first / (std::sqrt(second) + eps);
  };
}

Update rmsprop(double lr, double alpha, double eps, double weight_decay, double momentum, bool centered) {
  return [=](Number& n, double g, int) {
    g += weight_decay * n.value;
    n.state[0] = alpha * n.state[0] + (1 - alpha) * g * g;
    n.state[1] = alpha * n.state[1] + (1 - alpha) * g;
    const double root = std::sqrt(n.state[0] - (centered ? n.state[1] * n.state[1] : 0)) + eps;
    n.state[2] = momentum * n.state[2] + g / root;
    n.value -= lr * n.state[2];
  };
}

Update adagrad(double lr, double lr_decay, double start) {
  return [=](Number& n, double g, int step) {
    if (step == 1) n.state[0] = start;
    n.state[0] += g * g;
    n.value -= lr / (1 + (step - 1) * lr_decay) * g / (std::sqrt(n.state[0]) + 1e-10);
  };
}

template <class Optimizer, class Options>
auto maker(const Options& options) {
  return [=](const TensorList& parameters) { return std::make_unique<Optimizer>(parameters, options); };
}

TEST_F(Optimizers, KeepMasterWeights) {
  Tensor p = full({3}, 1.0, DType::bfloat16);
  p.requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(1e-4));
  optimizer.keep_master_weights();
  for (int step = 0; step < 100; ++step) {
    p.set_grad(full({3}, 1.0, DType::bfloat16));
    optimizer.step();
  }
  const Tensor& master = optimizer.state(p).tensors.at("master");
  EXPECT_EQ(master.dtype(), DType::float32);
  EXPECT_NEAR(master.to_vector()[0], 0.99, 1e-5);
  EXPECT_NEAR(p.to(DType::float32).to_vector()[0], 0.99, 4e-3);

  optim::SGD other({p}, optim::SGDOptions(1e-4));
  other.load_state_dict(optimizer.state_dict());
  EXPECT_EQ(other.state(p).tensors.at("master").dtype(), DType::float32);
  optim::OptimizerState narrow = optimizer.state_dict();
  narrow.groups[0].parameters[0].tensors["master"] = p;
  EXPECT_THROW(other.load_state_dict(narrow), ValueError);
}

}  // namespace

TEST_F(Optimizers, Sgd) {
  using Options = optim::SGDOptions;
  check(maker<optim::SGD>(0.05), sgd(0.05, 0, 0, 0, false, false));
  check(maker<optim::SGD>(Options(0.02).momentum(0.9).dampening(0.1).weight_decay(0.01)),
        sgd(0.02, 0.9, 0.1, 0.01, false, false));
  check(maker<optim::SGD>(Options(0.02).momentum(0.9).weight_decay(0.01).nesterov(true)),
        sgd(0.02, 0.9, 0, 0.01, true, false));
  check(maker<optim::SGD>(Options(0.005).maximize(true)), sgd(0.005, 0, 0, 0, false, true));
}

TEST_F(Optimizers, Adam) {
  check(maker<optim::Adam>(0.05), adam(0.05, 0.9, 0.999, 1e-8, 0, false, false));
  check(
      maker<optim::Adam>(optim::AdamOptions(0.05).betas(0.8, 0.9).eps(1e-6).weight_decay(0.1).amsgrad(true)),
      adam(0.05, 0.8, 0.9, 1e-6, 0.1, true, false));
  check(maker<optim::AdamW>(0.05), adam(0.05, 0.9, 0.999, 1e-8, 0.01, false, true));
}

TEST_F(Optimizers, RmspropAndAdagrad) {
  check(maker<optim::RMSprop>(0.01), rmsprop(0.01, 0.99, 1e-8, 0, 0, false));
  check(maker<optim::RMSprop>(
            optim::RMSpropOptions(0.01).alpha(0.9).eps(1e-2).weight_decay(0.1).momentum(0.5).centered(true)),
        rmsprop(0.01, 0.9, 1e-2, 0.1, 0.5, true));
  check(maker<optim::Adagrad>(0.1), adagrad(0.1, 0, 0));
  check(maker<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.2).initial_accumulator_value(0.5)),
        adagrad(0.1, 0.2, 0.5));
}

TEST_F(Optimizers, OneOfYourOwn) {
  struct Descent : optim::Optimizer {
    Descent(const TensorList& parameters, double lr) : Optimizer(parameters, {{"lr", lr}}) {}
    std::string name() const override { return "Descent"; }

   protected:
    void update() override {
      for (const optim::ParameterGroup& group : param_groups())
        for (Tensor p : group.parameters)
          if (const Tensor g = p.grad(); g.defined()) {
            p.sub_(g * group.number("lr"));
            state(p).numbers["steps"] += 1;
          }
    }
  };
  const Tensor a = leaf({1}, {1});
  Descent optimizer({a}, 0.5);
  int before = 0, after = 0;
  optimizer.register_step_pre_hook([&](optim::Optimizer&) { ++before; });
  optimizer.register_step_post_hook([&](optim::Optimizer& o) { after += o.name() == "Descent"; });
  optim::StepLR schedule(optimizer, 1, 0.1);
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor square = sum(a * a);
    square.backward();
    return square;
  });
  schedule.step();
  EXPECT_EQ(loss.item(), 1);
  EXPECT_EQ(a.item(), 0);
  EXPECT_EQ(optimizer.state(a).numbers.at("steps"), 1);
  EXPECT_NEAR(optimizer.param_groups()[0].number("lr"), 0.05, 1e-12);
  EXPECT_EQ(before + after, 2);
}

TEST_F(Optimizers, LineSearch) {
  const Tensor a = leaf({3, -2}, {2});
  for (const bool searches : {false, true}) {
    auto options = optim::LBFGSOptions(0.5).max_iter(30);
    if (searches) options.line_search_fn("strong_wolfe");
    optim::LBFGS optimizer({a}, options);
    const auto closure = [&] {
      optimizer.zero_grad();
      Tensor loss = sum((a - 1) * (a - 1) * (a - 1) * (a - 1));
      loss.backward();
      return loss;
    };
    const float first = optimizer.step(closure).item();
    EXPECT_LT(closure().item(), 1e-2 * first);
  }
  expect_error<TypeError>([&] { optim::LBFGS({a}).step(); }, "needs the closure");
}

TEST_F(Optimizers, ParametersWithoutGradientsStay) {
  const Tensor a = leaf({1}, {1}), b = leaf({1}, {1});
  optim::Adam optimizer({a, b}, 0.1);
  sum(a).backward();
  optimizer.step();
  EXPECT_NEAR(a.item(), 0.9, 1e-6);
  EXPECT_EQ(b.item(), 1);
  sum(b).backward();  // b's first step is a's second: other bias corrections
  optimizer.step();
  EXPECT_NEAR(a.item(), 0.8, 1e-5);
  EXPECT_NEAR(b.item(), 0.9, 1e-6);
  EXPECT_EQ(optimizer.state(a).numbers.at("step"), 2);
  EXPECT_EQ(optimizer.state(b).numbers.at("step"), 1);
}

TEST_F(Optimizers, Groups) {
  const Tensor a = leaf({1}, {1}), b = leaf({1}, {1});
  optim::SGD optimizer({a}, 0.1);
  optimizer.add_param_group({b}, {{"lr", 0.5}});
  sum(a + b).backward();
  optimizer.step();
  EXPECT_NEAR(a.item(), 0.9, 1e-6);
  EXPECT_NEAR(b.item(), 0.5, 1e-6);
  expect_error<ValueError>([&] { optimizer.add_param_group({a}); }, "more than one parameter group");
  expect_error<ValueError>([&] { optimizer.add_param_group({leaf({1}, {1})}, {{"lrr", 1}}); },
                           "no option 'lrr'");
  EXPECT_EQ(optimizer.parameters().size(), 2U);
  auto& options = optimizer.param_groups()[0].options;
  options.set("weight_decay", 0.5);
  expect_error<ValueError>([&] { options.set("weigth_decay", 0.1); },
                           "no option 'weigth_decay', only dampening, ");
  EXPECT_EQ(options.number("weight_decay"), 0.5);
}

TEST_F(Optimizers, ASavedParameterIsFoundChanged) {
  const Tensor a = leaf({2}, {1});
  optim::SGD optimizer({a}, 0.1);
  const Tensor loss = sum(a * a);
  loss.backward({}, true);
  optimizer.step();
  expect_error<AutogradError>([&] { loss.backward(); }, "modified by an inplace operation");
}

TEST_F(Optimizers, WrongSettings) {
  const Tensor a = leaf({1}, {1});
  expect_error<ValueError>(
      [] {
        optim::SGD({optim::OptimizerParamGroup({leaf({1}, {1})}, std::make_unique<optim::SGDOptions>(-1.0))},
                   0.1);
      },
      "expected lr >= 0");
  expect_error<ValueError>([] { optim::OptimizerParamGroup({leaf({1}, {1})}).options(); },
                           "no options of its own");
  expect_error<ValueError>([] { optim::SGD(TensorList{}, 0.1); }, "empty parameter list");
  expect_error<ValueError>([&] { optim::SGD({a}, -1); }, "SGD: expected lr >= 0, got lr=-1");
  expect_error<ValueError>([&] { optim::SGD({a}, optim::SGDOptions(0.1).nesterov(true)); },
                           "Nesterov momentum requires a momentum and zero dampening");
  expect_error<ValueError>([&] { optim::Adam({a}, optim::AdamOptions().betas(1.0, 0.9)); },
                           "betas must hold first >= 0");
  expect_error<ValueError>([&] { optim::SGD({a * 2}, 0.1); }, "can't optimize a non-leaf Tensor");
}

TEST_F(Optimizers, LoadingAStateIsAllOrNothing) {
  const Tensor p = leaf({1, 2}, {2}), q = leaf({1, 2}, {2});
  const auto stepped = [](Tensor tensor, double rate) {
    tensor.set_grad(ones({2}));
    auto optimizer = std::make_unique<optim::Adam>(TensorList{tensor}, rate);
    optimizer->step();
    return optimizer;
  };
  const auto source = stepped(p, 0.25), target = stepped(q, 0.5);
  const auto expect_refused = [&](const std::function<void(optim::OptimizerState::Group&)>& change,
                                  const std::string& message) {
    optim::OptimizerState state = source->state_dict();
    change(state.groups[0]);
    expect_error<ValueError>([&] { target->load_state_dict(state); }, message);
    EXPECT_EQ(target->param_groups()[0].number("lr"), 0.5);
    EXPECT_EQ(target->state(q).numbers.at("step"), 1);
  };
  expect_refused([](auto& group) { group.parameters.clear(); }, "doesn't match the size");
  expect_refused([](auto& group) { group.parameters[0].tensors.erase("exp_avg"); }, "no 'exp_avg'");
  expect_refused([](auto& group) { group.parameters[0].tensors["exp_avg"] = ones({3}); },
                 "exp_avg of shape [2]");
  expect_refused([](auto& group) { group.parameters[0].tensors["exp_avg"] = zeros({2}, DType::int64); },
                 "exp_avg of dtype float32");
  expect_refused([](auto& group) { group.parameters[0].numbers["step"] = -1; }, "'step' cannot be -1");
  expect_refused([](auto& group) { group.options.set("lr", -1.0); }, "expected lr >= 0");
  optim::OptimizerState too_many = source->state_dict();
  too_many.groups.push_back(too_many.groups[0]);
  expect_error<ValueError>([&] { target->load_state_dict(too_many); }, "number of parameter groups");
  target->load_state_dict(source->state_dict());
  EXPECT_EQ(target->param_groups()[0].number("lr"), 0.25);
  EXPECT_TRUE(is_same(target->param_groups()[0].parameters[0], q));
}

TEST_F(Optimizers, Schedules) {
  const Tensor a = leaf({1}, {1});
  optim::SGD optimizer({a}, 0.8);
  optim::StepLR steps(optimizer, 2, 0.5);
  std::vector<double> rates;
  for (int epoch = 0; epoch < 5; ++epoch) {
    rates.push_back(steps.get_last_lr()[0]);
    steps.step();
  }
  expect_close(rates, std::vector<double>{0.8, 0.8, 0.4, 0.4, 0.2}, 1e-12, 0);
  optim::SGD other({a}, 1);
  optim::ExponentialLR decay(other, 0.9);
  decay.step();
  decay.step();
  EXPECT_NEAR(other.param_groups()[0].number("lr"), 0.81, 1e-12);
  expect_error<ValueError>([&] { optim::StepLR(optimizer, 0); },
                           "StepLR: expected step_size > 0, got step_size=0");
}
