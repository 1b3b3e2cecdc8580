#include "autograd/tape/gradcheck.h"

#include <random>

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(const TensorList&)>;

class Gradcheck : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!device().info().fp64) GTEST_SKIP() << "the device has no float64, which differences need";
  }
};

/** Doubles in [low, high), kept away from multiples of 0.5, where many functions have kinks. */
Tensor input(const Shape& shape, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values;
  while (static_cast<std::int64_t>(values.size()) < dlprim::product(shape)) {
    const double v = uniform(random), from_half = v * 2 - std::nearbyint(v * 2);
    if (std::abs(from_half) > 0.02) values.push_back(v);
  }
  return tensor(values, shape).requires_grad_();
}

struct Case {
  const char* name;
  Function function;
  std::vector<Shape> shapes;
  double low = -2, high = 2;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TensorList inputs;
    for (const Shape& shape : c.shapes)
      inputs.push_back(input(shape, static_cast<unsigned>(inputs.size() + 1), c.low, c.high));
    EXPECT_NO_THROW(autograd::gradcheck(c.function, inputs)) << c.name;
  }
}

}  // namespace

#define OF_ONE(f)                                      \
  {                                                    \
    #f, [](const TensorList& x) { return f(x[0]); }, { \
      { 2, 3 }                                         \
    }                                                  \
  }
#define OF_ONE_IN(f, low, high) {#f, [](const TensorList& x) { return f(x[0]); }, {{2, 3}}, low, high}
#define OF_TWO(f)                                            \
  {                                                          \
    #f, [](const TensorList& x) { return f(x[0], x[1]); }, { \
      {2, 3}, {3}                                            \
    }                                                        \
  }

TEST_F(Gradcheck, Unary) {
  check({OF_ONE(neg),
         OF_ONE(ocl::abs),
         OF_ONE(ocl::exp),
         OF_ONE(ocl::expm1),
         OF_ONE(square),
         OF_ONE(ocl::sin),
         OF_ONE(ocl::cos),
         OF_ONE(ocl::tanh),
         OF_ONE(ocl::erf),
         OF_ONE(sigmoid),
         OF_ONE(relu),
         OF_ONE(silu),
         OF_ONE(gelu),
         OF_ONE(gelu_tanh),
         OF_ONE(mish),
         OF_ONE(selu),
         OF_ONE(hardsigmoid),
         OF_ONE(hardswish),
         OF_ONE(logsigmoid),
         OF_ONE(softsign),
         OF_ONE(tanhshrink),
         OF_ONE(leaky_relu),
         OF_ONE(elu),
         OF_ONE(celu),
         OF_ONE(softplus),
         OF_ONE(hardtanh),
         OF_ONE(relu6),
         OF_ONE(frac),
         OF_ONE_IN(ocl::log, 0.2, 3),
         OF_ONE_IN(ocl::log1p, -0.5, 3),
         OF_ONE_IN(ocl::log2, 0.2, 3),
         OF_ONE_IN(ocl::sqrt, 0.2, 3),
         OF_ONE_IN(rsqrt, 0.2, 3),
         OF_ONE_IN(reciprocal, 0.5, 3),
         OF_ONE_IN(ocl::asin, -0.9, 0.9),
         OF_ONE_IN(ocl::acos, -0.9, 0.9),
         OF_ONE(ocl::atan),
         OF_ONE_IN(ocl::tan, -1, 1),
         OF_ONE(ocl::sinh),
         OF_ONE(ocl::cosh),
         OF_ONE(ocl::exp2),
         OF_ONE(ocl::erfc),
         OF_ONE(ocl::asinh),
         OF_ONE_IN(ocl::acosh, 1.2, 3),
         OF_ONE_IN(ocl::atanh, -0.8, 0.8),
         OF_ONE_IN(ocl::lgamma, 0.3, 3),
         OF_ONE_IN(digamma, 0.3, 3),
         OF_ONE_IN(sinc, 0.2, 3),
         OF_ONE_IN(special_entr, 0.2, 3),
         OF_ONE(hardshrink),
         OF_ONE(softshrink),
         OF_ONE_IN(logit, 0.1, 0.9)});
}

