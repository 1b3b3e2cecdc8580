#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/exponential.h"
#include "dlprim/ops/random/permutation.h"
#include "dlprim/ops/random/random.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Words = std::array<std::uint32_t, 4>;

Words philox(Words c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

Words words_of(PhiloxState s, std::uint64_t b) {
  const std::uint64_t counter = s.offset + b;
  return philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
                static_cast<std::uint32_t>(s.seed), static_cast<std::uint32_t>(s.seed >> 32));
}

/** The 32-bit word of element i, as random.h defines it. */
std::uint32_t word(PhiloxState s, std::uint64_t i) {
  return words_of(s, i / 64 * 16 + i % 16)[i / 16 % 4];
}

std::uint64_t word64(PhiloxState s, std::uint64_t i) {
  const Words w = words_of(s, i / 32 * 16 + i % 16);
  const std::size_t k = i / 16 % 2 * 2;
  return w[k] | static_cast<std::uint64_t>(w[k + 1]) << 32;
}

const PhiloxState states[] = {{0, 0}, {0x123456789abcdef0, 0xfffffff8}, {42, 1000}};
constexpr std::int64_t lengths[] = {1, 15, 64, 100, 4099};

}  // namespace

// Known answers of Random123 (kat_vectors) against the host's copy, which the device is compared with below.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UniformIsTheDefinedFunction) {
  Queue& queue = device().queue();
  for (const PhiloxState state : states)
    for (const std::int64_t n : lengths) {
      const Tensor out = queue.scratch({n});
      random_uniform(queue, out, 0, 1, state);
      std::vector<float> expected;
      for (std::int64_t i = 0; i < n; ++i)
        expected.push_back(static_cast<float>(word(state, static_cast<std::uint64_t>(i)) >> 8) * 0x1p-24f);
      EXPECT_EQ(download<float>(out), expected) << n;
    }
}

TEST(Random, UniformRange) {
  Queue& queue = device().queue();
  const Tensor out = queue.scratch({100000});
  random_uniform(queue, out, -3, 5, {1, 2});
  const auto v = download<float>(out);
  double sum = 0;
  for (const float x : v) {
    ASSERT_TRUE(x >= -3 && x < 5);
    sum += x;
  }
  EXPECT_NEAR(sum / 1e5, 1.0, 0.03);
}

TEST(Random, NormalIsTheDefinedFunction) {
  Queue& queue = device().queue();
  for (const PhiloxState state : states)
    for (const std::int64_t n : lengths) {
      const Tensor out = queue.scratch({n});
      random_normal(queue, out, 0.5, 2, state);
      std::vector<double> expected;
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i) {
        const Words w = words_of(state, i / 64 * 16 + i % 16);
        const std::size_t k = i / 16 % 4, pair = k / 2 * 2;
        const double radius = std::sqrt(-2 * std::log((w[pair] + 0.5) / 4294967296.0));
        const double angle = 2 * M_PI * w[pair + 1] / 4294967296.0;
        expected.push_back(0.5 + 2 * radius * (k % 2 ? std::sin(angle) : std::cos(angle)));
      }
      expect_close(download<float>(out), expected, 1e-6, 3e-6);
    }
}

TEST(Random, NormalMoments) {
  Queue& queue = device().queue();
  const Tensor out = queue.scratch({1000000});
  random_normal(queue, out, 0, 1, {3, 4});
  double mean = 0, square = 0, fourth = 0;
  for (const float x : download<float>(out)) {
    mean += x;
    square += x * x;
    fourth += std::pow(x, 4);
  }
  EXPECT_NEAR(mean / 1e6, 0, 5e-3);
  EXPECT_NEAR(square / 1e6, 1, 1e-2);
  EXPECT_NEAR(fourth / 1e6, 3, 5e-2);
}

TEST(Random, Bernoulli) {
  Queue& queue = device().queue();
  const PhiloxState state{9, 8};
  for (const double p : {0.0, 0.3, 1.0}) {
    const Tensor out = queue.scratch({10007}), flags = queue.scratch({10007}, DType::boolean);
    random_bernoulli(queue, out, p, state);
    random_bernoulli(queue, flags, p, state);
    const auto v = download<float>(out);
    const auto f = download<std::uint8_t>(flags);
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      ASSERT_EQ(v[i], static_cast<double>(word(state, i)) >= (1 - p) * 4294967296.0 ? 1 : 0);
      ASSERT_EQ(f[i], v[i]);
      sum += v[i];
    }
    EXPECT_NEAR(sum / 10007, p, 0.02);
  }
}

