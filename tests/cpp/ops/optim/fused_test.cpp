#include <cmath>
#include <functional>
#include <limits>

#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/optim/rules.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** One element of one parameter in double: p, its states, and the update by a gradient. */
struct Element {
  double p;
  std::array<double, 3> state{};
};
using Update = std::function<void(Element&, double g, int step)>;
using Step = std::function<void(Queue&, ParameterPack&, const std::vector<OptimizedParameter>&, int step)>;

void check(std::size_t states, const Update& update, const Step& step,
           const std::vector<std::int64_t>& sizes) {
  Queue& queue = device().queue();
  std::vector<OptimizedParameter> parameters;
  std::vector<std::vector<Element>> expected;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto p = random_floats(sizes[k], static_cast<unsigned>(k));
    OptimizedParameter parameter{upload(p, {sizes[k]}), {}, {}};
    for (std::size_t s = 0; s < states; ++s)
      parameter.state.push_back(upload(std::vector<float>(p.size(), 0.0f), {sizes[k]}));
    parameters.push_back(parameter);
    expected.emplace_back();
    for (const float v : p) expected.back().push_back({v});
  }
  ParameterPack pack;
  for (int s = 1; s <= 4; ++s) {
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const auto g = random_floats(sizes[k], static_cast<unsigned>(100 * s + static_cast<int>(k)));
      if (s != 3)
        parameters[k].gradient = upload(g, {sizes[k]});  // once at the place of the step before
      else if (!g.empty())
        queue.write(parameters[k].gradient, g.data(), g.size() * sizeof(float));
      for (std::size_t i = 0; i < g.size(); ++i) update(expected[k][i], g[i], s);
    }
    step(queue, pack, parameters, s);
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    std::vector<double> p;
    for (const Element& e : expected[k]) p.push_back(e.p);
    expect_close(download<float>(parameters[k].parameter), p, 4e-6, 4e-6);
    for (std::size_t s = 0; s < states; ++s) {
      std::vector<double> values;
      for (const Element& e : expected[k]) values.push_back(e.state[s]);
      expect_close(download<float>(parameters[k].state[s]), values, 4e-6, 1e-6);
    }
  }
}

const std::vector<std::int64_t> some_sizes{288, 32, 18432, 64, 40000, 0, 1, 17, 5};
// More buffers than one launch takes, where every tensor has its own (OCL_ALLOCATOR=direct).
const std::vector<std::int64_t> many_sizes(40, 33);

/** A rule of the table, with `given` in place of some defaults, against `update`. */
void check_rule(const std::string& name, const Options& given, std::size_t states, const Update& update,
                const std::vector<std::int64_t>& sizes) {
  const OptimizerRule& rule = optimizer_rule(name);
  Options options = defaults_of(rule.options);
  for (const auto& [option, value] : given.values()) options.set(option.c_str(), value);
  rule.check(options);
  EXPECT_EQ(rule.tensors(options).size(), states);
  std::vector<double> numbers;
  for (const StateRow& row : rule.numbers(options)) numbers.push_back(*row.initial);
  check(
      states, update,
      [&](Queue& q, ParameterPack& pack, const std::vector<OptimizedParameter>& p, int step) {
        fused_step(q, pack, p, rule.update(options, numbers, step == 1));
      },
      sizes);
}

const std::vector<double> betas(double first, double second) {
  return {first, second};
}

