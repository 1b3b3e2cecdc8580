#include "dlprim/ops/gemm/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "dlprim/core/error.h"
#include "dlprim/ops/gemm/gemm_operand.h"
#include "dlprim/ops/gemm/operand_pack.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/random.h"
#include "support/elements.h"
#include "support/implementations.h"
#include "support/tensors.h"

namespace {

using namespace dlprim;
using namespace testing_support;

struct Options {
  bool transpose_a = false, transpose_b = false, bias = false, shared_b = false;
  float alpha = 1, beta = 0;
  std::int64_t start = 0, gap = 0;  // elements before the first line of a and b, and after each
  MatmulPrecision precision = MatmulPrecision::highest;
  DType half = DType::float32;  // of the tensors, where it is float16 or bfloat16
};

std::vector<Options> of_all_transposes() {
  std::vector<Options> all;
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      all.emplace_back();
      all.back().transpose_a = transpose_a;
      all.back().transpose_b = transpose_b;
    }
  return all;
}

/** The precisions of each implementation: one that takes "high" takes "medium". */
std::vector<Options> of_all_transposes_and_precisions() {
  std::vector<Options> all;
  for (Options o : of_all_transposes()) {
    all.push_back(o);
    o.precision = MatmulPrecision::medium;
    all.push_back(o);
    o.half = o.transpose_a ? DType::float16 : DType::bfloat16;
    all.push_back(o);
  }
  return all;
}

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/** A [batches, rows, columns] view of a contiguous tensor, or of its transpose. */
Tensor view(Tensor t, bool transposed) {
  if (!transposed) return t;
  std::swap(t.shape[1], t.shape[2]);
  std::swap(t.strides[1], t.strides[2]);
  return t;
}

template <class T>
Tensor upload_in_dtype(const std::vector<T>& values, const Dims& shape, const Options& o) {
  if (o.half == DType::float32) return upload(values, shape);
  return upload_as(o.half, {values.begin(), values.end()}, shape);
}

/** Lines with NaNs before the first and between them. */
template <class T>
Tensor upload_lines(const std::vector<T>& values, const Dims& shape, const Options& o) {
  const std::int64_t lines = shape[0] * shape[1], pitch = shape[2] + o.gap;
  std::vector<T> memory(at(o.start + lines * pitch), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t line = 0; line < lines; ++line)
    std::copy_n(values.begin() + line * shape[2], shape[2], memory.begin() + o.start + line * pitch);
  Tensor t = upload_in_dtype(memory, {static_cast<std::int64_t>(memory.size())}, o);
  t.shape = shape;
  t.strides = {shape[1] * pitch, pitch, 1};
  t.offset += o.start;
  return t;
}

/** Below the highest precision the operands are numbers that survive its rounding, so that results are as
 * exact. */
template <class T>
void check(std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k, const Options& o = {}) {
  SCOPED_TRACE(concat("batches ", batches, " m ", m, " n ", n, " k ", k, " ta ", o.transpose_a, " tb ",
                      o.transpose_b, " start ", o.start, " gap ", o.gap, " in ", name(o.half)));
  const auto values = [&](std::int64_t count, unsigned seed) {
    std::vector<float> floats = random_floats(count, seed);
    if (o.precision != MatmulPrecision::highest)
      for (float& value : floats) value = std::round(value * 64) / 64;
    return std::vector<T>(floats.begin(), floats.end());
  };
  const std::int64_t b_batches = o.shared_b ? 1 : batches;
  const auto a = values(batches * m * k, 1), b = values(b_batches * k * n, 2), c = values(batches * m * n, 3),
             bias = values(n, 4);
  const Tensor ta =
      view(upload_lines(a, o.transpose_a ? Dims{batches, k, m} : Dims{batches, m, k}, o), o.transpose_a);
  Tensor tb =
      view(upload_lines(b, o.transpose_b ? Dims{b_batches, n, k} : Dims{b_batches, k, n}, o), o.transpose_b);
  if (o.shared_b) tb = tb.expanded({batches, k, n});
  const Tensor tc = upload_in_dtype(c, {batches, m, n}, o), tbias = upload_in_dtype(bias, {n}, o);
  gemm(device().queue(), ta, tb, tc, o.alpha, o.beta, o.bias ? &tbias : nullptr, o.precision);
  std::vector<double> expected;
  for (std::int64_t z = 0; z < batches; ++z)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += double(a[at(z * m * k + (o.transpose_a ? l * m + i : i * k + l))]) *
                 double(b[at((o.shared_b ? 0 : z * k * n) + (o.transpose_b ? j * k + l : l * n + j))]);
        expected.push_back(o.alpha * sum + (o.beta != 0 ? o.beta * double(c[at((z * m + i) * n + j)]) : 0) +
                           (o.bias ? double(bias[at(j)]) : 0));
      }
  const double tolerance = (std::is_same_v<T, double> ? 1e-14 : 4e-7) * (4 + std::sqrt(double(k)));
  expect_close(download_values(tc), expected, tolerance + rounding_of(o.half), tolerance);
}

