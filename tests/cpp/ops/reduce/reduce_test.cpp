#include "dlprim/ops/reduce/reduce.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/device_faults.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

/** The elements of each output, in the order of the reduced dimensions. */
std::vector<std::vector<double>> groups_of(const Sample& s, DimMask mask) {
  const Dims kept = reduced_shape(s.tensor.shape, mask, true);
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(product(kept)));
  std::size_t next = 0;
  for_each_element(s.tensor.shape,
                   [&](const Dims& at) { groups[element_number(kept, at)].push_back(s.values[next++]); });
  return groups;
}

double extreme_of(const std::vector<double>& group, double sign) {
  double best = -inf;
  for (const double v : group) {
    if (std::isnan(v)) return not_a_number;
    best = std::fmax(best, sign * v);
  }
  return sign * best;
}

double sum_of(const std::vector<double>& group, const std::function<double(double)>& map) {
  double sum = 0;
  for (const double v : group) sum += map(v);
  return sum;
}

/** The reference of a row of the table for one group of elements. */
double reference(const std::string& name, const std::vector<double>& group) {
  const auto itself = [](double v) { return v; };
  const auto truth = [](double v) { return v != 0 ? 1.0 : 0.0; };
  const auto n = static_cast<double>(group.size());
  if (name == "sum") return sum_of(group, itself);
  if (name == "mean") return sum_of(group, itself) / n;
  if (name == "amax") return extreme_of(group, 1);
  if (name == "amin") return extreme_of(group, -1);
  const double count = sum_of(group, truth);
  if (name == "all") return count == n;
  if (name == "any") return count > 0;
  EXPECT_EQ(name, "count_nonzero") << "a reduction without a reference";
  return count;
}

bool takes(const ReductionOp& row, DType dtype) {
  return is_floating(dtype) || row.result != ReductionResult::Float;
}

void check(const ReductionOp& row, const Sample& s, DimMask mask) {
  const Tensor y =
      Tensor::empty(device(), reduced_shape(s.tensor.shape, mask, false), row.result_dtype(s.tensor.dtype));
  reduce(queue(), row, s.tensor, mask, y);
  std::vector<double> expected;
  double magnitude = 1;
  for (const auto& group : groups_of(s, mask)) {
    expected.push_back(reference(row.name, group));
    const double scale = sum_of(group, [](double v) { return std::abs(v); });
    if (std::isfinite(scale))
      magnitude = std::fmax(magnitude, row.name == "sum" ? scale : scale / static_cast<double>(group.size()));
  }
  SCOPED_TRACE(concat(row.name, " of ", name(s.tensor.dtype), " ", s.tensor.shape, " strides ",
                      s.tensor.strides, " mask ", mask));
  const double unit = epsilon(y.dtype);
  expect_close(download_values(y), expected, unit,
               2 * epsilon(s.tensor.dtype == DType::float64 ? DType::float64 : DType::float32) * magnitude *
                   (is_floating(y.dtype) ? 1 : 0));
}

// But prod, whose results leave every dtype's range here: it is compared in tests/python.
void check_all_rows(const Sample& s, DimMask mask) {
  for (const ReductionOp& row : reduction_table())
    if (row.name != "prod" && takes(row, s.tensor.dtype)) check(row, s, mask);
}

struct Found {
  std::vector<double> values;
  std::vector<std::int64_t> indices;
};

Found extremes(Extreme extreme, const Tensor& t, DimMask mask) {
  const Dims shape = reduced_shape(t.shape, mask, false);
  const Tensor values = Tensor::empty(device(), shape, t.dtype),
               indices = Tensor::empty(device(), shape, DType::int64);
  reduce_index(queue(), extreme, t, mask, values, indices);
  const Tensor indices_only = Tensor::empty(device(), shape, DType::int64);
  reduce_index(queue(), extreme, t, mask, {}, indices_only);
  Found found{download_values(values), download<std::int64_t>(indices)};
  EXPECT_EQ(found.indices, download<std::int64_t>(indices_only));
  return found;
}