struct Sgd {
  double lr, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
void check_sgd(const Sgd& o, const std::vector<std::int64_t>& sizes) {
  const auto update = [&](Element& e, double g, int step) {
    g = (o.maximize ? -g : g) + o.weight_decay * e.p;
    if (o.momentum != 0) {
      e.state[0] = step == 1 ? g : o.momentum * e.state[0] + (1 - o.dampening) * g;
      g = o.nesterov ? g + o.momentum * e.state[0] : e.state[0];
    }
    e.p -= o.lr * g;
  };
  check_rule("SGD",
             {{"lr", o.lr},
              {"momentum", o.momentum},
              {"dampening", o.dampening},
              {"weight_decay", o.weight_decay},
              {"nesterov", o.nesterov},
              {"maximize", o.maximize}},
             o.momentum != 0 ? 1 : 0, update, sizes);
}

struct AdamKin {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled = false, amsgrad = false, maximize = false;
};
Options options_of(const AdamKin& o) {
  Options options = defaults_of(optimizer_rule(o.decoupled ? "AdamW" : "Adam").options);
  options.set("lr", o.lr);
  options.set("betas", betas(o.beta1, o.beta2));
  options.set("eps", o.eps);
  options.set("weight_decay", o.weight_decay);
  options.set("amsgrad", o.amsgrad);
  options.set("maximize", o.maximize);
  return options;
}
void check_adam(const AdamKin& o, const std::vector<std::int64_t>& sizes) {
  const auto update = [&](Element& e, double g, int step) {
    if (o.maximize) g = -g;
    if (o.decoupled)
      e.p *= 1 - o.lr * o.weight_decay;
    else
      g += o.weight_decay * e.p;
    e.state[0] = o.beta1 * e.state[0] + (1 - o.beta1) * g;
    e.state[1] = o.beta2 * e.state[1] + (1 - o.beta2) * g * g;
    e.state[2] = std::fmax(e.state[2], e.state[1]);
    const double c1 = 1 - std::pow(o.beta1, step), c2 = 1 - std::pow(o.beta2, step);
    const double denominator = std::sqrt(o.amsgrad ? e.state[2] : e.state[1]) / std::sqrt(c2) + o.eps;
    e.p -= o.lr / c1 * e.state[0] / denominator;
  };
  const std::size_t states = o.amsgrad ? 3 : 2;
  const Options options = options_of(o);
  check_rule(o.decoupled ? "AdamW" : "Adam", options, states, update, sizes);
  check(
      states, update,
      [&](Queue& q, ParameterPack& pack, std::vector<OptimizedParameter> p, int step) {
        for (OptimizedParameter& one : p) one.step = upload(std::vector<float>{static_cast<float>(step)}, {});
        fused_step(q, pack, p, optimizer_rule("Adam").update_by_steps_on_device(options));
      },
      sizes);
}

struct Rmsprop {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};
void check_rmsprop(const Rmsprop& o, const std::vector<std::int64_t>& sizes) {
  const std::size_t buffer = 1, average = o.momentum != 0 ? 2 : 1;
  const auto update = [&](Element& e, double g, int) {
    g = (o.maximize ? -g : g) + o.weight_decay * e.p;
    e.state[0] = o.alpha * e.state[0] + (1 - o.alpha) * g * g;
    double root = e.state[0];
    if (o.centered) {
      e.state[average] += (1 - o.alpha) * (g - e.state[average]);
      root -= e.state[average] * e.state[average];
    }
    double move = g / (std::sqrt(root) + o.eps);
    if (o.momentum != 0) move = e.state[buffer] = o.momentum * e.state[buffer] + move;
    e.p -= o.lr * move;
  };
  check_rule("RMSprop",
             {{"lr", o.lr},
              {"alpha", o.alpha},
              {"eps", o.eps},
              {"weight_decay", o.weight_decay},
              {"momentum", o.momentum},
              {"centered", o.centered},
              {"maximize", o.maximize}},
             1 + (o.momentum != 0) + o.centered, update, sizes);
}

struct AdagradOf {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, eps = 1e-10;
  bool maximize = false;
};
void check_adagrad(const AdagradOf& o, const std::vector<std::int64_t>& sizes) {
  const auto update = [&](Element& e, double g, int step) {
    g = (o.maximize ? -g : g) + o.weight_decay * e.p;
    e.state[0] += g * g;
    e.p -= o.lr / (1 + (step - 1) * o.lr_decay) * g / (std::sqrt(e.state[0]) + o.eps);
  };
  check_rule("Adagrad",
             {{"lr", o.lr},
              {"lr_decay", o.lr_decay},
              {"weight_decay", o.weight_decay},
              {"eps", o.eps},
              {"maximize", o.maximize}},
             1, update, sizes);
}

void check_others(const std::vector<std::int64_t>& sizes) {
  check_rule(
      "Adadelta", {{"lr", 0.5}, {"rho", 0.8}, {"eps", 1e-2}}, 2,
      [](Element& e, double g, int) {
        e.state[0] = 0.8 * e.state[0] + 0.2 * g * g;
        const double move = std::sqrt(e.state[1] + 1e-2) / std::sqrt(e.state[0] + 1e-2) * g;
        e.state[1] = 0.8 * e.state[1] + 0.2 * move * move;
        e.p -= 0.5 * move;
      },
      sizes);
  check_rule(
      "Adamax", {{"lr", 0.1}, {"betas", betas(0.8, 0.9)}}, 2,
      [](Element& e, double g, int step) {
        e.state[0] = 0.8 * e.state[0] + 0.2 * g;
        e.state[1] = std::fmax(0.9 * e.state[1], std::fabs(g) + 1e-8);
        e.p -= 0.1 / (1 - std::pow(0.8, step)) * e.state[0] / e.state[1];
      },
      sizes);
  check_rule(
      "ASGD", {{"lr", 0.1}, {"lambd", 0.1}, {"t0", 1.0}}, 1,
      [eta = 0.1, mu = 1.0, at = 0](Element& e, double g, int step) mutable {
        if (step != at) {
          if (at > 0) {
            eta = 0.1 / std::pow(1 + 0.1 * 0.1 * at, 0.75);
            mu = 1 / std::fmax(1.0, at - 1.0);
          }
          at = step;
        }
        e.p = e.p * (1 - 0.1 * eta) - eta * g;
        e.state[0] += mu * (e.p - e.state[0]);
      },
      sizes);
}

}  // namespace