TEST(Random, Integers) {
  Queue& queue = device().queue();
  const PhiloxState state{11, 5};
  const Tensor out = queue.scratch({6007}, DType::int64), narrow = queue.scratch({6007}, DType::int32);
  random_integers(queue, out, -2, 4, state);
  random_integers(queue, narrow, -2, 4, state);
  const auto v = download<std::int64_t>(out);
  const auto n = download<std::int32_t>(narrow);
  std::map<std::int64_t, int> counts;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::uint64_t bits = word64(state, i);
    const auto scaled = static_cast<std::int64_t>(((bits >> 32) * 6 + ((bits & 0xffffffff) * 6 >> 32)) >> 32);
    ASSERT_EQ(v[i], scaled - 2);
    ASSERT_EQ(n[i], v[i]);
    ++counts[v[i]];
  }
  for (std::int64_t k = -2; k < 4; ++k) EXPECT_NEAR(counts[k], 1001, 150);
  random_integers(queue, out, INT64_MIN, INT64_MAX, state);
  EXPECT_NE(download<std::int64_t>(out)[0], 0);
}

TEST(Random, IntegersOfBoolAndBeyondADtype) {
  Queue& queue = device().queue();
  const Tensor flags = queue.scratch({4001}, DType::boolean), bytes = queue.scratch({3}, DType::uint8);
  random_integers(queue, flags, 0, 2, {3, 1});
  double sum = 0;
  for (const double v : download_values(flags)) sum += v;
  EXPECT_NEAR(sum / 4001, 0.5, 0.03);
  random_integers(queue, flags, 1, 2, {3, 1});
  EXPECT_EQ(download_values(flags), std::vector<double>(4001, 1));
  random_integers(queue, flags, 0, 1, {3, 1});
  EXPECT_EQ(download_values(flags), std::vector<double>(4001, 0));
  expect_error<ValueError>([&] { random_integers(queue, flags, 0, 3, {}); }, "out of bounds for bool");
  expect_error<ValueError>([&] { random_integers(queue, bytes, -1, 3, {}); },
                           "from -1 to 2 are out of bounds");
  expect_error<ValueError>([&] { random_integers(queue, bytes, 0, 257, {}); }, "out of bounds for uint8");
}

TEST(Random, ExponentialIsALogarithmOfUniform) {
  Queue& queue = device().queue();
  const PhiloxState state{21, 3};
  const Tensor uniform = queue.scratch({5003}), out = queue.scratch({5003}),
               half = queue.scratch({5003}, DType::float16);
  random_uniform(queue, uniform, 0, 1, state);
  random_exponential(queue, out, 2.5, state);
  random_exponential(queue, half, 2.5, state);
  std::vector<double> expected = download_values(uniform);
  double mean = 0;
  for (double& u : expected) mean += u = -std::log1p(-u) / 2.5;
  EXPECT_NEAR(mean / 5003, 0.4, 0.02);
  expect_close(download_values(out), expected, 1e-6, 1e-12);
  expect_close(download_values(half), expected, epsilon(DType::float16), 1e-7);
  EXPECT_THROW(random_exponential(queue, out, 0, state), ValueError);
  EXPECT_THROW(random_exponential(queue, queue.scratch({3}, DType::int64), 1, state), TypeError);
  EXPECT_NO_THROW(random_exponential(queue, queue.scratch({0}), 1, state));
}

TEST(Random, PermutationsHaveEveryNumberOnce) {
  Queue& queue = device().queue();
  for (const std::int64_t n : {0, 1, 2, 33, 1000})
    for (const DType dtype : {DType::int64, DType::int32, DType::float32, DType::float16}) {
      const Tensor out = queue.scratch({n}, dtype), again = queue.scratch({n}, dtype);
      random_permutation(queue, out, {9, 4});
      random_permutation(queue, again, {9, 4});
      std::vector<double> values = download_values(out), counted(values.size());
      EXPECT_EQ(download_values(again), values);
      std::iota(counted.begin(), counted.end(), 0);
      EXPECT_TRUE(n < 33 || values != counted);
      std::sort(values.begin(), values.end());
      EXPECT_EQ(values, counted) << n << " in " << name(dtype);
    }
}

TEST(Random, PlacesOfAPermutationAreAllAsLikely) {
  Queue& queue = device().queue();
  const Tensor out = queue.scratch({5}, DType::int64);
  int at_place[5][5] = {};
  constexpr int times = 3000;
  for (std::uint64_t i = 0; i < times; ++i) {
    random_permutation(queue, out, {77, 16 * i});
    const auto order = download<std::int64_t>(out);
    for (int place = 0; place < 5; ++place) ++at_place[place][order[static_cast<std::size_t>(place)]];
  }
  for (const auto& place : at_place)
    for (const int count : place) EXPECT_NEAR(count, times / 5, 110);  // five deviations
}

TEST(Random, PermutationsThatADtypeCannotCount) {
  Queue& queue = device().queue();
  expect_error<ValueError>([&] { random_permutation(queue, queue.scratch({257}, DType::uint8), {}); },
                           "257 is more than uint8 can count to");
  EXPECT_NO_THROW(random_permutation(queue, queue.scratch({256}, DType::uint8), {}));
  EXPECT_NO_THROW(require_permutation("test", 257, DType::bfloat16));
  EXPECT_THROW(require_permutation("test", 258, DType::bfloat16), ValueError);
  EXPECT_THROW(require_permutation("test", std::int64_t{1} << 32, DType::int64), ValueError);
  EXPECT_THROW(require_permutation("test", -1, DType::int64), ValueError);
  EXPECT_THROW(random_permutation(queue, queue.scratch({2, 2}, DType::int64), {}), ValueError);
}

