#include "dlprim/ops/fft/fft.h"

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "dlprim/ops/fft/fft_length.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Complex = std::complex<long double>;
using Line = std::vector<Complex>;

/** The sums themselves for odd and for short lines; halves of the length for others. */
Line reference(const Line& x, bool inverse) {
  constexpr long double pi = 3.14159265358979323846264338328L;
  const std::size_t n = x.size();
  Line roots, y(n);
  for (std::size_t k = 0; k < n; ++k)
    roots.push_back(std::polar(
        1.0L, (inverse ? 2 : -2) * pi * static_cast<long double>(k) / static_cast<long double>(n)));
  const auto add_product = [](Complex& sum, const Complex& a, const Complex& b) {
    sum += Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  if (n > 16 && n % 2 == 0) {
    Line even, odd;
    for (std::size_t j = 0; j < n; ++j) (j % 2 ? odd : even).push_back(x[j]);
    even = reference(even, inverse);
    odd = reference(odd, inverse);
    for (std::size_t k = 0; k < n; ++k) add_product(y[k] = even[k % (n / 2)], roots[k], odd[k % (n / 2)]);
    return y;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0, turns = 0; j < n; ++j) {
      add_product(y[k], x[j], roots[turns]);
      turns = turns + k < n ? turns + k : turns + k - n;
    }
  return y;
}

template <class Real>
std::vector<Real> drawn(std::int64_t count, unsigned seed) {
  const auto floats = random_floats(count, seed);
  return {floats.begin(), floats.end()};
}

/** Checks that `actual` is as near to `expected` as rounding lets a transform of n elements be. */
template <class Real>
void expect_near(const std::vector<Real>& actual, const std::vector<double>& expected, std::int64_t n) {
  ASSERT_EQ(actual.size(), expected.size());
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(static_cast<long double>(actual[i]) - expected[i], 2);
    norm += std::pow(static_cast<long double>(expected[i]), 2);
  }
  const double units =
      std::sqrt(static_cast<double>(error / std::max(norm, 1e-30L))) / std::numeric_limits<Real>::epsilon();
  EXPECT_LT(units, 2 + 0.5 * std::log2(static_cast<double>(n))) << "length " << n;
}

/** Calls visit(first element) for each line along `axis` of a contiguous tensor, and gives their stride. */
template <class Visit>
std::int64_t for_each_line(const Dims& shape, int axis, const Visit& visit) {
  const std::int64_t n = shape[axis], inner = product(Dims(shape.begin() + axis + 1, shape.end()));
  for (std::int64_t line = 0; line < product(shape) / n; ++line)
    visit(line / inner * n * inner + line % inner);
  return inner;
}

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/** The pairs of numbers of `shape`, each line along `axis` transformed and multiplied by `scale`. */
template <class Real>
std::vector<double> reference(const std::vector<Real>& x, const Dims& shape, int axis, bool inverse,
                              double scale) {
  std::vector<double> y(x.size());
  const std::int64_t inner = product(Dims(shape.begin() + axis + 1, shape.end())), n = shape[axis];
  for_each_line(shape, axis, [&](std::int64_t first) {
    Line line;
    for (std::int64_t j = 0; j < n; ++j)
      line.emplace_back(x[at(2 * (first + j * inner))], x[at(2 * (first + j * inner) + 1)]);
    line = reference(line, inverse);
    for (std::int64_t k = 0; k < n; ++k) {
      y[at(2 * (first + k * inner))] = static_cast<double>(line[at(k)].real()) * scale;
      y[at(2 * (first + k * inner) + 1)] = static_cast<double>(line[at(k)].imag()) * scale;
    }
  });
  return y;
}

Dims with_pairs(Dims shape) {
  shape.push_back(2);
  return shape;
}

/** Complex to complex along `axis` of numbers of that shape, both ways. */
template <class Real>
void check_c2c(const Dims& shape, int axis, unsigned seed = 1) {
  SCOPED_TRACE(concat("c2c of ", shape, " along ", axis));
  const auto x = drawn<Real>(2 * product(shape), seed);
  const Tensor tx = upload(x, with_pairs(shape)), y = queue().scratch(tx.shape, tx.dtype);
  for (const bool inverse : {false, true}) {
    const double scale = inverse ? 0.5 : 1;
    fft_c2c(queue(), tx, axis, inverse, scale, y);
    expect_near(download<Real>(y), reference(x, shape, axis, inverse, scale), shape[axis]);
  }
}

