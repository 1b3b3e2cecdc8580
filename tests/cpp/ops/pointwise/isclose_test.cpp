#include "dlprim/ops/pointwise/isclose.h"

#include <cmath>
#include <limits>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

bool is_close(double a, double b, const Closeness& c) {
  if (std::isnan(a) && std::isnan(b)) return c.equal_nan;
  return a == b ||
         (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= c.atol + c.rtol * std::fabs(b));
}

void check(const Sample& a, const Sample& b, const Closeness& closeness) {
  const Dims shape = broadcast_shapes(a.tensor.shape, b.tensor.shape, "the test");
  const Tensor close = device().queue().scratch(shape, DType::boolean);
  isclose(device().queue(), a.tensor, b.tensor, closeness, close);
  std::vector<double> expected;
  for_each_element(shape, [&](const Dims& at) {
    expected.push_back(is_close(a.values[element_number(a.tensor.shape, at)],
                                b.values[element_number(b.tensor.shape, at)], closeness));
  });
  EXPECT_EQ(download_values(close), expected)
      << name(a.tensor.dtype) << ", rtol " << closeness.rtol << ", atol " << closeness.atol;
}

const Closeness closenesses[] = {{0, 0, false}, {0, 0.5, false}, {0.25, 0, true}, {0.125, 1, false}};

TEST(IsClose, EveryDtypeAndLayout) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::uint8})
    for (const Closeness& closeness : closenesses)
      for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::expanded}) {
        check(sample(random, dtype, {5, 33}, placement), sample(random, dtype, {5, 33}, placement),
              closeness);
        check(sample(random, dtype, {3, 1, 17}, placement), sample(random, dtype, {7, 1}, placement),
              closeness);
        check(sample(random, dtype, {0, 4}, placement), sample(random, dtype, {4}, placement), closeness);
      }
}

TEST(IsClose, InfinitiesAndNan) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> values{inf, -inf, nan, 0, 1, -0.0, 1e30};
  const auto n = static_cast<std::int64_t>(values.size());
  const Sample a{upload_as(DType::float32, values, {n, 1}), values},
      b{upload_as(DType::float32, values, {n}), values};
  for (Closeness closeness : closenesses)
    for (const bool equal_nan : {false, true}) {
      closeness.equal_nan = equal_nan;
      check(a, b, closeness);
    }
}

TEST(IsClose, WholeNumbersExactlyWithoutTolerance) {
  const Tensor a = upload<std::int64_t>({(std::int64_t{1} << 60) + 1, 5}, {2}),
               b = upload<std::int64_t>({std::int64_t{1} << 60, 5}, {2}),
               close = device().queue().scratch({2}, DType::boolean);
  isclose(device().queue(), a, b, {0, 0, false}, close);
  EXPECT_EQ(download_values(close), (std::vector<double>{0, 1}));
}

TEST(IsClose, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor a = upload<float>({1, 2}, {2}), close = queue.scratch({2}, DType::boolean);
  expect_error<TypeError>([&] { isclose(queue, a, queue.scratch({2}, DType::int64), {}, close); },
                          "one dtype");
  expect_error<ValueError>([&] { isclose(queue, a, a, {-1, 0}, close); }, "rtol must be");
  expect_error<ValueError>([&] { isclose(queue, a, a, {0, -1}, close); }, "atol must be");
  expect_error<TypeError>([&] { isclose(queue, a, a, {}, a); }, "dtype bool, got float32");
  expect_error<ValueError>([&] { isclose(queue, a, a, {}, queue.scratch({3}, DType::boolean)); },
                           "of shape [2], got [3]");
}

}  // namespace
