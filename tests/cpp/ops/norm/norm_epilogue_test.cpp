#include "dlprim/ops/pointwise/epilogue.h"

#include <cmath>
#include <cstring>

#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr double eps = 1e-5;

/** Results of batch norm, an addition and an activation, and the gradients; the addend's may be undefined. */
struct Results {
  Results(const Dims& shape, bool has_addend) {
    const std::int64_t channels = shape[1];
    for (Tensor* t : {&y, &dx}) *t = queue().scratch(shape);
    for (Tensor* t : {&mean, &invstd, &dweight, &dbias}) *t = queue().scratch({channels});
    if (has_addend) daddend = queue().scratch(shape);
  }
  Tensor y, mean, invstd, dx, dweight, dbias, daddend;
};

struct Inputs {
  Tensor x, weight, bias, addend, dy;
};

Inputs inputs_of(const Dims& shape, unsigned seed) {
  const auto wide = [&](unsigned i) {  // so that relu6 and hardswish meet all their branches
    auto values = random_floats(product(shape), seed + i);
    for (float& v : values) v *= 4;
    return upload(values, shape);
  };
  const std::int64_t channels = shape[1];
  auto weight = random_floats(channels, seed + 1);
  for (float& w : weight) w *= 5;
  return {wide(2), upload(weight, {channels}), upload(random_floats(channels, seed + 3), {channels}), wide(4),
          upload(random_floats(product(shape), seed + 5), shape)};
}

/** One step after another. */
Results apart(const Inputs& in, const PointwiseOp* activation, bool has_addend, bool training) {
  Results r(in.x.shape, has_addend);
  const Tensor normed = queue().scratch(in.x.shape), sum = queue().scratch(in.x.shape);
  batch_norm_statistics(queue(), in.x, eps, r.mean, r.invstd);
  batch_norm_forward(queue(), in.x, r.mean, r.invstd, &in.weight, &in.bias, normed);
  const auto compute = [](const char* row, const std::vector<PointwiseOperand>& of, const Tensor& to,
                          const std::vector<Scalar>& parameters = {}) {
    pointwise(queue(), forward_expression(pointwise_op(row)), DType::float32, of, parameters, {to});
  };
  if (has_addend)
    compute("add", {normed, in.addend}, sum, {1});
  else
    queue().copy(normed, sum, static_cast<std::size_t>(sum.numel()) * sizeof(float));
  Tensor g = in.dy;
  if (activation) {
    compute(activation->name.c_str(), {sum}, r.y);
    g = queue().scratch(in.x.shape);
    pointwise_backward(queue(), *activation, in.dy, {sum}, {}, r.y, {g});
  } else {
    r.y = sum;
  }
  if (has_addend) r.daddend = g;
  batch_norm_backward(queue(), g, in.x, r.mean, r.invstd, &in.weight, training, &r.dx, &r.dweight, &r.dbias);
  return r;
}

Results together(const Inputs& in, const PointwiseOp* activation, bool has_addend, bool training) {
  Results r(in.x.shape, has_addend);
  batch_norm_training_forward(queue(), in.x, &in.weight, &in.bias, eps, {}, r.y, r.mean, r.invstd,
                              {has_addend ? &in.addend : nullptr, activation});
  EpilogueGradient epilogue{activation, &in.bias, nullptr, nullptr};
  if (has_addend && activation) epilogue = {activation, &in.bias, &r.y, &r.daddend};
  if (has_addend && !activation) r.daddend = in.dy;
  batch_norm_backward(queue(), in.dy, in.x, r.mean, r.invstd, &in.weight, training, &r.dx, &r.dweight,
                      &r.dbias, epilogue);
  return r;
}

/** `terms`: of size 1, each rounded, of which a number is the sum. */
void expect_same(const Tensor& actual, const Tensor& expected, bool to_the_bit, const std::string& what,
                 std::int64_t terms = 1) {
  SCOPED_TRACE(what);
  const auto a = download<float>(actual), e = download<float>(expected);
  if (to_the_bit)
    EXPECT_EQ(a, e);
  else
    expect_close(a, e, 1e-6, 1e-6 + 1e-7 * std::sqrt(static_cast<double>(terms)));
}

void check(const Dims& shape) {
  const Inputs in = inputs_of(shape, 1);
  for (const char* name : {"", "relu", "relu6", "hardsigmoid", "hardswish", "silu", "sigmoid"})
    for (const bool has_addend : {false, true})
      for (const bool training : {true, false}) {
        const PointwiseOp* activation = *name ? &pointwise_op(name) : nullptr;
        if (activation && !can_be_epilogue(*activation, has_addend)) continue;
        SCOPED_TRACE(
            concat(name, has_addend ? " with an addend, " : ", ", training ? "training " : "", shape));
        const Results expected = apart(in, activation, has_addend, training);
        const Results actual = together(in, activation, has_addend, training);
        // A compiler may make one rounding of what the others multiply and the sums add.
        const bool to_the_bit = !activation || activation->name == "relu" || activation->name == "relu6";
        expect_same(actual.y, expected.y, to_the_bit, "y");
        expect_same(actual.dx, expected.dx, to_the_bit, "dx");
        const std::int64_t terms = product(shape) / shape[1];
        expect_same(actual.dweight, expected.dweight, to_the_bit, "dweight", terms);
        expect_same(actual.dbias, expected.dbias, to_the_bit, "dbias", terms);
        if (has_addend) expect_same(actual.daddend, expected.daddend, to_the_bit, "daddend");
      }
}

}  // namespace

