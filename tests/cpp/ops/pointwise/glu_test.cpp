#include "dlprim/ops/pointwise/glu.h"

#include <cmath>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** Forward and backward along `dim`, of x in any layout, against the definition in double. */
void check(std::mt19937& random, DType dtype, const Dims& shape, int dim, Placement placement) {
  Queue& queue = device().queue();
  const Sample x = sample(random, dtype, shape, placement);
  const Dims half = glu_output_shape(shape, dim);
  const Sample dy = sample(random, dtype, half, Placement::strided);
  std::vector<double> y(dy.values.size()), dx(x.values.size());
  for_each_element(half, [&](Dims at) {
    const std::size_t i = element_number(half, at), first = element_number(shape, at);
    at[dim] += half[dim];
    const std::size_t second = element_number(shape, at);
    const double gate = 1 / (1 + std::exp(-x.values[second]));
    y[i] = x.values[first] * gate;
    dx[first] = dy.values[i] * gate;
    dx[second] = dy.values[i] * x.values[first] * gate * (1 - gate);
  });
  const Tensor result = queue.scratch(half, dtype), gradient = queue.scratch(shape, dtype);
  glu_forward(queue, x.tensor, dim, result);
  glu_backward(queue, dy.tensor, x.tensor, dim - shape.size(), gradient);
  const double rounding = 4 * std::max(epsilon(dtype), 1e-6);
  expect_close(download_values(result), y, rounding, rounding);
  expect_close(download_values(gradient), dx, rounding, rounding);
}

TEST(Glu, HalvesOfEveryDimension) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16})
    for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::permuted}) {
      check(random, dtype, {6}, 0, placement);
      check(random, dtype, {3, 34, 5}, 1, placement);
      check(random, dtype, {2, 7, 2}, 2, placement);
      check(random, dtype, {2, 0}, 0, placement);
    }
}

TEST(Glu, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3, 4}, {2, 2}), y = queue.scratch({2, 1});
  expect_error<ValueError>([] { glu_output_shape({2, 3}, 1); }, "must be even, but dimension 1 is size 3");
  expect_error<ValueError>([] { glu_output_shape({}, 0); }, "0-dimensional");
  expect_error<ValueError>([&] { glu_forward(queue, x, 0, y); }, "a result of shape [1, 2], got [2, 1]");
  expect_error<ValueError>([&] { glu_backward(queue, y, x, 1, y); }, "expected dx of shape [2, 2]");
  const Tensor whole = queue.scratch({2, 2}, DType::int64);
  expect_error<TypeError>([&] { glu_forward(queue, whole, 1, whole); }, "expected a floating dtype");
}

}  // namespace