void check_extremes(const Sample& s, DimMask mask) {
  for (const Extreme extreme : {Extreme::max, Extreme::min}) {
    std::vector<double> values;
    std::vector<std::int64_t> indices;
    for (const auto& group : groups_of(s, mask)) {
      values.push_back(extreme_of(group, extreme == Extreme::max ? 1 : -1));
      std::size_t at = 0;  // the first that equals it
      while (!(group[at] == values.back() || (std::isnan(group[at]) && std::isnan(values.back())))) ++at;
      indices.push_back(static_cast<std::int64_t>(at));
    }
    SCOPED_TRACE(concat(extreme == Extreme::max ? "argmax" : "argmin", " of ", name(s.tensor.dtype), " ",
                        s.tensor.shape, " strides ", s.tensor.strides, " mask ", mask));
    const Found found = extremes(extreme, s.tensor, mask);
    expect_close(found.values, values, 0, 0);
    EXPECT_EQ(found.indices, indices);
  }
}

Sample sample_of(const std::vector<double>& values, const Dims& shape, DType dtype = DType::float32) {
  return {upload_as(dtype, values, shape), values};
}

Sample uniform_sample(const Dims& shape, unsigned seed) {
  const auto x = random_floats(product(shape), seed);
  return sample_of({x.begin(), x.end()}, shape);
}

}  // namespace

TEST(Reduce, EveryRowOverEveryDimension) {
  std::mt19937 random(1);
  const Sample dense = sample(random, DType::float32, {3, 5, 34}, Placement::contiguous),
               strided = sample(random, DType::float32, {4, 3, 19}, Placement::strided);
  for (DimMask mask = 1; mask < 8; ++mask) {
    check_all_rows(dense, mask);
    check_all_rows(strided, mask);
    check_extremes(dense, mask);
    check_extremes(strided, mask);
  }
}

TEST(Reduce, RandomShapes) {
  std::mt19937 random(2);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 60; ++i) {
    Dims shape = Dims::filled(draw(1, 5), 1);
    for (int d = 0; d < shape.size(); ++d) shape[d] = draw(1, 3) == 1 ? draw(1, 40) : draw(1, 5);
    const auto mask = static_cast<DimMask>(draw(0, (1 << shape.size()) - 1));
    const Sample s =
        sample(random, DType::float32, shape, draw(0, 2) ? Placement::strided : Placement::contiguous);
    check(reduction("sum"), s, mask);
    check_extremes(s, mask);
  }
}

TEST(Reduce, SmallDimensionsThatMultiplyToVectorWidths) {
  std::mt19937 random(6);
  for (const Dims& shape : std::vector<Dims>{{2, 2, 4, 2},
                                             {2, 8, 2},
                                             {4, 4, 2},
                                             {3, 5, 2},
                                             {2, 2, 2, 2, 2},
                                             {15, 2, 3},
                                             {2, 16, 2},
                                             {17, 3, 2},
                                             {31, 2},
                                             {33, 4},
                                             {2, 16, 16}})
    for (const Placement placement : {Placement::permuted, Placement::expanded})
      for (int i = 0; i < 5; ++i) {
        const Sample s = sample(random, DType::float32, shape, placement);
        for (DimMask mask = 1; mask < 1u << shape.size(); ++mask) {
          check(reduction("sum"), s, mask);
          check_extremes(s, mask);
        }
      }
}

TEST(Reduce, ColumnsAroundTheWidthOfAnItem) {
  std::mt19937 random(8);
  for (const int columns : {15, 16, 17, 63, 64, 65, 130})
    for (const int rows : {1, 31, 32, 33, 700}) {
      const Sample s = sample(random, DType::float32, {rows, columns}, Placement::contiguous);
      check(reduction("sum"), s, 1);
      check(reduction("mean"), s, 1);
      check_extremes(s, 1);
      const Sample sliced = sample(random, DType::float32, {3, rows, columns}, Placement::strided);
      check(reduction("sum"), sliced, 2);
      check_extremes(sliced, 2);
    }
}

