#include <cmath>

#include "dlprim/ops/norm/batch_norm.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr double eps = 1e-5;

struct Batch {
  std::int64_t n, c, s;
  std::size_t at(std::int64_t i, std::int64_t channel, std::int64_t k) const {
    return static_cast<std::size_t>((i * c + channel) * s + k);
  }
};

struct Reference {
  std::vector<double> mean, variance, y, dx, dweight, dbias;
};

Reference reference(const Batch& b, const std::vector<float>& x, const std::vector<float>& weight,
                    const std::vector<float>& bias, const std::vector<float>& dy) {
  Reference r;
  r.y.resize(x.size());
  r.dx.resize(x.size());
  const double count = static_cast<double>(b.n * b.s);
  for (std::int64_t c = 0; c < b.c; ++c) {
    const auto each = [&](auto work) {
      for (std::int64_t i = 0; i < b.n; ++i)
        for (std::int64_t k = 0; k < b.s; ++k) work(b.at(i, c, k));
    };
    double mean = 0, variance = 0, sum = 0, sum_x = 0;
    each([&](std::size_t e) { mean += x[e] / count; });
    each([&](std::size_t e) { variance += (x[e] - mean) * (x[e] - mean) / count; });
    const double invstd = 1 / std::sqrt(variance + eps), w = weight[static_cast<std::size_t>(c)];
    each([&](std::size_t e) {
      r.y[e] = (x[e] - mean) * invstd * w + bias[static_cast<std::size_t>(c)];
      sum += dy[e];
      sum_x += dy[e] * (x[e] - mean) * invstd;
    });
    each([&](std::size_t e) {
      r.dx[e] = w * invstd * (dy[e] - sum / count - (x[e] - mean) * invstd * sum_x / count);
    });
    r.mean.push_back(mean);
    r.variance.push_back(variance);
    r.dweight.push_back(sum_x);
    r.dbias.push_back(sum);
  }
  return r;
}

/** Elements of 16 bits are numbers that those hold. */
void check(const Batch& b, float shift = 0, DType dtype = DType::float32) {
  SCOPED_TRACE(name(dtype));
  const Dims shape{b.n, b.c, b.s};
  auto x = random_floats(product(shape), 1), dy = random_floats(product(shape), 2);
  for (float& v : x) v += shift;
  if (dtype != DType::float32)
    for (auto* values : {&x, &dy})
      for (float& v : *values) v = std::round(v * 64) / 64;
  const auto weight = random_floats(b.c, 3), bias = random_floats(b.c, 4);
  const Reference r = reference(b, x, weight, bias, dy);
  Queue& queue = device().queue();
  const Tensor tx = upload_as(dtype, {x.begin(), x.end()}, shape), tw = upload(weight, {b.c}),
               tb = upload(bias, {b.c}), tdy = upload_as(dtype, {dy.begin(), dy.end()}, shape);
  const Tensor mean = queue.scratch({b.c}), invstd = queue.scratch({b.c}), y = queue.scratch(shape, dtype);
  const double rounding = rounding_of(dtype);
  std::vector<double> expected_invstd;
  for (const double v : r.variance) expected_invstd.push_back(1 / std::sqrt(v + eps));
  const double count = static_cast<double>(b.n * b.s);

  // The results of both ways.
  for (const bool fused : {false, true}) {
    const Tensor running_mean = upload(weight, {b.c}), running_variance = upload(bias, {b.c});
    const RunningStatistics running{&running_mean, &running_variance, 0.3};
    if (fused) {
      batch_norm_training_forward(queue, tx, &tw, &tb, eps, running, y, mean, invstd);
    } else {
      batch_norm_statistics(queue, tx, eps, mean, invstd, running);
      batch_norm_forward(queue, tx, mean, invstd, &tw, &tb, y);
    }
    expect_close(download<float>(mean), r.mean, 1e-6, 1e-7);
    // Without float64 on the device a mean far from zero costs digits of the differences between blocks.
    expect_close(download<float>(invstd), expected_invstd, shift != 0 && !device().info().fp64 ? 1e-5 : 2e-6,
                 0);
    expect_close(download_values(y), r.y, 2e-6 + rounding, 2e-6 + std::abs(shift) * 5e-7);
    std::vector<double> moved_mean, moved_variance;
    for (std::size_t c = 0; c < r.mean.size(); ++c) {
      moved_mean.push_back(0.7 * weight[c] + 0.3 * r.mean[c]);
      moved_variance.push_back(0.7 * bias[c] + 0.3 * r.variance[c] * count / (count - 1));
    }
    expect_close(download<float>(running_mean), moved_mean, 1e-6, 1e-6);
    expect_close(download<float>(running_variance), moved_variance, 1e-6, 1e-6);
  }
  const Tensor dx = queue.scratch(shape, dtype), dweight = queue.scratch({b.c}), dbias = queue.scratch({b.c});
  batch_norm_backward(queue, tdy, tx, mean, invstd, &tw, true, &dx, &dweight, &dbias);
  const double slack = 3e-6 + std::abs(shift) * 1e-6;
  expect_close(download_values(dx), r.dx, 3e-6 + rounding, slack);
  expect_close(download<float>(dweight), r.dweight, 3e-6, slack * std::sqrt(count));
  expect_close(download<float>(dbias), r.dbias, 2e-6, 1e-6 * std::sqrt(count));
  // Parts of it alone.
  const Tensor dx2 = queue.scratch(shape, dtype), dbias2 = queue.scratch({b.c});
  batch_norm_backward(queue, tdy, tx, mean, invstd, &tw, true, &dx2, nullptr, nullptr);
  batch_norm_backward(queue, tdy, tx, mean, invstd, nullptr, true, nullptr, nullptr, &dbias2);
  expect_close(download_values(dx2), download_values(dx), 1e-6, 1e-6);
  expect_close(download<float>(dbias2), r.dbias, 2e-6, 1e-6 * std::sqrt(count));
  // Evaluation: the statistics are constants.
  std::vector<double> scaled;
  for (std::size_t e = 0; e < dy.size(); ++e) {
    const std::size_t c = e / static_cast<std::size_t>(b.s) % static_cast<std::size_t>(b.c);
    scaled.push_back(dy[e] * expected_invstd[c] * weight[c]);
  }
  batch_norm_backward(queue, tdy, tx, mean, invstd, &tw, false, &dx, nullptr, nullptr);
  expect_close(download_values(dx), scaled, 3e-6 + rounding, 1e-7);
  batch_norm_backward(queue, tdy, tx, mean, invstd, &tw, false, &dx2, &dweight, &dbias);
  expect_close(download_values(dx2), scaled, 3e-6 + rounding, 1e-7);
}

}  // namespace

