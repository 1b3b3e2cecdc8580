#include "dlprim/ops/linalg/factors.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** A batch of matrices on the host. */
struct Matrices {
  std::int64_t batch, rows, columns;
  std::vector<double> values;

  Matrices(std::int64_t b, std::int64_t r, std::int64_t c)
      : batch(b), rows(r), columns(c), values(static_cast<std::size_t>(b * r * c), 0.0) {}
  double& at(std::int64_t i, std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>((i * rows + r) * columns + c)];
  }
  double at(std::int64_t i, std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>((i * rows + r) * columns + c)];
  }
  Tensor on_device(DType dtype) const { return upload_as(dtype, values, {batch, rows, columns}); }
  static Matrices of(const Tensor& t) {
    Matrices m(t.shape[0], t.shape[1], t.shape[2]);
    m.values = download_values(t);
    return m;
  }
};

Matrices drawn(std::mt19937& random, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  Matrices m(batch, rows, columns);
  std::uniform_int_distribution<int> eighths(-16, 16);
  for (double& value : m.values) value = eighths(random) / 8.0;
  return m;
}

Matrices product(const Matrices& a, const Matrices& b) {
  Matrices c(a.batch, a.rows, b.columns);
  for (std::int64_t i = 0; i < a.batch; ++i)
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t k = 0; k < a.columns; ++k)
        for (std::int64_t j = 0; j < b.columns; ++j) c.at(i, r, j) += a.at(i, r, k) * b.at(i, k, j);
  return c;
}

Matrices transposed(const Matrices& a) {
  Matrices t(a.batch, a.columns, a.rows);
  for (std::int64_t i = 0; i < a.batch; ++i)
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t c = 0; c < a.columns; ++c) t.at(i, c, r) = a.at(i, r, c);
  return t;
}

/** One triangle, with ones in the place of the diagonal on request. */
Matrices triangle(const Matrices& a, bool upper, bool unitriangular, std::int64_t rows,
                  std::int64_t columns) {
  Matrices t(a.batch, rows, columns);
  for (std::int64_t i = 0; i < a.batch; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        if (r == c)
          t.at(i, r, c) = unitriangular ? 1 : a.at(i, r, c);
        else if ((c > r) == upper)
          t.at(i, r, c) = a.at(i, r, c);
  return t;
}

Matrices identity(std::int64_t batch, std::int64_t n) {
  Matrices m(batch, n, n);
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t r = 0; r < n; ++r) m.at(i, r, r) = 1;
  return m;
}

void expect_near(const Matrices& found, const Matrices& expected, DType dtype) {
  ASSERT_EQ(found.values.size(), expected.values.size());
  double largest = 1;
  for (const double value : expected.values) largest = std::max(largest, std::abs(value));
  const double allowed = 40 * static_cast<double>(expected.rows) * epsilon(dtype) * largest;
  for (std::size_t i = 0; i < found.values.size(); ++i)
    ASSERT_NEAR(found.values[i], expected.values[i], allowed) << "element " << i;
}

const DType dtypes[] = {DType::float32, DType::float64};
constexpr std::int64_t sizes[] = {1, 5, 31, 32, 33, 70};

}  // namespace

TEST(Factors, Cholesky) {
  std::mt19937 random(1);
  for (const DType dtype : dtypes) {
    if (!supports(dtype)) continue;
    for (const std::int64_t n : sizes) {
      const Matrices root = drawn(random, 2, n, n);
      Matrices a = product(root, transposed(root));
      for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t r = 0; r < n; ++r) a.at(i, r, r) += 1;
      const Tensor t = a.on_device(dtype), info = Tensor::empty(device(), {2}, DType::int32);
      cholesky(device().queue(), t, info);
      EXPECT_EQ(download_values(info), std::vector<double>(2, 0));
      const Matrices lower = triangle(Matrices::of(t), false, false, n, n);
      expect_near(product(lower, transposed(lower)), a, dtype);
    }
  }
}

TEST(Factors, CholeskyTellsTheFirstMinorThatIsNotPositive) {
  Matrices a = identity(3, 40);
  a.at(1, 36, 36) = -1;
  a.at(2, 3, 3) = 0;
  const Tensor t = a.on_device(DType::float32), info = Tensor::empty(device(), {3}, DType::int32);
  cholesky(device().queue(), t, info);
  EXPECT_EQ(download_values(info), (std::vector<double>{0, 37, 4}));
}