TEST(Gemm, ManyShapes) {
  for (const auto& [m, n, k] : {std::array<int, 3>{1, 1, 1},
                                {8, 32, 16},
                                {7, 31, 5},
                                {9, 33, 17},
                                {64, 64, 64},
                                {65, 130, 67},
                                {3, 200, 1},
                                {128, 10, 100},
                                {1, 70, 300},
                                {70, 1, 300},
                                {33, 47, 1500}})
    check<float>(1, m, n, k);
}

TEST(Gemm, TransposesCostNothingAndAreRight) {
  for (Options o : of_all_transposes()) {
    check<float>(1, 37, 71, 45, o);
    check<float>(1, 64, 96, 64, o);
    check<float>(5, 17, 33, 21, o);
  }
}

TEST(Gemm, DepthsOfSeveralChainsAndSeveralBlocksOfRowsAndColumns) {
  for (Options o : of_all_transposes()) {
    for (const auto& [m, n, k] : {std::array<int, 3>{16, 32, 256},
                                  {17, 65, 257},
                                  {8, 31, 513},
                                  {361, 40, 300},
                                  {9, 500, 270},
                                  {4, 77, 9000}})
      check<float>(1, m, n, k, o);
    o.alpha = -0.5F;
    o.beta = 1;
    o.bias = true;
    check<float>(2, 30, 70, 515, o);
    o.beta = 0;
    check<float>(2, 70, 70, 40, o);
    if (device().info().fp64) check<double>(2, 70, 70, 300, o);
  }
}

TEST(Gemm, AlphaBetaAndBias) {
  Options o;
  o.alpha = 0.5F;
  o.beta = -2;
  o.bias = true;
  check<float>(1, 21, 43, 19, o);
  check<float>(3, 64, 64, 8, o);
}

TEST(Gemm, BatchesThatShareAnOperand) {
  Options o;
  o.shared_b = true;
  check<float>(4, 9, 40, 13, o);
}

TEST(Gemm, Float64) {
  if (!device().info().fp64) GTEST_SKIP();
  Options o;
  check<double>(1, 33, 47, 700);
  o.transpose_b = o.bias = true;
  check<double>(2, 8, 16, 24, o);
  check<double>(2, 19, 37, 24, o);
}

TEST(Gemm, DepthZeroGivesBetaCPlusBias) {
  Options o;
  o.beta = 3;
  o.bias = true;
  check<float>(1, 4, 40, 0, o);
}

TEST(Gemm, EmptyResults) {
  check<float>(1, 0, 5, 3);
  check<float>(1, 5, 0, 3);
  check<float>(0, 5, 4, 3);
}

TEST(Gemm, BetaZeroIgnoresWhatWasThere) {
  const Tensor a = upload(std::vector<float>{2}, {1, 1}), b = upload(std::vector<float>{3}, {1, 1});
  const Tensor c = upload(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}, {1, 1});
  gemm(device().queue(), a, b, c);
  EXPECT_EQ(download<float>(c), std::vector<float>{6});
}

TEST(Gemm, AlphaZeroLeavesTheProductOut) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor a = upload(std::vector<float>(6, infinity), {2, 3}),
               b = upload(std::vector<float>(12, 0), {3, 4}), c = upload(std::vector<float>(8, 3), {2, 4}),
               bias = upload(std::vector<float>(4, 1), {4});
  gemm(device().queue(), a, b, c, 0, 2, &bias);
  EXPECT_EQ(download<float>(c), std::vector<float>(8, 7));
}