/** Real numbers to both kinds of spectra and back. */
template <class Real>
void check_real(const Dims& shape, int axis, unsigned seed = 2) {
  SCOPED_TRACE(concat("real numbers of ", shape, " along ", axis));
  const std::int64_t n = shape[axis], inner = product(Dims(shape.begin() + axis + 1, shape.end()));
  const auto x = drawn<Real>(product(shape), seed);
  std::vector<Real> pairs;
  for (const Real v : x) pairs.insert(pairs.end(), {v, 0});
  const auto whole = reference(pairs, shape, axis, false, 3);
  Dims half_shape = shape;
  half_shape[axis] = n / 2 + 1;
  std::vector<double> half;
  for (std::int64_t i = 0; i < product(half_shape); ++i) {
    const std::int64_t outer = i / (inner * half_shape[axis]), rest = i % (inner * half_shape[axis]);
    for (const int part : {0, 1}) half.push_back(whole[at(2 * (outer * n * inner + rest) + part)]);
  }
  const Tensor tx = upload(x, shape), all = queue().scratch(with_pairs(shape), tx.dtype),
               first = queue().scratch(with_pairs(half_shape), tx.dtype),
               back = queue().scratch(shape, tx.dtype);
  fft_r2c(queue(), tx, axis, 3, all);
  expect_near(download<Real>(all), whole, n);
  fft_r2c(queue(), tx, axis, 3, first);
  expect_near(download<Real>(first), half, n);

  // Imaginary parts that no real signal's spectrum has do not count.
  auto spectrum = download<Real>(first);
  for_each_line(half_shape, axis, [&](std::int64_t start) {
    spectrum[at(2 * start + 1)] = 5;
    if (n % 2 == 0) spectrum[at(2 * (start + n / 2 * inner) + 1)] = -7;
  });
  fft_c2r(queue(), upload(spectrum, with_pairs(half_shape)), axis, 1 / (3 * static_cast<double>(n)), back);
  expect_near(download<Real>(back), std::vector<double>(x.begin(), x.end()), n);
}

/** Elements of `t` that are `steps` apart in larger memory, in which dimension 0 is the innermost. */
template <class Real>
Tensor spread(const std::vector<Real>& values, const Dims& shape) {
  Dims strides;
  std::int64_t reach = 3;  // the first element
  std::vector<std::int64_t> of_dim;
  std::int64_t stride = 2;
  for (int d = 0; d < shape.size(); ++d) {
    strides.push_back(stride);
    reach += (shape[d] - 1) * stride;
    stride *= shape[d] + 1;
  }
  std::vector<Real> memory(at(reach + 1), std::numeric_limits<Real>::quiet_NaN());
  for (std::int64_t i = 0; i < product(shape); ++i) {
    std::int64_t place = 3, rest = i;
    for (int d = shape.size() - 1; d >= 0; --d) {
      place += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    memory[at(place)] = values[at(i)];
  }
  return upload(memory, {reach + 1}).restrided("spread", shape, strides, 3);
}

void check_all_kinds(const Dims& shape, int axis) {
  check_c2c<float>(shape, axis);
  check_real<float>(shape, axis);
}

}  // namespace

TEST(Fft, EveryShortLength) {
  for (std::int64_t n = 1; n <= 300; ++n) check_c2c<float>({2, n}, 1, static_cast<unsigned>(n));
}

TEST(Fft, RealNumbersOfEveryShortLength) {
  for (std::int64_t n = 1; n <= 130; ++n) check_real<float>({3, n}, 1, static_cast<unsigned>(n));
}

TEST(Fft, LongLengths) {
  for (const std::int64_t n : {1024, 2310, 4096, 4098, 8192, 30030, 46656, 1 << 17})
    check_all_kinds({1, n}, 1);
  check_c2c<float>({1, 3 << 19}, 1);
}