// Rows that share a group, with and without whole vectors, and groups that rows fill in part.
TEST(Reduce, RowsAroundTheWidthsOfGroups) {
  std::mt19937 random(9);
  for (const int columns : {1, 4, 12, 15, 16, 17, 49, 60, 64, 196, 1000, 1028, 9000})
    for (const int rows : {1, 3, 8, 9, 33}) {
      const Sample s = sample(random, DType::float32, {rows, columns}, Placement::contiguous);
      check(reduction("sum"), s, 2);
      check_extremes(s, 2);
      const Sample planes = sample(random, DType::float32, {3, 2, columns}, Placement::strided);
      check(reduction("mean"), planes, 4);
      check(reduction("sum"), planes, 6);
      check_extremes(planes, 5);
    }
}

TEST(Reduce, PermutedAndExpandedDTypes) {
  std::mt19937 random(7);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::int32, DType::boolean})
    for (const Placement placement : {Placement::permuted, Placement::expanded})
      for (const DimMask mask : {1u, 2u, 4u, 5u})
        if (supports(dtype)) check_all_rows(sample(random, dtype, {4, 17, 8}, placement), mask);
}

TEST(Reduce, DTypes) {
  std::mt19937 random(3);
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16, DType::int64, DType::int32,
                            DType::int16, DType::int8, DType::uint8, DType::boolean}) {
    if (!supports(dtype)) continue;
    for (const DimMask mask : {1u, 2u}) {
      const Sample s = sample(random, dtype, {37, 21}, Placement::contiguous);
      check_all_rows(s, mask);
      check_extremes(s, mask);
    }
  }
}

TEST(Reduce, ResultDTypes) {
  EXPECT_EQ(reduction("sum").result_dtype(DType::boolean), DType::int64);
  EXPECT_EQ(reduction("sum").result_dtype(DType::float16), DType::float16);
  EXPECT_EQ(reduction("amax").result_dtype(DType::uint8), DType::uint8);
  EXPECT_EQ(reduction("any").result_dtype(DType::float32), DType::boolean);
  EXPECT_EQ(reduction("count_nonzero").result_dtype(DType::float32), DType::int64);
  expect_error<TypeError>([] { reduction("mean").result_dtype(DType::int32); },
                          "mean: expected a floating dtype, got int32");
  expect_error<ValueError>([] { reduction("no_such_row"); }, "'no_such_row'");
}

TEST(Reduce, BigSizes) {
  for (const auto& [shape, mask] : std::vector<std::pair<Dims, DimMask>>{{{1 << 20}, 1},
                                                                         {{(1 << 20) + 7}, 1},
                                                                         {{3, 300007}, 2},
                                                                         {{300007, 3}, 1},
                                                                         {{5003, 37}, 1},
                                                                         {{37, 5003}, 2},
                                                                         {{64, 33, 31, 7}, 13},
                                                                         {{100003, 2}, 2}}) {
    const Sample s = uniform_sample(shape, 9);
    check(reduction("sum"), s, mask);
    check(reduction("mean"), s, mask);
    check_extremes(s, mask);
  }
}

TEST(Reduce, LongSumsKeepTheirDigits) {
  const std::int64_t n = 3000001;
  const Tensor tenth = upload(std::vector<float>(static_cast<std::size_t>(n), 0.1f), {n}),
               y = queue().scratch({});
  reduce(queue(), reduction("sum"), tenth, 1, y);
  const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
  EXPECT_NEAR(download<float>(y)[0], exact, 4e-7 * exact);
}

TEST(Reduce, LargeIntegersStayExact) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const Tensor t = upload(std::vector<std::int64_t>{big, 2, -1}, {3}),
               y = Tensor::empty(device(), {}, DType::int64);
  reduce(queue(), reduction("sum"), t, 1, y);
  EXPECT_EQ(download<std::int64_t>(y)[0], big + 1);
  reduce(queue(), reduction("amax"), t, 1, y);
  EXPECT_EQ(download<std::int64_t>(y)[0], big);
}