TEST(Gemm, Bfloat16Storage) {
  const std::int64_t m = 19, n = 35, k = 21;
  const auto to_bfloat16 = [](float v) {
    std::uint32_t bits;
    std::memcpy(&bits, &v, 4);
    return static_cast<std::uint16_t>(bits >> 16);
  };
  const auto to_float = [](std::uint16_t v) {
    const std::uint32_t bits = std::uint32_t(v) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
  };
  std::vector<std::uint16_t> a, b, c(at(m * n));
  for (const float v : random_floats(m * k, 1)) a.push_back(to_bfloat16(v));
  for (const float v : random_floats(k * n, 2)) b.push_back(to_bfloat16(v));
  Queue& queue = device().queue();
  const Tensor ta = Tensor::empty(device(), {m, k}, DType::bfloat16),
               tb = Tensor::empty(device(), {k, n}, DType::bfloat16),
               tc = Tensor::empty(device(), {m, n}, DType::bfloat16);
  queue.write(ta, a.data(), a.size() * 2);
  queue.write(tb, b.data(), b.size() * 2);
  gemm(queue, ta, tb, tc);
  queue.read(tc, c.data(), c.size() * 2);
  std::vector<double> actual, expected;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += double(to_float(a[at(i * k + l)])) * to_float(b[at(l * n + j)]);
      expected.push_back(sum);
      actual.push_back(to_float(c[at(i * n + j)]));
    }
  expect_close(actual, expected, 0.005, 1e-5);
}

TEST(Gemm, EveryImplementation) {
  for_each_implementation("gemm", [] {
    for (Options o :
         {Options{}, of_all_transposes_and_precisions()[1], of_all_transposes_and_precisions()[2]}) {
      const bool is_exact = o.precision != MatmulPrecision::highest;  // what is summed
      check<float>(1, 33, 47, 20, o);
      check<float>(1, 1, 1, 1, o);
      check<float>(2, 65, 129, 530, o);
      o.transpose_b = true;
      if (is_exact) check<float>(1, 20, 140, 2308, o);  // in parts
      o.transpose_a = true;
      o.transpose_b = false;
      o.alpha = 2;
      o.beta = 0.5F;
      check<float>(3, 33, 47, 20, o);
      o.shared_b = true;
      check<float>(3, 36, 44, 20, o);
      o.shared_b = false;
      o.transpose_b = o.bias = true;
      check<float>(3, 8, 31, 64, o);
      o.transpose_a = false;
      o.shared_b = true;
      o.alpha = 1;
      if (is_exact) check<float>(3, 130, 12, 1028, o);
      if (device().info().fp64 && o.half == DType::float32) check<double>(1, 33, 47, 20, o);
    }
  });
}

// On a GPU what is aligned comes in vectors: of all that is, but for one thing, and of tiles that it fills in
// part.
TEST(Gemm, EveryImplementationOnLinesOfAnyAlignment) {
  for_each_implementation("gemm", [] {
    for (Options o : of_all_transposes_and_precisions()) {
      check<float>(1, 132, 68, 36, o);
      check<float>(1, 132, 68, 38, o);
      check<float>(1, 133, 67, 36, o);
      o.gap = 4;
      check<float>(2, 60, 132, 20, o);
      check<float>(1, 4, 8, 1044, o);
      o.gap = 2;
      check<float>(1, 36, 12, 24, o);
      check<float>(1, 34, 14, 26, o);
      o.gap = 0;
      o.start = 1;
      check<float>(1, 36, 12, 24, o);
      o.start = 4;
      check<float>(3, 4, 4, 4, o);
    }
  });
}

TEST(Gemm, EveryImplementationTakesFewRowsOrColumns) {
  for_each_implementation("gemm", [] {
    for (Options o : of_all_transposes()) {
      for (const std::int64_t few : {1, 3, 4, 5, 20}) {
        check<float>(1, few, 77, 530, o);
        check<float>(1, 61, few, 270, o);
        check<float>(2, few, 33, 15, o);
      }
      check<float>(1, 2, 20000, 5, o);  // blocks of 2048
      check<float>(1, 17000, 3, 17, o);
      check<float>(1, 1000, 1300, 4, o);  // along rows, in panels of 128 KiB
      o.bias = true;
      o.alpha = 2;
      o.beta = 0.5F;
      o.gap = 3;
      check<float>(2, 6, 50, 40, o);
      check<float>(2, 50, 6, 40, o);
    }
  });
}