TEST(Fft, PrimeLengths) {
  for (const std::int64_t n : {17, 97, 257, 1009, 2053}) check_all_kinds({2, n}, 1);
}

TEST(Fft, EveryDimensionOfManyLines) {
  for (const std::int64_t lines : {1, 7, 8, 15, 16, 17, 33, 100})
    for (const std::int64_t n : {1, 2, 12, 16, 37, 60}) {
      check_all_kinds({lines, n}, 1);
      check_all_kinds({n, lines}, 0);
      check_all_kinds({3, n, lines}, 1);
    }
  check_all_kinds({2, 3, 8, 2, 5}, 2);
  check_all_kinds({40, 512}, 1);
  check_all_kinds({512, 40}, 0);
  check_all_kinds({2, 8192, 3}, 1);
}

TEST(Fft, Float64) {
  if (!device().info().fp64) GTEST_SKIP();
  for (const std::int64_t n : {1, 2, 3, 30, 64, 101, 143, 1000, 4096, 5003, 1 << 15}) {
    check_c2c<double>({3, n}, 1);
    check_real<double>({n, 3}, 0);
  }
}

TEST(Fft, EveryImplementation) {
  for_each_implementation("fft", [] {
    for (const std::int64_t n : {1, 2, 6, 11, 16, 60, 91, 128, 200, 1001, 1024, 4096}) {
      check_all_kinds({3, n}, 1);
      check_all_kinds({n, 21}, 0);
    }
    check_all_kinds({2, 36, 5}, 1);
    check_all_kinds({2, 64, 16}, 1);
    check_c2c<float>({1, 1 << 16}, 1);
    if (device().info().fp64) {
      check_c2c<double>({5, 60}, 1);
      check_real<double>({48, 9}, 0);
    }
  });
}

TEST(Fft, InputsOfAnyStrides) {
  for (const Dims& shape : {Dims{5, 12}, Dims{20, 48}, Dims{3, 17, 34}, Dims{2, 16, 1024}})
    for (int axis = 0; axis < shape.size(); ++axis) {
      SCOPED_TRACE(concat(shape, " along ", axis));
      const auto x = drawn<float>(2 * product(shape), 3);
      const Tensor y = queue().scratch(with_pairs(shape));
      fft_c2c(queue(), spread(x, with_pairs(shape)), axis, false, 1, y);
      expect_near(download<float>(y), reference(x, shape, axis, false, 1), shape[axis]);

      const auto real = drawn<float>(product(shape), 4);
      std::vector<float> pairs;
      for (const float v : real) pairs.insert(pairs.end(), {v, 0});
      fft_r2c(queue(), spread(real, shape), axis - shape.size(), 1, y);
      expect_near(download<float>(y), reference(pairs, shape, axis, false, 1), shape[axis]);
    }
  // All lines are one.
  const auto line = drawn<float>(2 * 24, 5);
  Tensor x = upload(line, {24, 2});
  x.shape = {20, 24, 2};
  x.strides = {0, 2, 1};
  const Tensor y = queue().scratch(x.shape);
  fft_c2c(queue(), x, 1, true, 1, y);
  std::vector<double> expected;
  const auto one = reference(line, {24}, 0, true, 1);
  for (int i = 0; i < 20; ++i) expected.insert(expected.end(), one.begin(), one.end());
  expect_near(download<float>(y), expected, 24);
}

TEST(Fft, SumsOfSquaresStay) {
  for (const std::int64_t n : {100, 1009, 1 << 17}) {
    const auto x = drawn<float>(2 * n, 6);
    const Tensor y = queue().scratch({n, 2});
    fft_c2c(queue(), upload(x, {n, 2}), 0, false, 1 / std::sqrt(static_cast<double>(n)), y);
    double before = 0, after = 0;
    for (const float v : x) before += static_cast<double>(v) * v;
    for (const float v : download<float>(y)) after += static_cast<double>(v) * v;
    EXPECT_NEAR(after / before, 1, 1e-6) << n;
  }
}