TEST(Random, DropoutMaskIsItsOwnBackward) {
  Queue& queue = device().queue();
  const std::int64_t n = 10001;
  const auto x = random_floats(n, 1);
  const PhiloxState state{5, 77};
  const Tensor tx = upload(x, {n}), y = queue.scratch({n}), ones = upload(std::vector<float>(n, 1.0f), {n});
  dropout(queue, tx, 0.3, state, y);
  dropout(queue, ones, 0.3, state, ones);  // in place
  const auto a = download<float>(y), mask = download<float>(ones);
  double kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(mask[i] != 0, word(state, i) >= std::llround(0.3 * 4294967296.0));
    ASSERT_FLOAT_EQ(a[i], x[i] * mask[i]);
    ASSERT_FLOAT_EQ(mask[i], mask[i] != 0 ? static_cast<float>(1 / 0.7) : 0.0f);
    kept += mask[i] != 0;
  }
  EXPECT_NEAR(kept / static_cast<double>(n), 0.7, 0.02);
  dropout(queue, tx, 1, state, y);
  EXPECT_EQ(download<float>(y), std::vector<float>(x.size(), 0.0f));
  dropout(queue, tx, 0, state, y);
  EXPECT_EQ(download<float>(y), x);
}

// Rows that begin anywhere in a run, apart or one after the other.
TEST(Random, PartsDropWhatTheWholeDrops) {
  Queue& queue = device().queue();
  const PhiloxState state{5, 77};
  const Tensor whole = upload(std::vector<float>(20000, 1.0f), {20000});
  dropout(queue, whole, 0.3, state, whole);
  const std::vector<float> expected = download<float>(whole);
  struct Case {
    Dims shape;
    DropoutPart part;
  };
  for (const auto& [shape, part] :
       {Case{{3, 5, 70}, {13, 900, 101}}, Case{{2, 4, 1}, {63, 64, 16}}, Case{{2, 3, 64}, {128, 640, 64}},
        Case{{2, 3, 130}, {7, 390, 130}}, Case{{1, 9, 300}, {0, 0, 511}}, Case{{3, 7, 5}, {100, 35, 5}}}) {
    const Tensor some = queue.scratch(shape);
    fill(queue, some, 1);
    dropout_part(queue, some, 0.3, state, part, some);
    const std::vector<float> got = download<float>(some);
    for (std::int64_t i = 0; i < some.numel(); ++i) {
      const std::int64_t row = i / shape[2];
      const std::int64_t number =
          part.first + row / shape[1] * part.outer + row % shape[1] * part.inner + i % shape[2];
      ASSERT_EQ(got[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(number)]) << shape << i;
    }
  }
}

TEST(Random, Float64) {
  if (!device().info().fp64) GTEST_SKIP();
  Queue& queue = device().queue();
  const PhiloxState state{7, 6};
  const Tensor out = queue.scratch({1003}, DType::float64);
  random_uniform(queue, out, 0, 1, state);
  std::vector<double> expected;
  for (std::uint64_t i = 0; i < 1003; ++i)
    expected.push_back(static_cast<double>(word64(state, i) >> 11) * 0x1p-53);
  EXPECT_EQ(download<double>(out), expected);
  random_normal(queue, out, 0, 1, state);
  double square = 0;
  for (const double v : download<double>(out)) square += v * v;
  EXPECT_NEAR(square / 1003, 1, 0.15);
}

TEST(Random, EmptyAndErrors) {
  Queue& queue = device().queue();
  const Tensor none = queue.scratch({0}), out = queue.scratch({3}),
               integers = queue.scratch({3}, DType::int64);
  random_uniform(queue, none, 0, 1, {});
  dropout(queue, none, 0.5, {}, none);
  EXPECT_THROW(random_uniform(queue, integers, 0, 1, {}), TypeError);
  EXPECT_THROW(random_bernoulli(queue, out, 1.5, {}), ValueError);
  EXPECT_THROW(random_integers(queue, out, 3, 3, {}), ValueError);
  EXPECT_THROW(dropout(queue, out, -0.1, {}, out), ValueError);
  EXPECT_THROW(dropout_part(queue, out, 0.1, {}, {}, out), ValueError);
  EXPECT_EQ(philox_increment(0), 0u);
  EXPECT_EQ(philox_increment(33), 32u);
}

TEST(Random, Oclgrind) {
  Queue& queue = device().queue();
  const Tensor out = queue.scratch({70}), integers = queue.scratch({70}, DType::int64);
  random_uniform(queue, out, 0, 1, {});
  random_normal(queue, out, 0, 1, {});
  random_bernoulli(queue, out, 0.5, {});
  random_integers(queue, integers, 0, 9, {});
  dropout(queue, out, 0.5, {}, out);
  const Tensor part = out.reshaped({2, 5, 7});
  dropout_part(queue, part, 0.5, {}, {3, 90, 11}, part);
  download<float>(out);
}