/** For a product's results, each in units of the root of its terms' squares, the root of the mean of the
 * squares: how far they are from the exact ones, and how large those are. */
struct Distance {
  double error, size;
};

Distance distance(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                  std::int64_t m, std::int64_t n, std::int64_t k) {
  double errors = 0, sizes = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, squares = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double term = double(a[at(i * k + l)]) * double(b[at(l * n + j)]);
        sum += term;
        squares += term * term;
      }
      errors += (c[at(i * n + j)] - sum) * (c[at(i * n + j)] - sum) / squares;
      sizes += sum * sum / squares;
    }
  return {std::sqrt(errors / double(m * n)), std::sqrt(sizes / double(m * n))};
}

/** The float32 product, term by term. */
std::vector<float> plain_product(const std::vector<float>& a, const std::vector<float>& b, std::int64_t m,
                                 std::int64_t n, std::int64_t k) {
  std::vector<float> c(at(m * n), 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j)
        c[at(i * n + j)] = std::fma(a[at(i * k + l)], b[at(l * n + j)], c[at(i * n + j)]);
  return c;
}

// "highest" is as exact as float32 is, whatever multiplies: deep sums of one sign (tensor cores truncate
// where they add), magnitudes far apart, and terms that cancel.
TEST(Gemm, EveryImplementationKeepsThePrecision) {
  for_each_implementation("gemm", [] {
    constexpr std::int64_t m = 20, n = 36;
    for (const std::int64_t k : {8, 300, 4000})
      for (const std::string kind : {"mixed signs", "one sign", "far apart", "cancelling"}) {
        SCOPED_TRACE(concat(kind, " ", k));
        std::vector<float> a = random_floats(m * k, 1), b = random_floats(k * n, 2);
        for (std::int64_t i = 0; i < m * k; ++i) {
          float& value = a[at(i)];
          if (kind == "one sign") value = std::abs(value);
          if (kind == "far apart") value = std::ldexp(value, static_cast<int>(i * 7 % 40) - 20);
          if (kind == "cancelling" && i % k >= k / 2) value = -a[at(i - k / 2)] * (1 + 1e-4F * value);
        }
        for (std::int64_t i = 0; i < k * n; ++i) {
          if (kind == "one sign") b[at(i)] = std::abs(b[at(i)]);
          if (kind == "cancelling" && i / n >= k / 2) b[at(i)] = b[at(i - k / 2 * n)];
        }
        const Distance plain = distance(a, b, plain_product(a, b, m, n, k), m, n, k);
        const Tensor ta = upload(a, {m, k}), tb = upload(b, {k, n}), tc = Tensor::empty(device(), {m, n});
        gemm(device().queue(), ta, tb, tc);
        EXPECT_LE(distance(a, b, download<float>(tc), m, n, k).error, 4 * plain.error + 1e-8);
        const double truncation = std::ldexp(double(k) / 8, -23) * plain.size;
        for (const auto& [precision, rounding] :
             {std::pair{MatmulPrecision::high, 1e-3}, {MatmulPrecision::medium, 8e-3}}) {
          gemm(device().queue(), ta, tb, tc, 1, 0, nullptr, precision);
          EXPECT_LE(distance(a, b, download<float>(tc), m, n, k).error,
                    4 * plain.error + rounding + truncation);
        }
      }
  });
}