TEST(FusedOptimizer, Sgd) {
  check_sgd({0.1}, some_sizes);
  check_sgd({0.1, 0.9, 0, 1e-2}, some_sizes);
  check_sgd({0.1, 0.9, 0.2, 1e-2, false, true}, some_sizes);
  check_sgd({0.1, 0.9, 0, 1e-2, true}, some_sizes);
  check_sgd({0.1, 0.9}, many_sizes);
}

TEST(FusedOptimizer, Adam) {
  check_adam({1e-2}, some_sizes);
  check_adam({1e-2, 0.8, 0.9, 1e-6, 0.1, false, true, true}, some_sizes);
  check_adam({1e-2, 0.4, 0.99, 1e-8, 0.1, true}, many_sizes);
}

TEST(FusedOptimizer, Rmsprop) {
  check_rmsprop({}, some_sizes);
  // A large eps, since the centered root loses its digits where the variance is small.
  check_rmsprop({1e-2, 0.9, 0.1, 0.1, 0.9, true, true}, some_sizes);
  check_rmsprop({1e-2, 0.9, 0.1, 0, 0, true}, some_sizes);
  check_rmsprop({1e-2, 0.9, 1e-8, 0, 0.5}, many_sizes);
}

TEST(FusedOptimizer, Adagrad) {
  check_adagrad({}, some_sizes);
  check_adagrad({0.1, 0.01, 0.1, 1e-6, true}, many_sizes);
}

TEST(FusedOptimizer, Others) {
  check_others(some_sizes);
}

TEST(FusedOptimizer, Errors) {
  Queue& queue = device().queue();
  ParameterPack pack;
  const Tensor p = queue.scratch({3}), g = queue.scratch({4});
  const FusedUpdate update{"adagrad_step", {0.1, 1e-8, 0, 1}};
  EXPECT_THROW(fused_step(queue, pack, {{p, g, {p}}}, update), ValueError);
  EXPECT_THROW(fused_step(queue, pack, {{p, p, {g}}}, update), ValueError);
  EXPECT_THROW(fused_step(queue, pack, {{p, p, {p}}, {p, p, {}}}, update), ValueError);
  const Tensor h = queue.scratch({3}, DType::float16), n = queue.scratch({3}, DType::int64);
  EXPECT_THROW(fused_step(queue, pack, {{h, p, {h}}}, update), TypeError);
  EXPECT_THROW(fused_step(queue, pack, {{p, p, {p}}, {h, h, {h}}}, update), TypeError);
  EXPECT_THROW(fused_step(queue, pack, {{n, n, {n}}}, update), TypeError);
  fused_step(queue, pack, {}, update);
}