TEST(Reduce, SpecialValues) {
  const std::vector<std::vector<double>> rows{{1, not_a_number, 3}, {inf, 1, -inf},
                                              {-inf, -inf, -inf},   {inf, 1, 2},
                                              {0, -0.0, 0},         {not_a_number, not_a_number, inf}};
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  const Sample along_rows = sample_of(values, {6, 3});
  check_all_rows(along_rows, 2);
  check_extremes(along_rows, 2);
  std::vector<double> transposed;
  for (std::size_t c = 0; c < 3; ++c)
    for (const auto& row : rows) transposed.push_back(row[c]);
  const Sample along_columns = sample_of(transposed, {3, 6});
  check_all_rows(along_columns, 1);
  check_extremes(along_columns, 1);
}

TEST(Reduce, OfEqualExtremesTheFirstCounts) {
  for (const std::int64_t n : {5, 1000, 100000}) {
    std::vector<double> values(static_cast<std::size_t>(n), 1);
    const Found all_equal = extremes(Extreme::max, sample_of(values, {n}).tensor, 1);
    EXPECT_EQ(all_equal.indices, std::vector<std::int64_t>{0});
    values[static_cast<std::size_t>(n - 1)] = values[static_cast<std::size_t>(n / 2)] = not_a_number;
    EXPECT_EQ(extremes(Extreme::min, sample_of(values, {n}).tensor, 1).indices,
              std::vector<std::int64_t>{n / 2});
  }
}