TEST(Factors, LuAndItsPivots) {
  std::mt19937 random(2);
  for (const DType dtype : dtypes) {
    if (!supports(dtype)) continue;
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, m, m + 3}) {
        const Matrices a = drawn(random, 2, m, n);
        const std::int64_t most = std::min(m, n);
        const Tensor t = a.on_device(dtype), info = Tensor::empty(device(), {2}, DType::int32),
                     pivots = Tensor::empty(device(), {2, most}, DType::int32);
        lu_factor(device().queue(), t, pivots, info);
        const Matrices packed = Matrices::of(t);
        for (std::size_t i = 0; i < packed.values.size(); ++i) ASSERT_TRUE(std::isfinite(packed.values[i]));
        const Matrices lower = triangle(packed, false, true, m, most),
                       upper = triangle(packed, true, false, most, n);
        for (const double value : lower.values) ASSERT_LE(std::abs(value), 1 + epsilon(dtype));
        const Tensor again = product(lower, upper).on_device(dtype);
        swap_rows(device().queue(), pivots, true, again);
        expect_near(Matrices::of(again), a, dtype);
        swap_rows(device().queue(), pivots, false, again);
        expect_near(Matrices::of(again), product(lower, upper), dtype);
      }
  }
}

TEST(Factors, LuTellsTheFirstZero) {
  Matrices a = identity(2, 40);
  a.at(1, 35, 35) = 0;
  a.at(1, 38, 38) = 0;
  const Tensor t = a.on_device(DType::float32), info = Tensor::empty(device(), {2}, DType::int32);
  lu_factor(device().queue(), t, Tensor::empty(device(), {2, 40}, DType::int32), info);
  EXPECT_EQ(download_values(info), (std::vector<double>{0, 36}));
}

TEST(Factors, TriangularSystems) {
  std::mt19937 random(3);
  for (const DType dtype : dtypes) {
    if (!supports(dtype)) continue;
    for (const std::int64_t n : sizes)
      for (int options = 0; options < 4; ++options) {
        const bool upper = (options & 1) != 0, unitriangular = (options & 2) != 0;
        Matrices a = drawn(random, 2, n, n);
        for (std::int64_t i = 0; i < 2; ++i)
          for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t c = 0; c < n; ++c) a.at(i, r, c) = r == c ? 2 : a.at(i, r, c) / 64;
        const Matrices x = drawn(random, 2, n, 3);
        const Tensor b = product(triangle(a, upper, unitriangular, n, n), x).on_device(dtype);
        solve_triangular(device().queue(), a.on_device(dtype), upper, unitriangular, b);
        expect_near(Matrices::of(b), x, dtype);
      }
  }
}

TEST(Factors, QrAndItsReflectors) {
  std::mt19937 random(4);
  Queue& queue = device().queue();
  for (const DType dtype : dtypes) {
    if (!supports(dtype)) continue;
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, m, m + 3}) {
        const Matrices a = drawn(random, 2, m, n);
        const Tensor t = a.on_device(dtype), tau = Tensor::empty(device(), {2, std::min(m, n)}, dtype);
        qr_factor(queue, t, tau);
        const Matrices upper = triangle(Matrices::of(t), true, false, m, n);
        const Tensor turned = a.on_device(dtype), whole = upper.on_device(dtype),
                     q = identity(2, m).on_device(dtype);
        apply_reflectors(queue, t, tau, true, turned);
        expect_near(Matrices::of(turned), upper, dtype);
        apply_reflectors(queue, t, tau, false, whole);
        expect_near(Matrices::of(whole), a, dtype);
        apply_reflectors(queue, t, tau, false, q);
        const Matrices found = Matrices::of(q);
        expect_near(product(found, transposed(found)), identity(2, m), dtype);
      }
  }
}

TEST(Factors, RefuseWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor a = Tensor::empty(device(), {2, 3, 4}), info = Tensor::empty(device(), {2}, DType::int32);
  expect_error<ValueError>([&] { cholesky(queue, a, info); }, "cholesky: expected square matrices");
  expect_error<ValueError>([&] { lu_factor(queue, a, info, info); }, "lu_factor: expected the pivots");
  expect_error<ValueError>([&] { qr_factor(queue, a, info); }, "qr_factor: expected tau");
  expect_error<ValueError>([&] { solve_triangular(queue, a, false, false, a); },
                           "solve_triangular: expected square matrices");
  expect_error<ValueError>([&] { swap_rows(queue, Tensor::empty(device(), {2, 4}, DType::int32), false, a); },
                           "swap_rows: expected at most as many pivots as rows");
  expect_error<ValueError>([&] { apply_reflectors(queue, a, Tensor::empty(device(), {2, 4}), false, a); },
                           "apply_reflectors: expected at most as many factors");
  const Tensor half = Tensor::empty(device(), {2, 3, 3}, DType::float16);
  expect_error<TypeError>([&] { cholesky(queue, half, info); }, "cholesky: expected float32 or float64");
}