TEST_F(Gradcheck, Parameters) {
  check(
      {{"leaky_relu 0.3", [](const TensorList& x) { return leaky_relu(x[0], 0.3); }, {{5}}},
       {"elu 2", [](const TensorList& x) { return elu(x[0], 2); }, {{5}}},
       {"celu 2", [](const TensorList& x) { return celu(x[0], 2); }, {{5}}},
       {"softplus", [](const TensorList& x) { return softplus(x[0], 3, 2); }, {{5}}},
       {"clamp", [](const TensorList& x) { return clamp(x[0], -1, 0.7); }, {{9}}},
       {"clamp to tensors",
        [](const TensorList& x) { return clamp(x[0], x[1] - 1, x[2] + 1); },
        {{4, 3}, {3}, {4, 1}}},
       {"clamp_min of a tensor", [](const TensorList& x) { return clamp_min(x[0], x[1]); }, {{4, 3}, {3}}},
       {"clamp_max of a tensor", [](const TensorList& x) { return x[0].clamp({}, x[1]); }, {{4, 3}, {}}},
       {"logit eps", [](const TensorList& x) { return logit(x[0], 0.25); }, {{9}}, 0.1, 0.9},
       {"rsub alpha", [](const TensorList& x) { return rsub(x[0], x[1], 3); }, {{2, 3}, {2, 1}}},
       {"threshold", [](const TensorList& x) { return threshold(x[0], 0.25, 3); }, {{9}}},
       {"add alpha", [](const TensorList& x) { return add(x[0], x[1], 3); }, {{2, 3}, {2, 1}}},
       {"addcmul", [](const TensorList& x) { return addcmul(x[0], x[1], x[2], 2); }, {{2, 3}, {3}, {2, 1}}}});
}

TEST_F(Gradcheck, Binary) {
  check({OF_TWO(mul), OF_TWO(sub), OF_TWO(maximum), OF_TWO(minimum), OF_TWO(ocl::atan2), OF_TWO(prelu_kernel),
         OF_TWO(ocl::hypot), OF_TWO(ocl::copysign), OF_TWO(ocl::fmax), OF_TWO(ocl::fmin),
         OF_TWO(logaddexp2)});
  const auto of_positive = [](const char* name, const Function& f) {
    return Case{name, f, {{2, 3}, {3}}, 0.6, 2};
  };
  check({of_positive("div", [](const TensorList& x) { return x[0] / x[1]; }),
         of_positive("pow", [](const TensorList& x) { return ocl::pow(x[0], x[1]); }),
         of_positive("xlogy", [](const TensorList& x) { return xlogy(x[0], x[1]); }),
         of_positive("special_xlog1py", [](const TensorList& x) { return special_xlog1py(x[0], x[1]); }),
         of_positive("fmod", [](const TensorList& x) { return ocl::fmod(x[0], x[1]); }),
         {"pow by a number", [](const TensorList& x) { return ocl::pow(x[0], 3); }, {{4}}},
         {"number to the power", [](const TensorList& x) { return ocl::pow(2.0, x[0]); }, {{4}}},
         {"where", [](const TensorList& x) { return where(x[0] > x[1], x[0], x[1] * 3); }, {{2, 3}, {2, 3}}},
         {"lerp", [](const TensorList& x) { return lerp(x[0], x[1], x[2]); }, {{2, 3}, {3}, {2, 1}}},
         {"addcdiv",
          [](const TensorList& x) { return addcdiv(x[0], x[1], x[2], 2); },
          {{2, 3}, {3}, {2, 1}},
          0.6,
          2}});
}

TEST_F(Gradcheck, Reductions) {
  check({{"sum", [](const TensorList& x) { return sum(x[0]); }, {{2, 3}}},
         {"sum of dims", [](const TensorList& x) { return sum(x[0], {0, 2}); }, {{2, 3, 2}}},
         {"mean keepdim", [](const TensorList& x) { return mean(x[0], {-1}, true); }, {{2, 3}}},
         {"norm", [](const TensorList& x) { return norm(x[0], 2, {1}); }, {{2, 3}}},
         {"norm of order 3", [](const TensorList& x) { return norm(x[0], 3); }, {{2, 3}}},
         {"prod", [](const TensorList& x) { return prod(x[0], {1}); }, {{2, 3}}},
         {"var", [](const TensorList& x) { return var(x[0], {0, 1}); }, {{2, 3}}},
         {"std", [](const TensorList& x) { return ocl::std(x[0], {1}, 0, true); }, {{2, 3}}},
         {"logsumexp", [](const TensorList& x) { return logsumexp(x[0], {0}); }, {{2, 3}}},
         {"max of a dim", [](const TensorList& x) { return max(x[0], 1).first; }, {{4, 3}}},
         {"cumsum", [](const TensorList& x) { return cumsum(x[0], 1); }, {{2, 4}}},
         {"cumprod", [](const TensorList& x) { return cumprod(x[0], 0); }, {{4, 2}}},
         {"amax", [](const TensorList& x) { return amax(x[0], {0}); }, {{4, 2}}},
         {"amin", [](const TensorList& x) { return amin(x[0]); }, {{4, 2}}},
         {"sum of a transpose", [](const TensorList& x) { return sum(square(x[0].t()), {0}); }, {{2, 3}}},
         {"softmax", [](const TensorList& x) { return softmax(x[0], 1); }, {{2, 4}}},
         {"log_softmax", [](const TensorList& x) { return log_softmax(x[0], 0); }, {{4, 2}}}});
}

