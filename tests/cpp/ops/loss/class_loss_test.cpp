#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/loss/nll_loss.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr std::int64_t ignored = -7;

/** A batch of scores [n, c, s] with labels of either kind. */
struct Batch {
  std::int64_t n, c, s;
  bool weighted = false, probabilities = false;
  double smoothing = 0;
  Reduction reduction = Reduction::mean;

  std::size_t at(std::int64_t i, std::int64_t k, std::int64_t p) const {
    return static_cast<std::size_t>((i * c + k) * s + p);
  }
  Dims scores() const { return s == 1 ? Dims{n, c} : Dims{n, c, s}; }
  Dims rows() const { return s == 1 ? Dims{n} : Dims{n, s}; }
};

std::vector<std::int64_t> labels(const Batch& b) {
  std::mt19937 generator(5);
  std::vector<std::int64_t> t;
  for (std::int64_t i = 0; i < b.n * b.s; ++i)
    t.push_back(i % 5 == 3 ? ignored : static_cast<std::int64_t>(generator() % static_cast<unsigned>(b.c)));
  return t;
}

std::vector<float> positive(std::vector<float> v) {
  for (float& x : v) x = 0.1f + std::abs(x);
  return v;
}

struct Reference {
  std::vector<double> loss, dx;
  double total_weight = 0;
};

/** PyTorch's definition, in double; `normalise` false: the scores are log-probabilities already. */
Reference reference(const Batch& b, const std::vector<float>& x, const std::vector<std::int64_t>& target,
                    const std::vector<float>& probabilities, const std::vector<float>& weight,
                    const std::vector<float>& grad, bool normalise) {
  Reference r;
  std::vector<double> losses;
  r.dx.resize(x.size());
  for (std::int64_t i = 0; i < b.n; ++i)
    for (std::int64_t p = 0; p < b.s; ++p) {
      const std::int64_t t = b.probabilities ? 0 : target[static_cast<std::size_t>(i * b.s + p)];
      double loss = 0;
      if (t != ignored) {
        double top = -1e300, sum = 0, mass = 0;
        for (std::int64_t k = 0; k < b.c; ++k) top = std::fmax(top, x[b.at(i, k, p)]);
        for (std::int64_t k = 0; k < b.c; ++k) sum += std::exp(x[b.at(i, k, p)] - top);
        const double normalizer = normalise ? top + std::log(sum) : 0;
        std::vector<double> q;
        for (std::int64_t k = 0; k < b.c; ++k) {
          double label = b.probabilities ? probabilities[b.at(i, k, p)] : (k == t ? 1 : 0);
          label = label * (1 - b.smoothing) + b.smoothing / static_cast<double>(b.c);
          const double own = b.weighted ? weight[static_cast<std::size_t>(k)] : 1;
          // With class indices the smoothed part of the label has its own class's weight, the hard part the
          // target's.
          q.push_back(label * own);
          mass += q.back();
          if (q.back() != 0) loss += q.back() * (normalizer - x[b.at(i, k, p)]);
        }
        for (std::int64_t k = 0; k < b.c; ++k) {
          const double probability = normalise ? std::exp(x[b.at(i, k, p)] - normalizer) : 0;
          r.dx[b.at(i, k, p)] = probability * mass - q[static_cast<std::size_t>(k)];
        }
        r.total_weight += b.weighted && !b.probabilities ? weight[static_cast<std::size_t>(t)] : 1;
      } else {
        for (std::int64_t k = 0; k < b.c; ++k) r.dx[b.at(i, k, p)] = 0;
      }
      losses.push_back(loss);
    }
  for (std::int64_t i = 0; i < b.n; ++i)
    for (std::int64_t k = 0; k < b.c; ++k)
      for (std::int64_t p = 0; p < b.s; ++p) {
        const double g = grad[b.reduction == Reduction::none ? static_cast<std::size_t>(i * b.s + p) : 0];
        if (r.dx[b.at(i, k, p)] != 0)
          r.dx[b.at(i, k, p)] *= b.reduction == Reduction::mean ? g / r.total_weight : g;
      }
  if (b.reduction == Reduction::none) {
    r.loss = losses;
    r.total_weight = 0;
  } else {
    double sum = 0;
    for (const double l : losses) sum += l;
    r.loss = {b.reduction == Reduction::mean ? sum / r.total_weight : sum};
  }
  return r;
}