TEST(NormEpilogue, IsWhatFollowsOneStepAfterAnother) {
  for (const Dims& shape :
       {Dims{5, 32, 49}, Dims{3, 2, 676}, Dims{128, 10, 1}, Dims{7, 3, 5}, Dims{2, 17, 100}, Dims{1, 3, 5000},
        Dims{300, 1, 64}, Dims{2, 5, 16}, Dims{37, 40}})
    check(shape);
}

TEST(NormEpilogue, EveryImplementation) {
  for (const char* family : {"batch_norm_gradient_sums", "batch_norm_forward", "batch_norm_input_gradient"})
    for_each_implementation(family, [] {
      check({5, 12, 52});
      check({3, 4, 7});
    });
}

// A forward pass that keeps no gradient of x or of the parameters still has the addend's to give.
TEST(NormEpilogue, TheAddendsGradientComesWithoutTheOthers) {
  const Inputs in = inputs_of({3, 4, 20}, 9);
  const PointwiseOp& relu = pointwise_op("relu");
  const Results expected = apart(in, &relu, true, false);
  const Tensor daddend = queue().scratch(in.x.shape);
  batch_norm_backward(queue(), in.dy, in.x, expected.mean, expected.invstd, nullptr, false, nullptr, nullptr,
                      nullptr, {&relu, nullptr, &expected.y, &daddend});
  expect_same(daddend, expected.daddend, true, "daddend");
}

TEST(NormEpilogue, NansAndInfinitiesPassAsTheyDoApart) {
  Inputs in = inputs_of({2, 3, 21}, 5);
  auto values = download<float>(in.addend);
  values[0] = NAN;
  values[1] = INFINITY;
  values[22] = -INFINITY;
  in.addend = upload(values, in.x.shape);
  const PointwiseOp& relu6 = pointwise_op("relu6");
  const auto bits = [](const Tensor& t) {
    std::vector<std::uint32_t> words;
    for (const float v : download<float>(t))
      words.push_back(std::isnan(v) ? 1 : [&] {
        std::uint32_t word = 0;
        std::memcpy(&word, &v, sizeof word);
        return word;
      }());
    return words;
  };
  const Results expected = apart(in, &relu6, true, true), actual = together(in, &relu6, true, true);
  EXPECT_EQ(bits(actual.y), bits(expected.y));
  EXPECT_EQ(bits(actual.daddend), bits(expected.daddend));
}

TEST(NormEpilogue, RowsThatCanFollow) {
  for (const char* name : {"relu", "relu6", "sigmoid"})
    for (const bool has_addend : {false, true})
      EXPECT_TRUE(can_be_epilogue(pointwise_op(name), has_addend)) << name;
  for (const char* name : {"hardswish", "hardsigmoid", "silu"}) {
    EXPECT_TRUE(can_be_epilogue(pointwise_op(name), false)) << name;
    EXPECT_FALSE(can_be_epilogue(pointwise_op(name), true)) << name;
  }
  for (const char* name : {"gelu", "mish", "tanh", "leaky_relu", "isnan", "add", "log", "round"})
    EXPECT_FALSE(can_be_epilogue(pointwise_op(name), false)) << name;
  const PointwiseOp copy = pointwise_op("relu");
  EXPECT_FALSE(can_be_epilogue(copy, false)) << "no row of the table";
}

TEST(NormEpilogue, Errors) {
  const Inputs in = inputs_of({3, 4, 5}, 1);
  Results r(in.x.shape, true);
  const auto forward = [&](const Epilogue& epilogue) {
    batch_norm_forward(queue(), in.x, r.mean, r.invstd, nullptr, nullptr, r.y, epilogue);
  };
  expect_error<ValueError>([&] { forward({nullptr, &pointwise_op("gelu")}); },
                           "batch_norm: gelu cannot follow in the kernels");
  expect_error<ValueError>([&] { forward({&in.addend, &pointwise_op("hardswish")}); }, "behind an addend");
  expect_error<ValueError>([&] { forward({&in.weight, nullptr}); }, "batch_norm: expected the addend");
  expect_error<ValueError>(
      [&] {
        batch_norm_backward(queue(), in.dy, in.x, r.mean, r.invstd, nullptr, true, &r.dx, nullptr, nullptr,
                            {&pointwise_op("relu"), nullptr, &r.y, nullptr});
      },
      "go together");
}

TEST(NormEpilogue, Oclgrind) {
  check({2, 3, 20});
  check({2, 2, 5});
}
