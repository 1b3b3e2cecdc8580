#include "dlprim/ops/sort/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

std::vector<double> found(const std::vector<double>& sequences, const std::vector<double>& values,
                          DType dtype, std::int64_t rows, bool right) {
  const auto columns = [&](const std::vector<double>& all) {
    return static_cast<std::int64_t>(all.size()) / std::max<std::int64_t>(rows, 1);
  };
  Queue& queue = device().queue();
  const Tensor places = queue.scratch({rows, columns(values)}, DType::int64);
  places_in_order(queue, upload_as(dtype, sequences, {rows, columns(sequences)}),
                  upload_as(dtype, values, {rows, columns(values)}), right, places);
  return download_values(places);
}

}  // namespace

TEST(PlacesInOrder, AreThoseOfTheStandardLibrary) {
  std::mt19937 random(3);
  for (const DType dtype :
       {DType::float32, DType::bfloat16, DType::float16, DType::int64, DType::int32, DType::uint8})
    for (const std::int64_t n : {0, 1, 2, 3, 31, 32, 33, 1000})
      for (const bool right : {false, true}) {
        constexpr std::int64_t rows = 3, m = 70;
        std::uniform_int_distribution<int> any(0, 60);
        std::vector<double> sequences, values, expected;
        for (std::int64_t i = 0; i < rows * n; ++i) sequences.push_back(any(random));
        for (std::int64_t i = 0; i < rows * m; ++i) values.push_back(any(random));
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto begin = sequences.begin() + row * n, end = begin + n;
          std::sort(begin, end);
          for (std::int64_t i = 0; i < m; ++i) {
            const double value = values[static_cast<std::size_t>(row * m + i)];
            expected.push_back(static_cast<double>(
                (right ? std::upper_bound(begin, end, value) : std::lower_bound(begin, end, value)) - begin));
          }
        }
        EXPECT_EQ(found(sequences, values, dtype, rows, right), expected) << name(dtype) << " " << n;
      }
}

TEST(PlacesInOrder, SpecialValues) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> sequence{-inf, -1, 0, 2, inf}, values{-inf, -0.0, inf, nan, 1};
  EXPECT_EQ(found(sequence, values, DType::float32, 1, false), (std::vector<double>{0, 2, 4, 5, 3}));
  EXPECT_EQ(found(sequence, values, DType::float32, 1, true), (std::vector<double>{1, 3, 5, 5, 3}));
}

TEST(PlacesInOrder, LargeWholeNumbersKeepTheirDigits) {
  Queue& queue = device().queue();
  constexpr std::int64_t big = std::int64_t{1} << 60;
  const Tensor places = queue.scratch({1, 3}, DType::int64);
  places_in_order(queue, upload<std::int64_t>({-big, big, big + 1, big + 2}, {1, 4}),
                  upload<std::int64_t>({big, big + 1, big + 2}, {1, 3}), false, places);
  EXPECT_EQ(download<std::int64_t>(places), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(PlacesInOrder, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor sequences = queue.scratch({2, 3}), values = queue.scratch({2, 4}),
               places = queue.scratch({2, 4}, DType::int64);
  EXPECT_THROW(places_in_order(queue, queue.scratch({3, 3}), values, false, places), ValueError);
  EXPECT_THROW(places_in_order(queue, sequences, values, false, queue.scratch({2, 3}, DType::int64)),
               ValueError);
  EXPECT_THROW(places_in_order(queue, sequences, values, false, queue.scratch({2, 4})), TypeError);
  EXPECT_THROW(places_in_order(queue, queue.scratch({2, 3}, DType::int64), values, false, places), TypeError);
  const Tensor flags = queue.scratch({2, 4}, DType::boolean);
  EXPECT_THROW(places_in_order(queue, flags, flags, false, places), TypeError);
}