void check(const Batch& b, bool normalise, float offset = 0) {
  auto x = random_floats(b.n * b.c * b.s, 1);
  for (float& v : x) v = v * 5 + offset;
  const auto target = labels(b);
  const auto probabilities = positive(random_floats(b.n * b.c * b.s, 2)),
             weight = positive(random_floats(b.c, 3));
  const Dims loss_shape = class_loss_shape(b.scores(), b.reduction);
  const auto grad = random_floats(product(loss_shape), 4);
  const Reference r = reference(b, x, target, probabilities, weight, grad, normalise);
  Queue& queue = device().queue();
  const Tensor tx = upload(x, b.scores()), tw = upload(weight, {b.c}), tg = upload(grad, loss_shape);
  const Tensor tt = b.probabilities ? upload(probabilities, b.scores()) : upload(target, b.rows());
  const Tensor loss = queue.scratch(loss_shape), total = queue.scratch({}), dx = queue.scratch(b.scores());
  const Tensor* w = b.weighted ? &tw : nullptr;
  if (normalise) {
    const Tensor normalizer = queue.scratch(cross_entropy_normalizer_shape(b.scores()));
    const CrossEntropyOptions options{ignored, b.smoothing, b.reduction};
    cross_entropy_forward(queue, tx, tt, w, options, loss, total, normalizer);
    cross_entropy_backward(queue, tg, tx, tt, w, options, total, normalizer, dx);
  } else {
    nll_loss_forward(queue, tx, tt, w, ignored, b.reduction, loss, total);
    nll_loss_backward(queue, tg, tt, w, ignored, b.reduction, total, dx);
  }
  expect_close(download<float>(loss), r.loss, 2e-6, 4e-6);
  EXPECT_NEAR(download<float>(total)[0], r.total_weight, 1e-6 * r.total_weight);
  expect_close(download<float>(dx), r.dx, 4e-6, 1e-6);
}

constexpr Reduction reductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

}  // namespace

TEST(NllLoss, MatchesReference) {
  for (const Reduction reduction : reductions)
    for (const bool weighted : {false, true}) {
      check({128, 10, 1, weighted, false, 0, reduction}, false);
      check({3, 7, 35, weighted, false, 0, reduction}, false);
      check({2, 3, 20000, weighted, false, 0, reduction}, false);
    }
}

TEST(CrossEntropy, ClassIndices) {
  for (const Reduction reduction : reductions)
    for (const bool weighted : {false, true})
      for (const double smoothing : {0.0, 0.1}) {
        check({128, 10, 1, weighted, false, smoothing, reduction}, true);
        check({7, 1000, 1, weighted, false, smoothing, reduction}, true);
        check({3, 7, 35, weighted, false, smoothing, reduction}, true);
      }
}

TEST(CrossEntropy, ClassProbabilities) {
  for (const Reduction reduction : reductions)
    for (const bool weighted : {false, true})
      for (const double smoothing : {0.0, 0.1}) {
        check({32, 10, 1, weighted, true, smoothing, reduction}, true);
        check({5, 100, 1, weighted, true, smoothing, reduction}, true);
        check({3, 7, 35, weighted, true, smoothing, reduction}, true);
      }
}

TEST(CrossEntropy, LargeLogitsKeepTheirDigits) {
  for (const bool probabilities : {false, true})
    for (const double smoothing : {0.0, 0.1}) {
      check({9, 37, 1, false, probabilities, smoothing, Reduction::none}, true, 1e6f);
      check({3, 7, 35, true, probabilities, smoothing, Reduction::mean}, true, -1e6f);
    }
}

// Scores of 16 bits give the float32 loss that float32 scores of the same values give.
TEST(CrossEntropy, WideLosses) {
  Queue& queue = device().queue();
  for (const DType dtype : {DType::bfloat16, DType::float16})
    for (const Dims& shape : {Dims{70, 100}, Dims{3, 7, 5}, Dims{2, 33}})
      for (const Reduction reduction : reductions) {
        const Batch b{shape[0], shape[1], shape.size() > 2 ? shape[2] : 1};
        const Tensor half =
            upload_as(dtype, download_values(upload(random_floats(b.n * b.c * b.s, 1), shape)), shape);
        const Tensor whole = upload_as(DType::float32, download_values(half), shape);
        const Tensor target = upload(labels(b), b.rows());
        const Dims loss_shape = class_loss_shape(shape, reduction);
        const Tensor grad = upload(random_floats(product(loss_shape), 4), loss_shape);
        const auto run = [&](const Tensor& x) {
          const Tensor loss = queue.scratch(loss_shape), total = queue.scratch({}),
                       dx = queue.scratch(shape, x.dtype),
                       normalizer = queue.scratch(cross_entropy_normalizer_shape(shape));
          const CrossEntropyOptions options{ignored, 0.1, reduction};
          cross_entropy_forward(queue, x, target, nullptr, options, loss, total, normalizer);
          cross_entropy_backward(queue, grad, x, target, nullptr, options, total, normalizer, dx);
          const Tensor chosen = queue.scratch(loss_shape), by_chosen = queue.scratch(shape, x.dtype);
          nll_loss_forward(queue, x, target, nullptr, ignored, reduction, chosen, total);
          nll_loss_backward(queue, grad, target, nullptr, ignored, reduction, total, by_chosen);
          return std::array{download_values(loss), download_values(dx), download_values(chosen),
                            download_values(by_chosen)};
        };
        const auto mine = run(half), wide = run(whole);
        const double step = epsilon(dtype), smallest = 1e-7;
        expect_close(mine[0], wide[0], 1e-6, 1e-6);
        expect_close(mine[1], wide[1], step, smallest);
        expect_close(mine[2], wide[2], 1e-6, 1e-6);
        expect_close(mine[3], wide[3], step, smallest);
      }
}