TEST(Reduce, VarianceOfNumbersFarFromZero) {
  const std::int64_t n = 5003;
  std::vector<float> values(static_cast<std::size_t>(2 * n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 4.0e6f + static_cast<float>(i % 7);
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) mean += values[i] / static_cast<double>(n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    squares += (values[i] - mean) * (values[i] - mean);
  const Tensor found_mean = queue().scratch({2}), found = queue().scratch({2});
  variance(queue(), upload(values, {2, n}), 2, 1, found_mean, found);
  const double expected = squares / static_cast<double>(n - 1);
  EXPECT_NEAR(download<float>(found)[0], expected, 1e-6 * expected);
}

TEST(Reduce, LogsumexpDoesNotOverflow) {
  const Tensor largest = queue().scratch({2}), rest = queue().scratch({2});
  const auto low = static_cast<float>(-inf);
  logsumexp(queue(), upload(std::vector<float>{500, 500, low, low}, {2, 2}), 2, largest, rest);
  EXPECT_EQ(download<float>(largest), (std::vector<float>{500, low}));
  EXPECT_FLOAT_EQ(download<float>(rest)[0], std::log(2.0f));
  EXPECT_EQ(download<float>(rest)[1], low);
}

TEST(Reduce, PlacesWhatWasSelected) {
  const Tensor y = queue().scratch({2, 3, 2});
  place_at_index(queue(), upload(std::vector<float>{1, 2, 3, 4}, {2, 1, 2}),
                 upload(std::vector<std::int64_t>{2, 0, 1, 1}, {2, 1, 2}), 1, y);
  EXPECT_EQ(download<float>(y), (std::vector<float>{0, 2, 0, 0, 1, 0, 0, 0, 3, 4, 0, 0}));
}

TEST(Reduce, EmptyGivesTheIdentity) {
  const Tensor none = Tensor::empty(device(), {3, 0});
  const auto reduced = [&](const char* name) {
    const ReductionOp& row = reduction(name);
    const Tensor y = Tensor::empty(device(), {3}, row.result_dtype(DType::float32));
    reduce(queue(), row, none, 2, y);
    return download_values(y);
  };
  EXPECT_EQ(reduced("sum"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(reduced("all"), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(reduced("any"), (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(reduced("mean")[0]));
  reduce(queue(), reduction("sum"), none, 1, Tensor::empty(device(), {0}));  // no output at all
}

TEST(Reduce, ScalarsAndNoDimensions) {
  const Sample scalar = sample_of({5}, {});
  check_all_rows(scalar, 0);
  std::mt19937 random(4);
  check_all_rows(sample(random, DType::float32, {4, 3}, Placement::strided), 0);
}

TEST(Reduce, BroadcastInput) {
  const Tensor three = upload(std::vector<float>{1, 2, 3}, {3, 1}).expanded({4, 3, 1000}),
               y = queue().scratch({3});
  reduce(queue(), reduction("sum"), three, 5, y);
  EXPECT_EQ(download<float>(y), (std::vector<float>{4000, 8000, 12000}));
}

TEST(Reduce, MoreElementsThan32BitsCount) {
  SKIP_WHERE_LOOPS_END_EARLY();
  const std::int64_t n = (std::int64_t{1} << 31) + 8;
  const Tensor one = upload(std::vector<std::uint8_t>{1}, {1}).expanded({n}),
               y = Tensor::empty(device(), {}, DType::int64);
  reduce(queue(), reduction("sum"), one, 1, y);
  EXPECT_EQ(download<std::int64_t>(y)[0], n);
}

TEST(Reduce, IndicesBeyond32Bits) {
  const std::int64_t half = std::int64_t{1} << 30;
  if (device().info().max_allocation < (std::uint64_t{3} << 30))
    GTEST_SKIP() << "the device gives no buffer of 3 GiB";
  Tensor t = Tensor::empty(device(), {2 * half + 8}, DType::uint8);
  t.shape = Dims{2, 2};
  t.strides = Dims{half, half + 3};  // each dimension alone stays below 2^31, both together do not
  copy(queue(), upload(std::vector<std::uint8_t>{1, 2, 3, 4}, {2, 2}), t);
  for (const auto& [mask, expected] :
       std::vector<std::pair<DimMask, std::vector<std::int64_t>>>{{1, {4, 6}}, {2, {3, 7}}, {3, {10}}}) {
    const Tensor y = Tensor::empty(device(), reduced_shape(t.shape, mask, false), DType::int64);
    reduce(queue(), reduction("sum"), t, mask, y);
    EXPECT_EQ(download<std::int64_t>(y), expected) << mask;
  }
}

TEST(Reduce, RepeatsExactly) {
  const Sample s = uniform_sample({300007}, 11);
  const Tensor y = queue().scratch({});
  reduce(queue(), reduction("sum"), s.tensor, 1, y);
  const float first = download<float>(y)[0];
  for (int i = 0; i < 5; ++i) {
    reduce(queue(), reduction("sum"), s.tensor, 1, y);
    EXPECT_EQ(download<float>(y)[0], first);
  }
}

TEST(Reduce, DimMasks) {
  EXPECT_EQ(dim_mask({}, 3, "sum"), 7u);
  EXPECT_EQ(dim_mask({0, -1}, 3, "sum"), 5u);
  EXPECT_EQ(dim_mask({}, 0, "sum"), 0u);
  EXPECT_EQ(dim_mask({-1}, 0, "sum"), 0u);
  expect_error<IndexError>([] { dim_mask({3}, 3, "sum"); }, "sum: dimension out of range");
  expect_error<ValueError>([] { dim_mask({1, -2}, 3, "sum"); }, "sum: dim 1 appears more than once");
  EXPECT_EQ(reduced_shape({2, 3, 4}, 5, false), Dims{3});
  EXPECT_EQ(reduced_shape({2, 3, 4}, 5, true), (Dims{1, 3, 1}));
}

TEST(Reduce, Oclgrind) {
  std::mt19937 random(5);
  const Sample s = sample(random, DType::float32, {3, 21}, Placement::contiguous);
  for (const DimMask mask : {1u, 2u, 3u}) {
    check(reduction("sum"), s, mask);
    check_extremes(s, mask);
  }
  check(reduction("mean"), sample(random, DType::float32, {2, 3, 4}, Placement::strided), 2);
  check(reduction("sum"), sample(random, DType::float32, {5, 36}, Placement::contiguous), 2);  // vectors
  check(reduction("sum"), sample(random, DType::float32, {9000}, Placement::contiguous),
        1);  // splits, joined after
}
