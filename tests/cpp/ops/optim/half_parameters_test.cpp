#include <cmath>

#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/optim/rules.h"
#include "tests/cpp/support/elements.h"

using namespace dlprim;
using namespace testing_support;

namespace {

const std::vector<std::int64_t> sizes{288, 0, 1, 4097, 16385};

std::vector<double> drawn(std::int64_t size, unsigned seed) {
  const std::vector<float> all = random_floats(size, seed);
  return {all.begin(), all.end()};
}

/** Numbers in two forms: as `dtype` stores them, and those in float32. */
struct Twin {
  Twin(DType dtype, const std::vector<double>& values)
      : half(upload_as(dtype, values, {static_cast<std::int64_t>(values.size())})),
        single(upload_as(DType::float32, download_values(half), half.shape)) {}

  /** The step of float32, rounded, leaves the numbers that the other leaves; the next step begins
   * there. */
  void expect_alike(Queue& queue) const {
    if (half.numel() == 0) return;
    const std::vector<double> ours = download_values(half), theirs = download_values(single);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      // Half of the distance of its neighbours, and what float32 may be off by.
      const double bound = (0.5 * epsilon(half.dtype) + 1e-6) * std::abs(theirs[i]) +
                           (half.dtype == DType::float16 ? 3e-8 : 0);
      ASSERT_LE(std::abs(ours[i] - theirs[i]), bound)
          << name(half.dtype) << " element " << i << ": " << ours[i] << " for " << theirs[i];
    }
    const std::vector<float> next(ours.begin(), ours.end());
    queue.write(single, next.data(), next.size() * sizeof(float));
  }

  Tensor half, single;
};

const DType dtypes[] = {DType::float16, DType::bfloat16};

}  // namespace

TEST(HalfParameters, EveryRule) {
  Queue& queue = device().queue();
  for (const OptimizerRule& rule : optimizer_rules()) {
    if (!rule.update) continue;
    for (const DType dtype : dtypes) {
      SCOPED_TRACE(rule.name);
      Options options = defaults_of(rule.options);
      options.set("lr", 0.05);
      if (std::string(rule.name) == "SGD") options.set("momentum", 0.9);
      std::vector<double> numbers, numbers_of_single;
      for (const StateRow& row : rule.numbers(options)) numbers.push_back(*row.initial);
      numbers_of_single = numbers;
      const StateRows states = rule.tensors(options);
      std::vector<std::vector<Twin>> tensors;
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        tensors.emplace_back().emplace_back(dtype, drawn(sizes[k], static_cast<unsigned>(k)));
        for (const StateRow& state : states)
          tensors[k].emplace_back(
              dtype, std::vector<double>(static_cast<std::size_t>(sizes[k]), state.initial.value_or(0.0)));
      }
      ParameterPack pack, pack_of_single;
      for (int step = 1; step <= 3; ++step) {
        std::vector<OptimizedParameter> half, single;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
          const Twin gradient(dtype,
                              drawn(sizes[k], 50u * static_cast<unsigned>(step) + static_cast<unsigned>(k)));
          half.push_back({tensors[k][0].half, gradient.half, {}});
          single.push_back({tensors[k][0].single, gradient.single, {}});
          for (std::size_t s = 1; s < tensors[k].size(); ++s) {
            half.back().state.push_back(tensors[k][s].half);
            single.back().state.push_back(tensors[k][s].single);
          }
        }
        fused_step(queue, pack, half, rule.update(options, numbers, step == 1));
        fused_step(queue, pack_of_single, single, rule.update(options, numbers_of_single, step == 1));
        for (const std::vector<Twin>& one : tensors)
          for (const Twin& twin : one) twin.expect_alike(queue);
      }
    }
  }
}

TEST(HalfParameters, AdamByStepsOnTheDevice) {
  Queue& queue = device().queue();
  Options options = defaults_of(optimizer_rule("AdamW").options);
  options.set("amsgrad", true);
  for (const DType dtype : dtypes) {
    const Twin p(dtype, drawn(4097, 1)), g(dtype, drawn(4097, 2)), first(dtype, std::vector<double>(4097)),
        second(dtype, std::vector<double>(4097)), top(dtype, std::vector<double>(4097));
    ParameterPack pack, pack_of_single;
    for (const float step : {1.0f, 2.0f}) {
      const Tensor count = upload(std::vector<float>{0, step}, {2});
      Tensor now = count;  // float32, behind another number: places are counted in each tensor's own elements
      now.shape = {1};
      now.offset = 1;
      fused_step(queue, pack, {{p.half, g.half, {first.half, second.half, top.half}, now}},
                 optimizer_rule("Adam").update_by_steps_on_device(options));
      fused_step(queue, pack_of_single,
                 {{p.single, g.single, {first.single, second.single, top.single}, now}},
                 optimizer_rule("Adam").update_by_steps_on_device(options));
      for (const Twin* twin : {&p, &first, &second, &top}) twin->expect_alike(queue);
    }
  }
}

TEST(HalfParameters, FunctionsOfMany) {
  Queue& queue = device().queue();
  for (const DType dtype : dtypes) {
    SCOPED_TRACE(name(dtype));
    std::vector<Twin> twins;
    std::vector<Tensor> tensors;
    double squares = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      twins.emplace_back(dtype, drawn(sizes[k], 7u + static_cast<unsigned>(k)));
      tensors.push_back(twins.back().half);
      for (const double v : download_values(twins.back().half)) squares += v * v;
    }
    const double unit = epsilon(dtype), whole = std::sqrt(squares);
    ParameterPack pack;
    const Tensor norm = queue.scratch({}, dtype);
    multi_tensor_norm(queue, pack, tensors, 2, norm);
    EXPECT_NEAR(download_values(norm)[0], whole, 0.51 * unit * whole);
    const Tensor in_more_digits = queue.scratch({}, DType::float32);
    multi_tensor_norm(queue, pack, tensors, 2, in_more_digits);
    const double found = download_values(in_more_digits)[0];
    EXPECT_NEAR(found, whole, 4 * epsilon(DType::float32) * whole);
    const Tensor norms = queue.scratch({static_cast<std::int64_t>(sizes.size())}, dtype);
    multi_tensor_norms(queue, pack, tensors, INFINITY, norms);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      double top = 0;
      for (const double v : download_values(tensors[k])) top = std::fmax(top, std::abs(v));
      EXPECT_EQ(download_values(norms)[k], top);
    }
    multi_tensor_clip(queue, pack, tensors, in_more_digits, 0.5 * found);
    multi_tensor_scale(queue, pack, tensors, 4);
    multi_tensor_clamp(queue, pack, tensors, 1.5);
    std::vector<TensorsAbreast> rows;
    for (const Tensor& t : tensors) rows.push_back({t, {t}});
    multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("mul")), rows,
                           {{}, PointwiseOperand(upload_as(dtype, {0.25}, {}))}, {});
    for (const Twin& twin : twins) {
      const std::vector<double> before = download_values(twin.single), after = download_values(twin.half);
      for (std::size_t i = 0; i < before.size(); ++i) {
        const double expected = std::fmin(1.5, std::fmax(-1.5, 2 * before[i])) / 4;
        ASSERT_NEAR(after[i], expected, 1.1 * unit * std::abs(expected) + 1e-7) << i;
      }
    }
  }
}