TEST(Gemm, EveryImplementationTakesInfinitiesAndNaNs) {
  constexpr std::int64_t m = 70, n = 40, k = 50;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  a[at(3 * k + 7)] = infinity;                                   // a row of infinities, but for
  b[at(7 * n + 5)] = 0;                                          // a NaN
  b[at(9 * n + 6)] = -infinity;                                  // a column of them
  a[at(11 * k + 20)] = std::numeric_limits<float>::quiet_NaN();  // a row of NaNs
  b[at(33 * n + 30)] = infinity;
  a[at(12 * k + 33)] = 0.5F;  // exact in TF32: nothing is left of it
  a[at(13 * k + 33)] = -2;
  a[at(20 * k + 1)] =
      std::numeric_limits<float>::max();  // finite, and nearer to infinity than to a TF32 number
  for (std::int64_t j = 0; j < n; ++j) b[at(n + j)] = 0.25F;
  const std::vector<float> expected = plain_product(a, b, m, n, k);
  const Tensor ta = upload(a, {m, k}), tb = upload(b, {k, n}), tc = Tensor::empty(device(), {m, n});
  for_each_implementation("gemm", [&] {
    for (const MatmulPrecision precision :
         {MatmulPrecision::highest, MatmulPrecision::high, MatmulPrecision::medium}) {
      gemm(device().queue(), ta, tb, tc, 1, 0, nullptr, precision);
      const std::vector<float> actual = download<float>(tc);
      const bool exact = precision == MatmulPrecision::highest;
      for (std::int64_t i = 0; i < m * n; ++i) {
        const float wanted = expected[at(i)], got = actual[at(i)];
        if (!exact && i / n == 20) continue;  // what may be rounded to an infinity
        if (std::isnan(wanted))
          EXPECT_TRUE(std::isnan(got)) << i / n << ", " << i % n << ": " << got;
        else if (std::isinf(wanted))
          EXPECT_EQ(got, wanted) << i / n << ", " << i % n;
        else
          EXPECT_NEAR(got, wanted, (exact ? 1e-4 : 2e-2) * std::max(1.0F, std::abs(wanted)))
              << i / n << ", " << i % n;
      }
    }
  });
}

TEST(Gemm, TilesOfWarpsFitCardsBeforeHopper) {
  const DeviceInfo ampere = nvidia_card(80);
  for (const ProductTile& tile : product_tiles)
    if (tile.engine != ProductEngine::warp_groups)
      EXPECT_TRUE(tile.can_take(ampere, DType::float32, MatmulPrecision::medium)) << tile.name;
    else
      EXPECT_FALSE(tile.can_take(ampere, DType::float32, MatmulPrecision::medium)) << tile.name;
}

TEST(Gemm, WarpsTakeWordsAsTheyLieOrPacked) {
  const DeviceInfo ampere = nvidia_card(80);
  const Tensor any = Tensor::empty(device(), {64, 64}, DType::bfloat16),
               any32 = Tensor::empty(device(), {64, 64});
  const auto problem = [](const Tensor& t, std::int64_t k, std::int64_t a_row, std::int64_t a_column,
                          MatmulPrecision precision = MatmulPrecision::highest) {
    return GemmProblem{t, t, t, nullptr, 1, 0, precision, 1, 4096, 4096, k, 0, a_row, a_column, 0, 1, k};
  };
  const std::vector<GemmImplementation> list = gemm_of_words();
  EXPECT_EQ(list.size(), 2U);
  for (const GemmImplementation& each : list) {
    SCOPED_TRACE(each.name);
    EXPECT_TRUE(each.can_take(ampere, problem(any, 512, 512, 1)));
    EXPECT_TRUE(each.can_take(ampere, problem(any, 511, 1, 4096)));
    EXPECT_FALSE(each.can_take(ampere, problem(any, 512, 1024, 2))) << "no stride is 1";
    EXPECT_TRUE(each.can_take(ampere, problem(any32, 512, 512, 1, MatmulPrecision::medium)));
    EXPECT_FALSE(each.can_take(ampere, problem(any32, 512, 512, 1, MatmulPrecision::high)));
    EXPECT_FALSE(each.can_take(nvidia_card(75), problem(any, 512, 512, 1)));
    // An operand that is packed costs a pass over it.
    const double as_it_lies = each.expected_cost(ampere, problem(any, 512, 512, 1));
    EXPECT_LT(as_it_lies, each.expected_cost(ampere, problem(any, 512, 1, 4096)));
    EXPECT_LT(as_it_lies, each.expected_cost(ampere, problem(any, 508, 508, 1)));
    EXPECT_LT(as_it_lies, each.expected_cost(ampere, problem(any32, 512, 512, 1, MatmulPrecision::medium)));
  }
}

