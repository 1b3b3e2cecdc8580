#include "dlprim/ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/** What a mask adds to every score, row-major; `scores` are [batch, queries, keys]. */
std::vector<double> attended(const std::vector<double>& scores, const Dims& shape, double scale,
                             const std::vector<double>& added, bool is_causal) {
  const auto keys = static_cast<std::size_t>(shape[2]), queries = static_cast<std::size_t>(shape[1]);
  std::vector<double> result(scores.size());
  for (std::size_t row = 0; row < scores.size() / keys; ++row) {
    std::vector<double> terms(keys);
    double top = minus_infinity, sum = 0;
    for (std::size_t k = 0; k < keys; ++k) {
      const std::size_t at = row * keys + k;
      terms[k] = is_causal && k > row % queries ? minus_infinity : scores[at] * scale + added[at];
      top = std::fmax(top, terms[k]);
    }
    for (double& term : terms) sum += term = top == minus_infinity ? 0 : std::exp(term - top);
    for (std::size_t k = 0; k < keys; ++k) result[row * keys + k] = sum == 0 ? 0 : terms[k] / sum;
  }
  return result;
}

/** Every mask, in any layout, over scores [outer * inner, queries, keys]. */
void check(std::mt19937& random, std::int64_t outer, std::int64_t inner, std::int64_t queries,
           std::int64_t keys) {
  const Dims shape{outer * inner, queries, keys}, mask_shape{outer, inner, queries, keys};
  for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::expanded})
    for (const DType dtype : {DType::float32, DType::boolean})
      for (const bool is_causal : {false, true}) {
        const Sample scores = sample(random, DType::float32, shape, Placement::contiguous),
                     mask = sample(random, dtype, mask_shape, placement);
        std::vector<double> added = mask.values;
        if (dtype == DType::boolean)
          for (double& value : added) value = value != 0 ? 0 : minus_infinity;
        attention_softmax(device().queue(), scores.tensor, 0.375, &mask.tensor, is_causal);
        expect_close(download_values(scores.tensor), attended(scores.values, shape, 0.375, added, is_causal),
                     1e-5, 1e-7);
      }
}

TEST(Attention, SoftmaxOfMaskedScores) {
  std::mt19937 random(1);
  check(random, 2, 3, 5, 7);
  check(random, 1, 2, 17, 33);
  check(random, 3, 1, 1, 300);
  check(random, 1, 1, 4, 1);
}

TEST(Attention, WithoutAMask) {
  std::mt19937 random(2);
  const Dims shape{2, 9, 16};
  for (const bool is_causal : {false, true}) {
    const Sample scores = sample(random, DType::float32, shape, Placement::contiguous);
    attention_softmax(device().queue(), scores.tensor, 1, nullptr, is_causal);
    expect_close(download_values(scores.tensor),
                 attended(scores.values, shape, 1, std::vector<double>(scores.values.size()), is_causal),
                 1e-5, 1e-7);
  }
}

TEST(Attention, AQueryWithoutKeysGetsZeros) {
  const Tensor scores = upload<float>({1, 2, 3, 4}, {1, 2, 2});
  const Tensor mask = upload_as(DType::boolean, {0, 0, 1, 0}, {1, 1, 2, 2});
  attention_softmax(device().queue(), scores, 1, &mask, false);
  EXPECT_EQ(download<float>(scores), (std::vector<float>{0, 0, 1, 0}));
}

TEST(Attention, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor scores = upload<float>(std::vector<float>(24), {2, 3, 4});
  const Tensor other = upload<float>(std::vector<float>(12), {1, 1, 3, 4});
  expect_error<ValueError>([&] { attention_softmax(queue, scores, 1, &other, false); },
                           "does not fit scores of shape [2, 3, 4]");
  const Tensor integers = upload<std::int64_t>(std::vector<std::int64_t>(24), {2, 1, 3, 4});
  expect_error<TypeError>([&] { attention_softmax(queue, scores, 1, &integers, false); },
                          "expected a mask of dtype bool or float32");
  expect_error<ValueError>([&] { attention_softmax(queue, scores.reshaped({6, 4}), 1, nullptr, false); },
                           "[batch, queries, keys]");
}

}  // namespace