TEST(CrossEntropy, SingleRow) {
  Queue& queue = device().queue();
  const Tensor loss = queue.scratch({}), total = queue.scratch({}), normalizer = queue.scratch({1, 1, 2});
  const std::vector<float> x{1e4f, -1e4f, 0};
  cross_entropy_forward(queue, upload(x, {3}), upload(std::vector<std::int64_t>{1}, {}), nullptr, {}, loss,
                        total, normalizer);
  EXPECT_FLOAT_EQ(download<float>(loss)[0], 2e4f);
}

TEST(CrossEntropy, EverythingIgnored) {
  Queue& queue = device().queue();
  const Tensor loss = queue.scratch({}), total = queue.scratch({}), normalizer = queue.scratch({2, 1, 2});
  const Tensor x = upload(random_floats(6, 1), {2, 3}), dx = queue.scratch({2, 3});
  const Tensor target = upload(std::vector<std::int64_t>{-100, -100}, {2});
  cross_entropy_forward(queue, x, target, nullptr, {}, loss, total, normalizer);
  cross_entropy_backward(queue, upload(std::vector<float>{1}, {}), x, target, nullptr, {}, total, normalizer,
                         dx);
  EXPECT_TRUE(std::isnan(download<float>(loss)[0]));
  EXPECT_EQ(download<float>(dx), std::vector<float>(6, 0.0f));
  nll_loss_forward(queue, x, target, nullptr, -100, Reduction::sum, loss, total);
  EXPECT_EQ(download<float>(loss)[0], 0);
}

TEST(CrossEntropy, Empty) {
  Queue& queue = device().queue();
  const Tensor loss = queue.scratch({}), total = queue.scratch({}), normalizer = queue.scratch({0, 1, 2});
  const Tensor x = queue.scratch({0, 3}), target = queue.scratch({0}, DType::int64);
  cross_entropy_forward(queue, x, target, nullptr, {}, loss, total, normalizer);
  EXPECT_TRUE(std::isnan(download<float>(loss)[0]));
  cross_entropy_forward(queue, x, target, nullptr, {-100, 0, Reduction::sum}, loss, total, normalizer);
  EXPECT_EQ(download<float>(loss)[0], 0);
  cross_entropy_backward(queue, loss, x, target, nullptr, {}, total, normalizer, x);
}

TEST(CrossEntropy, TargetOutOfRange) {
  Queue& queue = device().queue();
  const Tensor loss = queue.scratch({}), total = queue.scratch({}), normalizer = queue.scratch({2, 1, 2});
  const Tensor x = upload(random_floats(6, 1), {2, 3}), target = upload(std::vector<std::int64_t>{0, 3}, {2});
  cross_entropy_forward(queue, x, target, nullptr, {}, loss, total, normalizer);
  EXPECT_THROW(queue.finish(), IndexError);
  nll_loss_forward(queue, x, target, nullptr, -100, Reduction::mean, loss, total);
  EXPECT_THROW(queue.finish(), IndexError);
  const Tensor dx = queue.scratch({2, 3});
  nll_loss_backward(queue, upload(std::vector<float>{1}, {}), target, nullptr, -100, Reduction::sum, total,
                    dx);
  EXPECT_THROW(queue.finish(), IndexError);
  queue.finish();
}

TEST(CrossEntropy, Errors) {
  Queue& queue = device().queue();
  const Tensor loss = queue.scratch({}), x = queue.scratch({2, 3}), normalizer = queue.scratch({2, 1, 2});
  const Tensor target = queue.scratch({2}, DType::int64), short_target = queue.scratch({1}, DType::int64);
  EXPECT_THROW(cross_entropy_forward(queue, x, short_target, nullptr, {}, loss, loss, normalizer),
               ValueError);
  EXPECT_THROW(cross_entropy_forward(queue, x, target, nullptr, {-100, 2.0}, loss, loss, normalizer),
               ValueError);
  EXPECT_THROW(
      cross_entropy_forward(queue, x, queue.scratch({2}, DType::int32), nullptr, {}, loss, loss, normalizer),
      TypeError);
  const Tensor weight = queue.scratch({2});
  EXPECT_THROW(nll_loss_forward(queue, x, target, &weight, -100, Reduction::mean, loss, loss), ValueError);
  EXPECT_THROW(nll_loss_forward(queue, x, x, nullptr, -100, Reduction::mean, loss, loss), TypeError);
}

TEST(CrossEntropy, Oclgrind) {
  check({3, 5, 1, true, false, 0.1, Reduction::mean}, true);
  check({2, 40, 1, false, false, 0, Reduction::mean}, true);
  check({2, 3, 5, true, true, 0.1, Reduction::sum}, true);
  check({2, 3, 5, true, false, 0, Reduction::none}, false);
}