// Parts of a product cover it once, and none packs more than it may.
TEST(Gemm, ProductsWhoseOperandsAreLargeArePackedInSlabs) {
  const ProductTile& tile = product_tiles[product_tile_count - 1];
  const Tensor any = Tensor::empty(device(), {64, 64}, DType::bfloat16);
  struct Sizes {
    std::int64_t batches, m, n, k;
    bool shares_left;
    std::int64_t slabs;  // 0: none can be
  };
  for (const Sizes& s : {Sizes{1, 8192, 768, 50257, false, 5}, Sizes{1, 64, 64, 64, false, 1},
                         Sizes{300, 512, 512, 4097, false, 7}, Sizes{300, 512, 512, 4097, true, 7},
                         Sizes{2, 8192, 64, 50257, false, 10}, Sizes{1, 512, 2 << 10, 1 << 17, false, 0},
                         Sizes{1, 2 << 10, 64, 4 << 20, false, 0}}) {
    SCOPED_TRACE(s.m);
    const GemmProblem p{any,
                        any,
                        any,
                        nullptr,
                        1,
                        0,
                        MatmulPrecision::highest,
                        s.batches,
                        s.m,
                        s.n,
                        s.k,
                        s.shares_left ? 0 : s.m * s.k,
                        s.k,
                        1,
                        s.k * s.n,
                        1,
                        s.k};
    const GemmOperand left = left_operand(tile, p), right = right_operand(tile, p);
    const auto slabs = product_slabs(p, left, true, right, true);
    EXPECT_EQ(slabs.has_value(), s.slabs > 0);
    if (!slabs) continue;
    EXPECT_EQ(slabs->count(p), s.slabs);
    std::vector<int> rows(static_cast<std::size_t>(s.batches * s.m));
    slabs->each(p, [&](const GemmProblem& part) {
      const GemmOperand a = left_operand(tile, part), b = right_operand(tile, part);
      EXPECT_LE(a.packed_line() * static_cast<double>(a.lines * a.matrices()),
                static_cast<double>(most_packed_bytes));
      EXPECT_LE(b.packed_line() * static_cast<double>(b.lines * b.matrices()),
                static_cast<double>(most_packed_bytes));
      const std::int64_t first = part.c.offset / s.n, batch = first / s.m;
      EXPECT_EQ(part.a.offset, batch * p.a_batch + first % s.m * p.a_row);
      EXPECT_EQ(part.b.offset, batch * p.b_batch);
      EXPECT_EQ(part.c.numel(), part.batches * part.m * s.n);
      for (std::int64_t row = first; row < first + part.batches * part.m; ++row)
        ++rows[static_cast<std::size_t>(row)];
    });
    EXPECT_EQ(rows, std::vector<int>(rows.size(), 1));
  }
}

// Parts are products of their own: an implementation that makes them one after another makes the whole.
TEST(Gemm, SlabsMakeTheWhole) {
  constexpr std::int64_t batches = 3, m = 37, n = 20, k = 1100;
  Queue& queue = device().queue();
  const auto drawn = [&](const Dims& shape, std::uint64_t seed) {
    const Tensor t = queue.scratch(shape);
    random_normal(queue, t, 0, 1, {seed, 0});
    return t;
  };
  const Tensor a = drawn({batches, k, m}, 1), b = drawn({batches, k, n}, 2), bias = drawn({n}, 3),
               before = drawn({batches, m, n}, 4), whole = queue.scratch(before.shape),
               c = queue.scratch(before.shape);
  const bool on_cpu = device().info().runs_cpu_kernels();
  const GemmImplementation& product = gemm_implementation(on_cpu ? "cpu_tiles" : "simt_64x64");
  const GemmProblem p{a,     b, c, &bias, 0.5, 2, MatmulPrecision::highest, batches, m, n, k,
                      k * m, 1, m, k * n, n,   1};
  for (const ProductSlabs& slabs : {ProductSlabs{1, 16}, ProductSlabs{2, m}, ProductSlabs{batches, m}}) {
    SCOPED_TRACE(slabs.count(p));
    copy(queue, before, whole);
    copy(queue, before, c);
    gemm(queue, a.transposed(), b, whole, 0.5, 2, &bias);
    slabs.each(p, [&](const GemmProblem& part) { product.run(queue, part); });
    expect_close(download_values(c), download_values(whole), 1e-5, 2e-4);
  }
}

