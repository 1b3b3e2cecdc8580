#include "dlprim/ops/pointwise/chain.h"

#include <random>

#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/elements.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Kind = ChainOperand::Kind;

const PointwiseExpression* forward(const char* row) {
  return &forward_expression(pointwise_op(row));
}

/** y = relu(x * s + b) and x * s. */
PointwiseChain scaled(DType dtype) {
  return {dtype,
          {{forward("mul"), {{Kind::input, 0}, {Kind::input, 1}}},
           {forward("add"), {{Kind::result, 0}, {Kind::number}}},
           {forward("relu"), {{Kind::result, 1}}}},
          {2, 0}};
}

TEST(PointwiseChains, GiveTheBitsOfTheirStepsForAnyLayout) {
  std::mt19937 random(3);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (!supports(dtype)) continue;
    for (const Placement placement : {Placement::contiguous, Placement::strided}) {
      SCOPED_TRACE(name(dtype));
      const Dims shape{5, 3, 33};
      const Tensor x = sample(random, dtype, shape, placement).tensor;
      const Tensor s = sample(random, dtype, {33}, placement).tensor;
      const auto fresh = [&] { return Tensor::empty(device(), shape, dtype); };
      const Tensor product = fresh(), sum = fresh(), expected = fresh(), result = fresh(), between = fresh();
      pointwise(queue(), *forward("mul"), dtype, {x, s}, {}, {product});
      pointwise(queue(), *forward("add"), dtype, {product, Scalar(0.3)}, {1}, {sum});
      pointwise(queue(), *forward("relu"), dtype, {sum}, {}, {expected});
      pointwise(queue(), chain_expression(scaled(dtype)), dtype, {x, s}, {0.3, 1}, {result, between});
      EXPECT_EQ(download_values(result), download_values(expected));
      EXPECT_EQ(download_values(between), download_values(product));
    }
  }
}

TEST(PointwiseChains, HaveOneExpressionAndAName) {
  const PointwiseChain chain = scaled(DType::float32);
  const PointwiseExpression& expression = chain_expression(chain);
  EXPECT_EQ(&expression, &chain_expression(scaled(DType::float32)));
  EXPECT_NE(&expression, &chain_expression(scaled(DType::float16)));
  EXPECT_EQ(full_name(expression),
            "chain float32: mul.forward(x0, x1); add.forward(r0, #); relu.forward(r1) -> r2, r0");
  EXPECT_EQ(&expression_named(full_name(expression)), &expression);
  EXPECT_EQ(chain.inputs(), 2U);
  EXPECT_EQ(chain.parameters(), expression.parameters.size());
}

TEST(PointwiseChains, TakeGradientsWithSeveralResults) {
  const PointwiseExpression& gradient = gradient_expression(pointwise_op("mul"), 3);
  ASSERT_EQ(gradient.variables, (std::vector<std::string>{"g", "a", "b"}));
  const PointwiseChain chain{DType::float32,
                             {{&gradient, {{Kind::input, 0}, {Kind::input, 1}, {Kind::input, 2}}},
                              {forward("sub"), {{Kind::result, 0}, {Kind::result, 1}}}},
                             {2}};
  std::mt19937 random(4);
  const Sample g = sample(random, DType::float32, {65}, Placement::contiguous),
               a = sample(random, DType::float32, {65}, Placement::contiguous),
               b = sample(random, DType::float32, {65}, Placement::contiguous);
  const Tensor result = Tensor::empty(device(), {65});
  pointwise(queue(), chain_expression(chain), DType::float32, {g.tensor, a.tensor, b.tensor}, {1}, {result});
  const std::vector<double> found = download_values(result);
  for (std::size_t i = 0; i < 65; ++i) EXPECT_NEAR(found[i], g.values[i] * (b.values[i] - a.values[i]), 1e-5);
}

TEST(PointwiseChains, RefuseWhatIsNone) {
  const auto refuses = [](const PointwiseChain& chain) {
    EXPECT_THROW(chain_expression(chain), ValueError) << text_of(chain);
  };
  PointwiseChain chain = scaled(DType::float32);
  chain.outputs = {3};
  refuses(chain);
  chain.outputs = {};
  refuses(chain);
  chain = scaled(DType::int32);
  refuses(chain);
  chain = scaled(DType::float32);
  chain.steps[0].operands.pop_back();
  refuses(chain);
  chain = scaled(DType::float32);
  chain.steps[0].operands[0] = {Kind::result, 0};
  refuses(chain);
  chain.steps.clear();
  refuses(chain);
}

TEST(PointwiseChains, AreNoneForManyTensorsAtOnce) {
  ParameterPack pack;
  const Tensor x = Tensor::empty(device(), {3}), y = Tensor::empty(device(), {3});
  const PointwiseChain chain{DType::float32, {{forward("relu"), {{Kind::input, 0}}}}, {0}};
  EXPECT_THROW(multi_tensor_pointwise(queue(), pack, chain_expression(chain), {{y, {x}}}, {std::nullopt}, {}),
               ValueError);
}

}  // namespace
