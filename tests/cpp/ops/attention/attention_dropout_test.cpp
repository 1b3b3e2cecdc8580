#include "dlprim/ops/attention/attention.h"

#include <array>
#include <cmath>
#include <utility>

#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** Weights that dropout left, [batch, queries, keys]: the output is that matrix if the values are the unit
 * matrix. */
std::vector<double> dropped_weights(const Tensor& query, const Tensor& key,
                                    const AttentionSettings& settings) {
  Queue& queue = device().queue();
  const std::int64_t batch = query.shape[0], keys = key.shape[1];
  std::vector<float> units(static_cast<std::size_t>(batch * keys * keys));
  for (std::size_t i = 0; i < units.size(); ++i)
    units[i] = i % static_cast<std::size_t>(keys * keys) % static_cast<std::size_t>(keys + 1) == 0 ? 1 : 0;
  const Tensor output = queue.scratch({batch, query.shape[1], keys});
  attention_forward(queue, query, key, upload(units, {batch, keys, keys}), nullptr, settings, output,
                    nullptr);
  return download_values(output);
}

// Every implementation drops the elements that dropout of the whole matrix drops.
TEST(Attention, DropoutDropsTheSameEverywhere) {
  Queue& queue = device().queue();
  std::mt19937 random(6);
  for (const auto& [queries, keys] : {std::pair{150, 141}, std::pair{70, 192}}) {
    const Tensor query = sample(random, DType::float32, {3, queries, 2}, Placement::contiguous).tensor,
                 key = sample(random, DType::float32, {3, keys, 2}, Placement::contiguous).tensor,
                 whole = queue.scratch({3, queries, keys});
    AttentionSettings settings;
    settings.scale = 0.01;
    settings.dropout_p = 0.4;
    settings.dropout = {5, 1000};
    for (const bool is_causal : {false, true}) {
      settings.is_causal = is_causal;
      fill(queue, whole, 1);
      dropout(queue, whole, settings.dropout_p, settings.dropout, whole);
      const std::vector<double> kept = download_values(whole);
      for_each_implementation("attention_forward", [&, queries = queries, keys = keys] {
        const std::vector<double> weights = dropped_weights(query, key, settings);
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const auto column = static_cast<std::int64_t>(i) % keys, row = static_cast<std::int64_t>(i) / keys;
          ASSERT_EQ(weights[i] != 0, kept[i] != 0 && !(is_causal && column > row % queries)) << i;
        }
      });
    }
  }
}

/** The slope of the sum of outputs times `by_output`, along a direction of the operands' gradients. */
TEST(Attention, GradientsOfWhatDropoutLeft) {
  Queue& queue = device().queue();
  std::mt19937 random(7);
  const auto drawn = [&](const Dims& shape) {
    return sample(random, DType::float32, shape, Placement::contiguous);
  };
  const Sample query = drawn({2, 80, 5}), key = drawn({2, 70, 5}), value = drawn({2, 70, 4}),
               by_output = drawn({2, 80, 4});
  AttentionSettings settings;
  settings.scale = 0.02;
  settings.is_causal = true;
  settings.dropout_p = 0.3;
  settings.dropout = {7, 32};
  const Tensor output = queue.scratch({2, 80, 4}), sums = queue.scratch({2, 80});
  const auto forward = [&](const std::array<std::vector<double>, 3>& operands) {
    const Tensor q = upload_as(DType::float32, operands[0], query.tensor.shape),
                 k = upload_as(DType::float32, operands[1], key.tensor.shape),
                 v = upload_as(DType::float32, operands[2], value.tensor.shape);
    attention_forward(queue, q, k, v, nullptr, settings, output, nullptr, &sums);
    double sum = 0;
    const std::vector<double> values = download_values(output);
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * by_output.values[i];
    return sum;
  };
  const std::array given{query.values, key.values, value.values};
  for_each_implementation("attention_backward", [&] {
    forward(given);
    const AttentionGradients made{
        queue.scratch({2, 80, 5}), queue.scratch({2, 70, 5}), queue.scratch({2, 70, 4}), {}};
    attention_backward(queue, by_output.tensor, nullptr, query.tensor, key.tensor, value.tensor, nullptr,
                       settings, nullptr, &output, &sums, made);
    const std::array gradients{download_values(made.query), download_values(made.key),
                               download_values(made.value)};
    for (std::size_t operand = 0; operand < given.size(); ++operand) {
      double square = 0;
      for (const double gradient : gradients[operand]) square += gradient * gradient;
      const double step = 1 / std::sqrt(square);
      auto before = given, after = given;
      for (std::size_t i = 0; i < gradients[operand].size(); ++i) {
        before[operand][i] -= step * gradients[operand][i];
        after[operand][i] += step * gradients[operand][i];
      }
      EXPECT_NEAR((forward(after) - forward(before)) / (2 * step), square, 0.02 * square) << operand;
    }
  });
}

}  // namespace