TEST(Gemm, EveryImplementationOfALargeOddLine) {
  if (device().info().runs_cpu_kernels()) GTEST_SKIP() << "no implementation for CPUs packs";
  constexpr std::int64_t m = 8211, n = 24, k = 16385;  // 269 MB of 16-bit numbers
  Queue& queue = device().queue();
  const Tensor a = queue.scratch({m, k}, DType::bfloat16), b = queue.scratch({k, n}, DType::bfloat16),
               c = queue.scratch({m, n}, DType::bfloat16), expected = queue.scratch({m, n});
  random_normal(queue, a, 0, 1, {1, 0});
  random_normal(queue, b, 0, 1, {2, 0});
  const auto widened = [&](const Tensor& t) {
    const Tensor wide = queue.scratch(t.shape);
    copy(queue, t, wide);
    return wide;
  };
  gemm(queue, widened(a), widened(b), expected);
  const std::vector<double> wanted = download_values(expected);
  for (const bool across : {false, true}) {
    Tensor left = a;
    if (across) {
      left = queue.scratch({k, m}, DType::bfloat16);
      copy(queue, a.transposed(), left);
      left = left.transposed();
    }
    for_each_implementation("gemm", [&] {
      gemm(queue, left, b, c);
      expect_close(download_values(c), wanted, 2 * epsilon(DType::bfloat16), 0.5);
    });
  }
}

TEST(Gemm, RightOperandsAreTurnedWhereManyRowsMeetThem) {
  const DeviceInfo card = nvidia_card(75);
  const Tensor any = Tensor::empty(device(), {64, 64});
  const auto problem = [&](std::int64_t m, std::int64_t b_row, std::int64_t a_column = 1) {
    constexpr std::int64_t n = 4096, k = 4096;
    const std::int64_t a_row = a_column == 1 ? k : 1, b_column = b_row == 1 ? k : 1;
    return GemmProblem{any, any,   any,      nullptr, 1,     0,       MatmulPrecision::highest, 1, m, n, k,
                       0,   a_row, a_column, 0,       b_row, b_column};
  };
  const auto least_cost = [&](const std::vector<GemmImplementation>& list, const GemmProblem& p) {
    double least = std::numeric_limits<double>::infinity();
    for (const GemmImplementation& each : list)
      if (each.can_take(card, p)) least = std::min(least, each.expected_cost(card, p));
    return least;
  };
  EXPECT_LT(least_cost(gemm_of_turned(), problem(4096, 1)), least_cost(gemm_products(), problem(4096, 1)));
  EXPECT_GT(least_cost(gemm_of_turned(), problem(256, 1)), least_cost(gemm_products(), problem(256, 1)));
  for (const GemmImplementation& each : gemm_of_turned()) {
    EXPECT_FALSE(each.can_take(card, problem(4096, 4096))) << "the right one lies across the depth";
    EXPECT_FALSE(each.can_take(card, problem(4096, 1, 4096))) << "the left one lies across the depth";
  }
}

TEST(Gemm, ErrorsNameTheShapes) {
  Queue& queue = device().queue();
  const Tensor a = Tensor::empty(device(), {2, 3}), b = Tensor::empty(device(), {4, 5}),
               c = Tensor::empty(device(), {2, 5});
  try {
    gemm(queue, a, b, c);
    FAIL() << "no error";
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("[4, 5]"), std::string::npos) << e.what();
  }
  EXPECT_THROW(gemm(queue, Tensor::empty(device(), {2, 4}, DType::int32), b, c), TypeError);
  const Tensor bias = Tensor::empty(device(), {4});
  EXPECT_THROW(gemm(queue, Tensor::empty(device(), {2, 4}), b, c, 1, 0, &bias), ValueError);
}

TEST(Gemm, Oclgrind) {
  Options o;
  check<float>(1, 9, 33, 5, o);
  o.transpose_b = o.bias = true;
  o.beta = 1;
  check<float>(2, 3, 35, 18, o);
  check<float>(1, 8, 32, 16, o);
  const ImplementationsSet forced("gemm=cpu_few_rows");
  for (Options each : of_all_transposes()) {
    check<float>(2, 3, 35, 18, each);
    check<float>(1, 37, 5, 9, each);
  }
}

}  // namespace