TEST(Fft, BackAndForth) {
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const std::int64_t n = std::uniform_int_distribution<std::int64_t>(1, 20000)(random);
    const auto x = drawn<float>(2 * 2 * n, 8);
    const Tensor there = queue().scratch({2, n, 2}), back = queue().scratch({2, n, 2});
    fft_c2c(queue(), upload(x, {2, n, 2}), 1, false, 1, there);
    fft_c2c(queue(), there, -1, true, 1 / static_cast<double>(n), back);
    expect_near(download<float>(back), std::vector<double>(x.begin(), x.end()), n);
  }
}

TEST(Fft, NothingToTransform) {
  const Tensor none = queue().scratch({0, 8, 2});
  fft_c2c(queue(), none, 1, false, 1, queue().scratch({0, 8, 2}));
  fft_r2c(queue(), queue().scratch({8, 0}), 0, 1, queue().scratch({5, 0, 2}));
  fft_c2r(queue(), queue().scratch({5, 0, 2}), 0, 1, queue().scratch({8, 0}));
}

TEST(Fft, Errors) {
  Queue& q = queue();
  const Tensor x = q.scratch({4, 6, 2}), y = q.scratch({4, 6, 2}), real = q.scratch({4, 6});
  EXPECT_THROW(fft_c2c(q, x, 2, false, 1, y), IndexError);
  EXPECT_THROW(fft_c2c(q, x, -3, false, 1, y), IndexError);
  EXPECT_THROW(fft_c2c(q, q.scratch({2}), 0, false, 1, q.scratch({2})), IndexError);
  EXPECT_THROW(fft_c2c(q, real, 0, false, 1, real), ValueError);
  EXPECT_THROW(fft_c2c(q, q.scratch({}), 0, false, 1, q.scratch({})), ValueError);
  EXPECT_THROW(fft_c2c(q, x, 0, false, 1, q.scratch({4, 5, 2})), ValueError);
  EXPECT_THROW(fft_c2c(q, x, 0, false, 1, q.scratch({6, 4, 2}).transposed()), ValueError);
  EXPECT_THROW(fft_c2c(q, q.scratch({4, 0, 2}), 1, false, 1, q.scratch({4, 0, 2})), ValueError);
  EXPECT_THROW(fft_c2c(q, x, 0, false, 1, q.scratch({4, 6, 2}, DType::float16)), TypeError);
  const Tensor halves = q.scratch({4, 6, 2}, DType::float16), integers = q.scratch({4, 6, 2}, DType::int64);
  EXPECT_THROW(fft_c2c(q, halves, 0, false, 1, halves), TypeError);
  EXPECT_THROW(fft_c2c(q, integers, 0, false, 1, integers), TypeError);
  EXPECT_THROW(fft_r2c(q, real, 1, 1, q.scratch({4, 5, 2})), ValueError);
  EXPECT_THROW(fft_r2c(q, real, 1, 1, q.scratch({4, 4})), ValueError);
  EXPECT_THROW(fft_r2c(q, real, 2, 1, y), IndexError);
  EXPECT_THROW(fft_c2r(q, q.scratch({4, 4, 2}), 1, 1, q.scratch({4, 5})), ValueError);
  EXPECT_THROW(fft_c2r(q, q.scratch({4, 4, 2}), 1, 1, q.scratch({4, 8})), ValueError);
  EXPECT_THROW(fft_c2r(q, q.scratch({4, 1, 2}), 1, 1, q.scratch({4, 0})), ValueError);
}

TEST(Fft, RadicesMultiplyToTheLength) {
  for (std::int64_t n = 1; n <= 5000; ++n) {
    std::int64_t product = 1;
    for (const int radix : fft_radices(n)) product *= radix;
    EXPECT_EQ(product, is_smooth(n) ? n : 1) << n;
    EXPECT_GE(next_smooth(n), n);
    EXPECT_LE(next_smooth(n), 2 * n);
    EXPECT_TRUE(is_smooth(next_smooth(n))) << n;
  }
}

TEST(Fft, Oclgrind) {
  check_all_kinds({3, 12}, 1);
  check_all_kinds({12, 17}, 0);
  check_all_kinds({2, 34}, 1);
}