TEST(BatchNorm, MatchesReference) {
  for (const Batch& b : {Batch{5, 32, 49}, Batch{3, 2, 676}, Batch{128, 10, 1}, Batch{7, 3, 5},
                         Batch{2, 17, 100}, Batch{1, 3, 5000}, Batch{300, 1, 64}, Batch{4, 9, 9000}})
    check(b);
}

TEST(BatchNorm, EveryImplementation) {
  for (const char* family : {"batch_norm_statistics", "batch_norm_gradient_sums", "batch_norm_forward",
                             "batch_norm_input_gradient"})
    for_each_implementation(family, [] {
      for (const Batch& b : {Batch{5, 32, 49}, Batch{2, 17, 100}, Batch{128, 10, 1}, Batch{700, 33, 1},
                             Batch{5, 4, 1}, Batch{900, 132, 1}})
        for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) check(b, 0, dtype);
    });
}

TEST(BatchNorm, LargeMean) {
  check({16, 9, 333}, 1000);
  check({5000, 19, 1}, 1000);
}

TEST(BatchNorm, NoAffine) {
  Queue& queue = device().queue();
  const auto x = random_floats(4 * 3 * 8, 1);
  const Tensor tx = upload(x, {4, 3, 8}), y = queue.scratch({4, 3, 8}), mean = queue.scratch({3}),
               invstd = queue.scratch({3});
  batch_norm_training_forward(queue, tx, nullptr, nullptr, eps, {}, y, mean, invstd);
  const std::vector<float> one{1, 1, 1}, none{0, 0, 0};
  expect_close(download<float>(y), reference({4, 3, 8}, x, one, none, x).y, 2e-6, 2e-6);
}

TEST(BatchNorm, Invstd) {
  Queue& queue = device().queue();
  const Tensor invstd = queue.scratch({3});
  batch_norm_invstd(queue, upload(std::vector<float>{0.0f, 1.0f, 4.0f}, {3}), 1e-3, invstd);
  expect_close(download<float>(invstd),
               std::vector<double>{1 / std::sqrt(1e-3), 1 / std::sqrt(1.001), 1 / std::sqrt(4.001)}, 1e-6, 0);
}

TEST(BatchNorm, Errors) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({1, 3}), c = queue.scratch({3}), wrong = queue.scratch({4});
  EXPECT_THROW(batch_norm_statistics(queue, x, eps, c, c), ValueError);
  const Tensor x2 = queue.scratch({2, 3});
  EXPECT_THROW(batch_norm_statistics(queue, x2, eps, wrong, c), ValueError);
  EXPECT_THROW(batch_norm_forward(queue, queue.scratch({3}), c, c, nullptr, nullptr, queue.scratch({3})),
               ValueError);
  const Tensor integers = queue.scratch({2, 3}, DType::int32);
  EXPECT_THROW(batch_norm_forward(queue, integers, c, c, nullptr, nullptr, integers), TypeError);
}

TEST(BatchNorm, Oclgrind) {
  check({2, 9, 20});
  check({3, 2, 5});
}