TEST_F(Gradcheck, Views) {
  const auto of_view = [](const char* name, const std::function<Tensor(const Tensor&)>& view) {
    return Case{name, [view](const TensorList& x) { return square(view(x[0])); }, {{2, 3, 4}}};
  };
  check({of_view("view", [](const Tensor& x) { return x.view({6, 4}); }),
         of_view("reshape of a transpose", [](const Tensor& x) { return reshape(transpose(x, 0, 2), {-1}); }),
         of_view("flatten", [](const Tensor& x) { return flatten(x, 1); }),
         of_view("permute", [](const Tensor& x) { return permute(x, {2, 0, 1}); }),
         of_view("squeeze", [](const Tensor& x) { return squeeze(narrow(x, 1, 1, 1)); }),
         of_view("unsqueeze", [](const Tensor& x) { return unsqueeze(x, -2); }),
         of_view("expand", [](const Tensor& x) { return expand(narrow(x, 0, 1, 1), {3, 3, 4}); }),
         of_view("slice", [](const Tensor& x) { return slice(x, 2, 1, 4, 2); }),
         of_view("select", [](const Tensor& x) { return select(x, 1, -1); }),
         of_view("clone", [](const Tensor& x) { return clone(x); }),
         of_view("cat", [](const Tensor& x) { return cat({x, x * 2, narrow(x, 1, 0, 1)}, 1); })});
}

TEST_F(Gradcheck, LinearAlgebra) {
  check({{"mm", [](const TensorList& x) { return mm(x[0], x[1]); }, {{2, 3}, {3, 4}}},
         {"mm of transposes", [](const TensorList& x) { return mm(x[0].t(), x[1].t()); }, {{3, 2}, {4, 3}}},
         {"bmm", [](const TensorList& x) { return bmm(x[0], x[1]); }, {{2, 2, 3}, {2, 3, 2}}},
         {"matmul of vectors", [](const TensorList& x) { return matmul(x[0], x[1]); }, {{3}, {3}}},
         {"matmul with a vector", [](const TensorList& x) { return matmul(x[0], x[1]); }, {{2, 3}, {3}}},
         {"matmul, broadcast", [](const TensorList& x) { return matmul(x[0], x[1]); }, {{2, 2, 3}, {3, 2}}},
         {"linear", [](const TensorList& x) { return linear(x[0], x[1], x[2]); }, {{2, 2, 3}, {4, 3}, {4}}}});
}

TEST_F(Gradcheck, Layers) {
  check(
      {{"conv2d",
        [](const TensorList& x) { return conv2d(x[0], x[1], x[2], {2, 1}, {1, 0}, {1, 2}); },
        {{1, 2, 5, 5}, {2, 2, 3, 2}, {2}}},
       {"grouped conv2d",
        [](const TensorList& x) { return conv2d(x[0], x[1], {}, 1, 1, 1, 2); },
        {{1, 4, 3, 3}, {2, 2, 3, 3}}},
       {"max_pool2d", [](const TensorList& x) { return max_pool2d(x[0], 2, Pair(1)); }, {{1, 2, 4, 4}}},
       {"avg_pool2d", [](const TensorList& x) { return avg_pool2d(x[0], 2, Pair(2), 1); }, {{1, 2, 4, 4}}},
       {"batch_norm",
        [](const TensorList& x) { return batch_norm(x[0], {}, {}, x[1], x[2], true); },
        {{3, 2, 2}, {2}, {2}}},
       {"cross_entropy",
        [](const TensorList& x) { return cross_entropy(x[0], tensor(std::vector<std::int64_t>{2, 0}, {2})); },
        {{2, 3}}},
       {"nll_loss",
        [](const TensorList& x) { return nll_loss(x[0], tensor(std::vector<std::int64_t>{2, 0}, {2})); },
        {{2, 3}}},
       {"mse_loss", [](const TensorList& x) { return mse_loss(x[0], x[1]); }, {{2, 3}, {2, 3}}},
       {"l1_loss", [](const TensorList& x) { return l1_loss(x[0], x[1]); }, {{2, 3}, {2, 3}}}});
}

TEST_F(Gradcheck, FindsAWrongGradient) {
  const Function wrong = [](const TensorList& x) {
    const Tensor y = x[0].detach() * x[0].detach();
    return record("WrongBackward", {x[0]}, y.data(),
                  [&] { return [x = x[0].detach()](const TensorList& g) { return TensorList{g[0] * x}; }; });
  };
  expect_error<AutogradError>([&] { autograd::gradcheck(wrong, {input({3}, 1)}); }, "element 0 of input 0");
}

TEST_F(Gradcheck, AsksForFloat64) {
  expect_error<TypeError>(
      [] { autograd::gradcheck([](const TensorList& x) { return square(x[0]); }, {leaf({1}, {1})}); },
      "expected a float64 output, got float32");
}