TEST(FusedOptimizer, Rules) {
  EXPECT_THROW(optimizer_rule("Sgd"), ValueError);
  const OptimizerRule& rule = optimizer_rule("SGD");
  Options options = defaults_of(rule.options);
  rule.check(options);
  options.set("nesterov", true);
  EXPECT_THROW(rule.check(options), ValueError);
  options.set("lr", std::string("fast"));
  EXPECT_THROW(rule.check(options), TypeError);
}

TEST(ParameterPack, LaunchesFewBuffers) {
  Queue& queue = device().queue();
  std::vector<Tensor> tensors;
  std::vector<std::vector<const Tensor*>> rows;
  for (int i = 0; i < 100; ++i) tensors.push_back(queue.scratch({1000}));
  for (const Tensor& t : tensors) rows.push_back({&t});
  ParameterPack pack;
  const char* allocator = std::getenv("OCL_ALLOCATOR");
  const std::size_t launches = allocator && std::string(allocator) == "direct" ? 7 : 1;
  EXPECT_EQ(pack.prepare(queue, rows).size(), launches);
  EXPECT_EQ(pack.chunks(), 100);
}

TEST(MultiTensor, NormClipScale) {
  Queue& queue = device().queue();
  std::vector<Tensor> tensors;
  double sum = 0, squares = 0, cubes = 0, top = 0, bottom = 1e9;
  float count = 0;
  std::vector<float> last;
  for (const std::int64_t n : some_sizes) {
    last = random_floats(n, static_cast<unsigned>(n));
    tensors.push_back(upload(last, {n}));
    for (const float v : last) {
      sum += std::abs(v);
      squares += v * v;
      cubes += std::pow(std::abs(v), 3.0);
      top = std::fmax(top, std::abs(v));
      bottom = std::fmin(bottom, std::abs(v));
      count += v != 0 ? 1 : 0;
    }
  }
  ParameterPack pack;
  const Tensor norm = queue.scratch({});
  const auto value = [&](double p) {
    multi_tensor_norm(queue, pack, tensors, p, norm);
    return download<float>(norm)[0];
  };
  EXPECT_NEAR(value(1), sum, 1e-6 * sum);
  EXPECT_EQ(value(std::numeric_limits<double>::infinity()), static_cast<float>(top));
  EXPECT_NEAR(value(2), std::sqrt(squares), 1e-6 * std::sqrt(squares));
  EXPECT_NEAR(value(3), std::cbrt(cubes), 2e-6 * std::cbrt(cubes));
  EXPECT_EQ(value(-std::numeric_limits<double>::infinity()), static_cast<float>(bottom));
  EXPECT_EQ(value(0), count);
  EXPECT_NEAR(value(2), std::sqrt(squares), 1e-6 * std::sqrt(squares));
  const double ratio = 0.5 / (std::sqrt(squares) + 1e-6);
  multi_tensor_clip(queue, pack, tensors, norm, 0.5);
  EXPECT_NEAR(value(2), 0.5, 1e-5);
  multi_tensor_clip(queue, pack, tensors, norm, 10);  // changes nothing
  EXPECT_NEAR(value(2), 0.5, 1e-5);
  multi_tensor_scale(queue, pack, tensors, 3);
  std::vector<double> expected;
  for (const float v : last) expected.push_back(v * ratio * 3);
  expect_close(download<float>(tensors.back()), expected, 2e-6, 0);
  const Tensor found_inf = upload(std::vector<float>{0}, {1});
  multi_tensor_unscale(queue, pack, tensors, 0.5, found_inf);
  EXPECT_EQ(download<float>(found_inf)[0], 0);
  for (double& v : expected) v *= 0.5;
  expect_close(download<float>(tensors.back()), expected, 2e-6, 0);
  fill(queue, tensors.back().reshaped({tensors.back().numel()}), INFINITY);
  multi_tensor_unscale(queue, pack, tensors, 2, found_inf);
  EXPECT_EQ(download<float>(found_inf)[0], 1);
  multi_tensor_clamp(queue, pack, tensors, 0.001);
  EXPECT_NEAR(value(std::numeric_limits<double>::infinity()), 0.001, 1e-9);
  multi_tensor_norm(queue, pack, {}, 2, norm);
  EXPECT_EQ(download<float>(norm)[0], 0);
}

TEST(MultiTensorNorms, OneForEachTensor) {
  Queue& queue = device().queue();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::int64_t> sizes{3, 0, 4096, 4097, 1, 100003};
  std::vector<std::vector<float>> values;
  std::vector<Tensor> tensors;
  for (const std::int64_t n : sizes) {
    values.push_back(random_floats(n, 7 + static_cast<unsigned>(n)));
    tensors.push_back(upload(values.back(), {n}));
  }
  values[2][4095] = 50;  // the last of a chunk
  tensors[2] = upload(values[2], {4096});
  ParameterPack pack;
  for (const double p : {2.0, 1.0, infinity, -infinity, 0.0, 3.0}) {
    const Tensor norms = queue.scratch({static_cast<std::int64_t>(sizes.size())});
    multi_tensor_norms(queue, pack, tensors, p, norms);
    std::vector<double> expected;
    for (const std::vector<float>& all : values) {
      double sum = p == -infinity ? infinity : 0;
      for (const double v : all)
        sum = p == infinity    ? std::fmax(sum, std::abs(v))
              : p == -infinity ? std::fmin(sum, std::abs(v))
              : p == 0         ? sum + (v != 0)
                               : sum + std::pow(std::abs(v), p);
      expected.push_back(std::isinf(p) || p == 0 ? sum : std::pow(sum, 1 / p));
    }
    const std::vector<float> ours = download<float>(norms);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (std::isinf(expected[i]))
        EXPECT_EQ(ours[i], expected[i]) << p;
      else
        EXPECT_NEAR(ours[i], expected[i], 2e-6 * expected[i]) << p << " of " << sizes[i];
    }
  }
  const Tensor two = queue.scratch({2});
  multi_tensor_norms(queue, pack, {tensors[1], tensors[1]}, 2, two);
  EXPECT_EQ(download<float>(two), (std::vector<float>{0, 0}));
  EXPECT_THROW(multi_tensor_norms(queue, pack, tensors, 2, two), ValueError);
  multi_tensor_norms(queue, pack, {}, 2, queue.scratch({0}));
}

TEST(FusedOptimizer, Oclgrind) {
  const std::vector<std::int64_t> tiny{20, 3};
  check_sgd({0.1, 0.9, 0, 0.1}, tiny);
  check_adam({1e-2, 0.9, 0.99, 1e-8, 0.1, true, true}, tiny);
  check_rmsprop({1e-2, 0.9, 0.1, 0.1, 0.9, true}, tiny);
  check_adagrad({}, tiny);
  check_others(tiny);
  ParameterPack pack;
  const std::vector<Tensor> tensors{upload(random_floats(37, 1), {37}), upload(random_floats(5, 1), {5})};
  const Tensor norm = device().queue().scratch({});
  multi_tensor_norm(device().queue(), pack, tensors, 2, norm);
  multi_tensor_clip(device().queue(), pack, tensors, norm, 1);
  multi_tensor_scale(device().queue(), pack, tensors, 2);
  multi_tensor_clamp(device().queue(), pack, tensors, 0.5);
  multi_tensor_norm(device().queue(), pack, tensors, 2.5, norm);
  download<float>(norm);
  const Tensor norms = device().queue().scratch({2});
  multi_tensor_norms(device().queue(), pack, tensors, 2, norms);
  download<float>(norms);
}
