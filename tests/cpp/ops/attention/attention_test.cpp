#include "dlprim/ops/attention/attention.h"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/** The larger one; NaN where one is (std::fmax takes the other). */
double larger(double a, double b) {
  return std::isnan(b) || b > a ? b : a;
}

/** The addend of a mask for every score, row-major; `scores` are [batch, queries, keys]. */
std::vector<double> attended(const std::vector<double>& scores, const Dims& shape, double scale,
                             const std::vector<double>& added, bool is_causal) {
  const auto keys = static_cast<std::size_t>(shape[2]), queries = static_cast<std::size_t>(shape[1]);
  std::vector<double> result(scores.size());
  for (std::size_t row = 0; row < scores.size() / keys; ++row) {
    std::vector<double> terms(keys);
    double top = minus_infinity, sum = 0;
    for (std::size_t k = 0; k < keys; ++k) {
      const std::size_t at = row * keys + k;
      terms[k] = is_causal && k > row % queries ? minus_infinity : scores[at] * scale + added[at];
      top = larger(top, terms[k]);
    }
    for (double& term : terms) sum += term = top == minus_infinity ? 0 : std::exp(term - top);
    for (std::size_t k = 0; k < keys; ++k) result[row * keys + k] = sum == 0 ? 0 : terms[k] / sum;
  }
  return result;
}

/** Every mask, in any layout, over scores [outer * inner, queries, keys]. */
void check(std::mt19937& random, std::int64_t outer, std::int64_t inner, std::int64_t queries,
           std::int64_t keys) {
  const Dims shape{outer * inner, queries, keys}, mask_shape{outer, inner, queries, keys};
  for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::expanded})
    for (const DType dtype : {DType::float32, DType::boolean})
      for (const bool is_causal : {false, true}) {
        const Sample scores = sample(random, DType::float32, shape, Placement::contiguous),
                     mask = sample(random, dtype, mask_shape, placement);
        std::vector<double> added = mask.values;
        if (dtype == DType::boolean)
          for (double& value : added) value = value != 0 ? 0 : minus_infinity;
        attention_softmax(device().queue(), scores.tensor, 0.375, &mask.tensor, is_causal);
        expect_close(download_values(scores.tensor), attended(scores.values, shape, 0.375, added, is_causal),
                     1e-5, 1e-7);
      }
}

TEST(Attention, SoftmaxOfMaskedScores) {
  std::mt19937 random(1);
  check(random, 2, 3, 5, 7);
  check(random, 1, 2, 17, 33);
  check(random, 3, 1, 1, 300);
  check(random, 1, 1, 4, 1);
  check(random, 3, 11 * device().info().compute_units, 5, 7);  // lines of a group take them
}

TEST(Attention, WithoutAMask) {
  std::mt19937 random(2);
  const Dims shape{2, 9, 16};
  for (const bool is_causal : {false, true}) {
    const Sample scores = sample(random, DType::float32, shape, Placement::contiguous);
    attention_softmax(device().queue(), scores.tensor, 1, nullptr, is_causal);
    expect_close(download_values(scores.tensor),
                 attended(scores.values, shape, 1, std::vector<double>(scores.values.size()), is_causal),
                 1e-5, 1e-7);
  }
}

TEST(Attention, AQueryWithoutKeysGetsZeros) {
  const Tensor scores = upload<float>({1, 2, 3, 4}, {1, 2, 2});
  const Tensor mask = upload_as(DType::boolean, {0, 0, 1, 0}, {1, 1, 2, 2});
  attention_softmax(device().queue(), scores, 1, &mask, false);
  EXPECT_EQ(download<float>(scores), (std::vector<float>{0, 0, 1, 0}));
}

TEST(Attention, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor scores = upload<float>(std::vector<float>(24), {2, 3, 4});
  const Tensor other = upload<float>(std::vector<float>(12), {1, 1, 3, 4});
  expect_error<ValueError>([&] { attention_softmax(queue, scores, 1, &other, false); },
                           "does not fit scores of shape [2, 3, 4]");
  const Tensor integers = upload<std::int64_t>(std::vector<std::int64_t>(24), {2, 1, 3, 4});
  expect_error<TypeError>([&] { attention_softmax(queue, scores, 1, &integers, false); },
                          "expected a mask of dtype bool or float32");
  expect_error<ValueError>([&] { attention_softmax(queue, scores.reshaped({6, 4}), 1, nullptr, false); },
                           "[batch, queries, keys]");
}

/** The logarithm of the sum of each row's exponentials. */
std::vector<double> log_sums_of(const std::vector<double>& scores, std::int64_t queries, std::int64_t keys,
                                double scale, const std::vector<double>& added, bool is_causal) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < queries; ++i) {
    double top = minus_infinity, sum = 0;
    const auto term = [&](std::int64_t j) {
      const auto at = static_cast<std::size_t>(i * keys + j);
      return is_causal && j > i ? minus_infinity : scores[at] * scale + added[at];
    };
    for (std::int64_t j = 0; j < keys; ++j) top = larger(top, term(j));
    for (std::int64_t j = 0; j < keys; ++j) sum += std::exp(term(j) - (top == minus_infinity ? 0 : top));
    result.push_back(sum == 0 ? minus_infinity : top + std::log(sum));
  }
  return result;
}

/** Attention as sums in double, forward and backward, of one item of a batch. */
struct Reference {
  std::int64_t queries, keys, columns, value_columns;
  std::vector<double> query, key, value, added, grad_output;
  double scale;
  bool is_causal;

  std::vector<double> output{}, probabilities{}, log_sums{}, grad_query{}, grad_key{}, grad_value{},
      grad_scores{};
  double largest_term = 0;  // of what gradients by scores are differences of

  static double& at(std::vector<double>& matrix, std::int64_t columns, std::int64_t row,
                    std::int64_t column) {
    return matrix[static_cast<std::size_t>(row * columns + column)];
  }

  void compute() {
    std::vector<double> scores(static_cast<std::size_t>(queries * keys));
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j)
        for (std::int64_t c = 0; c < columns; ++c)
          at(scores, keys, i, j) += at(query, columns, i, c) * at(key, columns, j, c);
    probabilities = attended(scores, {1, queries, keys}, scale, added, is_causal);
    log_sums = log_sums_of(scores, queries, keys, scale, added, is_causal);
    output.resize(static_cast<std::size_t>(queries * value_columns));
    grad_query.resize(query.size()), grad_key.resize(key.size()), grad_value.resize(value.size());
    grad_scores.resize(scores.size());
    for (std::int64_t i = 0; i < queries; ++i) {
      double dot = 0;
      std::vector<double> by_weights(static_cast<std::size_t>(keys));
      for (std::int64_t j = 0; j < keys; ++j) {
        const double likely = at(probabilities, keys, i, j);
        double& by_weight = by_weights[static_cast<std::size_t>(j)];
        for (std::int64_t c = 0; c < value_columns; ++c) {
          at(output, value_columns, i, c) += likely * at(value, value_columns, j, c);
          at(grad_value, value_columns, j, c) += likely * at(grad_output, value_columns, i, c);
          by_weight += at(grad_output, value_columns, i, c) * at(value, value_columns, j, c);
        }
        dot += by_weight * likely;
      }
      for (std::int64_t j = 0; j < keys; ++j) {
        const double by_score =
            at(probabilities, keys, i, j) * (by_weights[static_cast<std::size_t>(j)] - dot);
        at(grad_scores, keys, i, j) = by_score;
        if (std::isfinite(dot))
          largest_term = std::fmax(largest_term, at(probabilities, keys, i, j) * std::fabs(dot));
        for (std::int64_t c = 0; c < columns; ++c) {
          at(grad_query, columns, i, c) += scale * by_score * at(key, columns, j, c);
          at(grad_key, columns, j, c) += scale * by_score * at(query, columns, i, c);
        }
      }
    }
  }
};

struct Shape {
  std::int64_t outer, inner, queries, keys, columns, value_columns;
};

enum class Mask { none, hiding, added };
constexpr std::initializer_list<AttentionKept> all_kept = {AttentionKept::probabilities,
                                                           AttentionKept::log_sums, AttentionKept::nothing};

void append(std::vector<double>& all, const std::vector<double>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

/** The numbers that are computed with: weights are rounded to 16-bit dtypes, and to TF32 but at "highest". */
struct Numbers {
  DType dtype = DType::float32;
  MatmulPrecision precision = MatmulPrecision::highest;

  double rounding() const {
    constexpr double of_tf32 = 1.0 / 2048;
    return dtype != DType::float32 ? rounding_of(dtype) : precision == MatmulPrecision::highest ? 0 : of_tf32;
  }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::fmax(largest, std::isfinite(value) ? std::fabs(value) : 0);
  return largest;
}

/** The gradients that are not rounded, each to its own. Rounding weights to TF32, by up to 2^-11, is up
 * to 1.6e-3 of the largest in gradients, through the rows' sums of output times its gradient (products
 * emulated in double on values drawn as here, 40 times each shape); or of their largest term, where those
 * leave nothing. */
void expect_precise(const std::vector<double>& values, const std::vector<double>& expected, double relative,
                    double absolute, const Numbers& numbers, double largest_term = 0) {
  if (numbers.rounding() == 0) return expect_close(values, expected, relative, absolute);
  expect_close(values, expected, 0, 8 * numbers.rounding() * std::fmax(largest_term, largest_of(expected)));
}

/** Changes what was drawn, in contiguous operands. */
using Change = std::function<void(std::vector<double>& query, std::vector<double>& key,
                                  std::vector<double>& value, std::vector<double>& grad_output)>;

/** Operands in any layout, with everything kept that may be, against the sums of every item. */
void check_products(std::mt19937& random, const Shape& shape, Placement placement, Mask kind, bool is_causal,
                    const Numbers& numbers = {}, const Change& change = {},
                    std::initializer_list<AttentionKept> all = all_kept) {
  const std::int64_t batch = shape.outer * shape.inner;
  // Scores of about one: where a softmax picks one key, gradients are what is left of differences.
  const double scale = 0.05 / std::sqrt(static_cast<double>(shape.columns));
  const auto drawn = [&](const Dims& dims) { return sample(random, numbers.dtype, dims, placement); };
  Sample query = drawn({batch, shape.queries, shape.columns}),
         key = drawn({batch, shape.keys, shape.columns}),
         value = drawn({batch, shape.keys, shape.value_columns});
  Sample grad =
      sample(random, numbers.dtype, {batch, shape.queries, shape.value_columns}, Placement::contiguous);
  if (change) {
    change(query.values, key.values, value.values, grad.values);
    for (Sample* each : {&query, &key, &value, &grad}) {
      each->tensor = upload_as(numbers.dtype, each->values, each->tensor.shape);
      each->values = download_values(each->tensor);
    }
  }
  const Dims mask_shape{shape.outer, shape.inner, shape.queries, shape.keys};
  const Sample mask =
      sample(random, kind == Mask::hiding ? DType::boolean : numbers.dtype, mask_shape, placement);
  const Tensor* given_mask = kind == Mask::none ? nullptr : &mask.tensor;

  std::vector<double> output, probabilities, log_sums, grad_query, grad_key, grad_value, grad_scores;
  double largest_term = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto item = [&](const std::vector<double>& values) {
      const auto size = static_cast<std::ptrdiff_t>(values.size()) / batch;
      return std::vector<double>(values.begin() + b * size, values.begin() + (b + 1) * size);
    };
    Reference r{
        shape.queries,    shape.keys,         shape.columns,     shape.value_columns, item(query.values),
        item(key.values), item(value.values), item(mask.values), item(grad.values),   scale,
        is_causal};
    for (double& added : r.added)
      added = kind == Mask::none ? 0 : kind == Mask::added ? added : added != 0 ? 0 : minus_infinity;
    r.compute();
    append(output, r.output), append(probabilities, r.probabilities), append(log_sums, r.log_sums);
    append(grad_query, r.grad_query);
    append(grad_key, r.grad_key), append(grad_value, r.grad_value), append(grad_scores, r.grad_scores);
    largest_term = std::fmax(largest_term, r.largest_term);
  }

  Queue& queue = device().queue();
  AttentionSettings settings;
  settings.scale = scale;
  settings.is_causal = is_causal;
  settings.precision = numbers.precision;
  const auto check_keeping = [&](AttentionKept kept, DType of_output) {
    SCOPED_TRACE(static_cast<int>(kept));
    SCOPED_TRACE(name(of_output));
    const bool keeps = kept == AttentionKept::probabilities;
    const Tensor result = queue.scratch(grad.tensor.shape, of_output),
                 sums = queue.scratch({batch, shape.queries});
    const Tensor likely = queue.scratch({batch, shape.queries, shape.keys}, numbers.dtype);
    attention_forward(queue, query.tensor, key.tensor, value.tensor, given_mask, settings, result,
                      keeps ? &likely : nullptr, &sums);
    expect_precise(download_values(result), output, 2e-5, 2e-5, numbers);
    expect_precise(download_values(sums), log_sums, 1e-5, 1e-5, numbers);
    if (keeps) expect_precise(download_values(likely), probabilities, 1e-5, 1e-6, numbers);

    AttentionGradients gradients;
    gradients.query = queue.scratch(query.tensor.shape, numbers.dtype);
    gradients.key = queue.scratch(key.tensor.shape, numbers.dtype);
    gradients.value = queue.scratch(value.tensor.shape, numbers.dtype);
    const bool by_mask = kind == Mask::added && kept != AttentionKept::log_sums;
    if (by_mask) gradients.mask = queue.scratch(mask_shape, numbers.dtype);
    const bool has_sums = kept == AttentionKept::log_sums;
    attention_backward(queue, grad.tensor, nullptr, query.tensor, key.tensor, value.tensor, given_mask,
                       settings, keeps ? &likely : nullptr, has_sums ? &result : nullptr,
                       has_sums ? &sums : nullptr, gradients);
    const double by_scaled =
        largest_term * scale * std::fmax(largest_of(query.values), largest_of(key.values));
    expect_precise(download_values(gradients.query), grad_query, 1e-4, 1e-4, numbers, by_scaled);
    expect_precise(download_values(gradients.key), grad_key, 1e-4, 1e-4, numbers, by_scaled);
    expect_precise(download_values(gradients.value), grad_value, 1e-4, 1e-4, numbers);
    if (by_mask)
      expect_precise(download_values(gradients.mask), grad_scores, 1e-4, 1e-4, numbers, largest_term);
  };
  for (const AttentionKept kept : all) check_keeping(kept, numbers.dtype);
  if (numbers.dtype != compute_dtype(numbers.dtype))
    check_keeping(AttentionKept::log_sums, compute_dtype(numbers.dtype));
}

TEST(Attention, ForwardAndBackwardOfAllMasksAndLayouts) {
  std::mt19937 random(3);
  for (const Shape& shape : {Shape{2, 3, 5, 7, 4, 3}, Shape{1, 1, 1, 1, 1, 1}, Shape{3, 1, 33, 17, 8, 16},
                             Shape{1, 2, 16, 64, 5, 1}})
    for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::permuted})
      for (const Mask kind : {Mask::none, Mask::hiding, Mask::added})
        for (const bool is_causal : {false, true}) check_products(random, shape, placement, kind, is_causal);
}

TEST(Attention, CausalOnesLeaveKeysOutPartByPart) {
  std::mt19937 random(4);
  for (const auto& [queries, keys] : {std::pair{600, 600}, std::pair{513, 40}, std::pair{300, 700}})
    check_products(random, {1, 2, queries, keys, 3, 5}, Placement::strided, Mask::none, true);
  check_products(random, {2, 1, 530, 530, 3, 2}, Placement::contiguous, Mask::added, true);
}

TEST(Attention, PartsOfManyItemsAndOfManyQueries) {
  std::mt19937 random(5);
  check_products(random, {3, 3, 1000, 1003, 2, 3}, Placement::permuted, Mask::added, false);
  check_products(random, {1, 2, 2900, 3001, 2, 2}, Placement::contiguous, Mask::hiding, false);
}

TEST(Attention, EveryImplementation) {
  for (const char* family : {"attention_softmax", "attention_forward", "attention_backward"})
    for_each_implementation(family, [] {
      std::mt19937 random(8);
      for (const Mask kind : {Mask::none, Mask::hiding, Mask::added})
        check_products(random, {2, 1, 150, 140, 4, 3}, Placement::strided, kind, true);
    });
}

// Sizes about those of blocks, each met by queries, keys and columns.
TEST(Attention, EveryImplementationAtTheEdgesOfBlocks) {
  for (const char* family : {"attention_forward", "attention_backward"})
    for_each_implementation(family, [] {
      std::mt19937 random(9);
      for (const Numbers& numbers : {Numbers{}, Numbers{DType::float32, MatmulPrecision::high},
                                     Numbers{DType::bfloat16}, Numbers{DType::float16}})
        for (const Shape& shape :
             {Shape{1, 2, 1, 1, 1, 1}, Shape{1, 1, 7, 65, 63, 64}, Shape{2, 1, 65, 7, 64, 65},
              Shape{1, 2, 63, 127, 65, 7}, Shape{1, 1, 64, 64, 128, 127}, Shape{1, 1, 130, 63, 7, 130},
              Shape{1, 1, 127, 130, 130, 1}, Shape{1, 2, 129, 128, 16, 256}, Shape{1, 1, 33, 200, 256, 40},
              Shape{1, 2, 65, 66, 129, 160}, Shape{2, 1, 70, 137, 256, 256}, Shape{1, 1, 20, 30, 257, 258}})
          for (const bool is_causal : {false, true})
            check_products(random, shape, Placement::contiguous, Mask::none, is_causal, numbers);
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
        check_products(random, {2, 2, 70, 131, 64, 64}, Placement::permuted, Mask::added, false, {dtype});
        check_products(random, {1, 3, 131, 70, 36, 64}, Placement::expanded, Mask::hiding, true, {dtype});
        check_products(random, {1, 2, 70, 131, 72, 40}, Placement::contiguous, Mask::added, true, {dtype});
        check_products(random, {2, 2, 70, 131, 192, 200}, Placement::permuted, Mask::added, false, {dtype});
        check_products(random, {1, 2, 131, 70, 160, 256}, Placement::contiguous, Mask::hiding, true, {dtype});
      }
    });
}

// Scores of ten millions, of which float32 keeps no fractions: a query picks one key, whose weight is 1, in
// both passes. Scores that are stored have 16 bits where the operands do; kernels that keep theirs have them
// in float32.
TEST(Attention, LargeScores) {
  const auto check = [](const Numbers& numbers, std::initializer_list<AttentionKept> all) {
    std::mt19937 random(10);
    for (const bool is_causal : {false, true})
      check_products(
          random, {1, 2, 70, 131, 64, 40}, Placement::contiguous, Mask::none, is_causal, numbers,
          [](auto& query, auto& key, auto&, auto&) {
            for (double& value : query) value = std::round(4 * value) * 1024;  // of few bits, in TF32 too
            for (double& value : key) value = std::round(4 * value) * 256;
          },
          all);
  };
  for (const char* family : {"attention_forward", "attention_backward"})
    for_each_implementation(family, [&] {
      check({}, all_kept);
      check({DType::float32, MatmulPrecision::high}, all_kept);
    });
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Tensor operand = device().queue().scratch({2, 70, 64}, dtype);
    if (attention_kept(operand, operand, operand, false) == AttentionKept::log_sums)
      check({dtype}, {AttentionKept::log_sums});
  }
}

// A number that is infinite, NaN or rounds to an infinity (3.4e38, in TF32) reaches the results that plain
// sums take it to, and no others: in the second of two items, of several blocks.
TEST(Attention, EveryImplementationWithWhatIsNotFinite) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto place = [](std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>((rows + row) * columns + column);
  };
  const auto fill_column = [&](auto& matrix, std::int64_t columns, std::int64_t column, double value) {
    for (std::size_t at = static_cast<std::size_t>(column); at < matrix.size();
         at += static_cast<std::size_t>(columns))
      matrix[at] = value;
  };
  for (const Shape& shape : {Shape{1, 2, 150, 140, 36, 40}, Shape{1, 2, 150, 140, 140, 196}}) {
    const Change changes[] = {
        [&](auto& query, auto&, auto&, auto&) { query[place(shape.queries, shape.columns, 70, 3)] = nan; },
        [&](auto&, auto& key, auto&, auto&) { key[place(shape.keys, shape.columns, 139, 35)] = -inf; },
        [&](auto&, auto&, auto& value, auto&) {
          value[place(shape.keys, shape.value_columns, 100, 39)] = inf;
        },
        [&](auto&, auto&, auto& value, auto& grad) {
          value[place(shape.keys, shape.value_columns, 0, 0)] = 3.4025e38F;
          fill_column(grad, shape.value_columns, 0, 0);
        },
        [&](auto& query, auto& key, auto&, auto&) {  // a key that each query's score hides
          fill_column(query, shape.columns, 0, 1.25);
          key[place(shape.keys, shape.columns, 65, 0)] = -inf;
        }};
    for (const char* family : {"attention_forward", "attention_backward"})
      for_each_implementation(family, [&] {
        std::mt19937 random(10);
        for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16})
          for (const Change& change : changes)
            check_products(random, shape, Placement::contiguous, Mask::none, false, {dtype}, change);
      });
  }
}

// A gradient of the weights adds to that by way of the output: an output whose values are the unit matrix is
// the weights.
TEST(Attention, GradientsOfTheWeightsAreThoseOfAnOutput) {
  std::mt19937 random(7);
  Queue& queue = device().queue();
  constexpr std::int64_t batch = 2, queries = 9, keys = 17;
  const auto drawn = [&](const Dims& shape) {
    return sample(random, DType::float32, shape, Placement::contiguous).tensor;
  };
  const Tensor query = drawn({batch, queries, 5}), key = drawn({batch, keys, 5}),
               by_weights = drawn({batch, queries, keys});
  std::vector<float> units(static_cast<std::size_t>(batch * keys * keys));
  for (std::size_t i = 0; i < units.size(); ++i)
    units[i] = i % static_cast<std::size_t>(keys * keys) % static_cast<std::size_t>(keys + 1) == 0 ? 1 : 0;
  const Tensor unit = upload(units, {batch, keys, keys}), zeros = queue.scratch(by_weights.shape);
  fill(queue, zeros, 0);
  AttentionSettings settings;
  settings.scale = 0.05;
  const Tensor weights = queue.scratch(by_weights.shape), kept = queue.scratch(by_weights.shape);
  attention_forward(queue, query, key, unit, nullptr, settings, weights, &kept);
  expect_close(download_values(weights), download_values(kept), 1e-6, 1e-6);
  const auto gradients = [&](const Tensor& by_output, const Tensor* of_weights) {
    const AttentionGradients made{queue.scratch(query.shape), queue.scratch(key.shape), {}, {}};
    attention_backward(queue, by_output, of_weights, query, key, unit, nullptr, settings, &kept, nullptr,
                       nullptr, made);
    std::vector<double> all = download_values(made.query);
    append(all, download_values(made.key));
    return all;
  };
  expect_close(gradients(zeros, &by_weights), gradients(by_weights, nullptr), 1e-5, 1e-5);
}

TEST(Attention, HalfTypesAreSummedInFloat) {
  std::mt19937 random(8);
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const Sample query = sample(random, dtype, {2, 7, 5}, Placement::strided),
                 key = sample(random, dtype, {2, 33, 5}, Placement::contiguous),
                 value = sample(random, dtype, {2, 33, 3}, Placement::permuted);
    AttentionSettings settings;
    settings.scale = 0.05;
    const Tensor half = queue.scratch({2, 7, 3}, dtype), whole = queue.scratch({2, 7, 3});
    attention_forward(queue, query.tensor, key.tensor, value.tensor, nullptr, settings, half, nullptr);
    const auto widened = [&](const Sample& s) { return upload_as(DType::float32, s.values, s.tensor.shape); };
    attention_forward(queue, widened(query), widened(key), widened(value), nullptr, settings, whole, nullptr);
    expect_close(download_values(half), download_values(whole), 8 * epsilon(dtype), 8 * epsilon(dtype));
  }
}

TEST(Attention, InfiniteScoresAndNan) {
  Queue& queue = device().queue();
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores =
      upload<float>({-inf, 0, 0, 1000, -1000, 1000, nan, 0, 1, -inf, -inf, -inf}, {1, 4, 3});
  attention_softmax(queue, scores, 1, nullptr, false);
  const auto result = download<float>(scores);
  EXPECT_EQ(std::vector<float>(result.begin(), result.begin() + 6),
            (std::vector<float>{0, 0.5, 0.5, 0.5, 0, 0.5}));
  for (std::size_t i = 6; i < 9; ++i) EXPECT_TRUE(std::isnan(result[i]));
  EXPECT_EQ(std::vector<float>(result.begin() + 9, result.end()), std::vector<float>(3, 0));
}

TEST(Attention, EmptyOnes) {
  Queue& queue = device().queue();
  for (const Dims& sizes : {Dims{0, 3, 4}, Dims{2, 0, 4}, Dims{2, 3, 0}}) {
    const Tensor query = upload(std::vector<float>(static_cast<std::size_t>(sizes[0] * sizes[1] * 5), 1),
                                {sizes[0], sizes[1], 5}),
                 key = upload(std::vector<float>(static_cast<std::size_t>(sizes[0] * sizes[2] * 5), 1),
                              {sizes[0], sizes[2], 5});
    const Tensor output = queue.scratch(query.shape);
    fill(queue, output, 7);
    const Tensor log_sums = queue.scratch({sizes[0], sizes[1]});
    attention_forward(queue, query, key, key, nullptr, {}, output, nullptr, &log_sums);
    EXPECT_EQ(download<float>(log_sums), std::vector<float>(static_cast<std::size_t>(log_sums.numel()),
                                                            -std::numeric_limits<float>::infinity()));
    EXPECT_EQ(download<float>(output), std::vector<float>(static_cast<std::size_t>(output.numel()), 0));
    const AttentionGradients gradients{
        queue.scratch(query.shape), queue.scratch(key.shape), queue.scratch(key.shape), {}};
    attention_backward(queue, output, nullptr, query, key, key, nullptr, {}, nullptr, &output, &log_sums,
                       gradients);
    for (const Tensor& gradient : {gradients.query, gradients.key, gradients.value})
      EXPECT_EQ(download<float>(gradient), std::vector<float>(static_cast<std::size_t>(gradient.numel()), 0));
  }
}

TEST(Attention, ProductsRefuseWhatDoesNotFit) {
  Queue& queue = device().queue();
  const auto zeros = [&](const Dims& shape) {
    return upload(std::vector<float>(static_cast<std::size_t>(product(shape))), shape);
  };
  const Tensor query = zeros({2, 3, 4}), key = zeros({2, 5, 4}), value = zeros({2, 5, 6}),
               output = zeros({2, 3, 6});
  expect_error<ValueError>(
      [&] { attention_forward(queue, query, zeros({2, 5, 3}), value, nullptr, {}, output, nullptr); },
      "expected query [B, L, E], key [B, S, E] and value [B, S, Ev]");
  expect_error<ValueError>(
      [&] { attention_forward(queue, query, key, value, nullptr, {}, zeros({2, 3, 4}), nullptr); },
      "the output");
  const Tensor mask = zeros({2, 2, 3, 5});
  expect_error<ValueError>([&] { attention_forward(queue, query, key, value, &mask, {}, output, nullptr); },
                           "does not fit scores of shape [2, 3, 5]");
  AttentionSettings settings;
  settings.dropout_p = 1.5;
  expect_error<ValueError>(
      [&] { attention_forward(queue, query, key, value, nullptr, settings, output, nullptr); },
      "dropout probability");
  const Tensor weights = zeros({2, 3, 5});
  expect_error<ValueError>(
      [&] {
        attention_backward(queue, output, &weights, query, key, value, nullptr, {}, nullptr, nullptr, nullptr,
                           {});
      },
      "needs the probabilities");
  const AttentionGradients gradients{{}, {}, {}, weights};
  expect_error<ValueError>(
      [&] {
        attention_backward(queue, output, nullptr, query, key, value, nullptr, {}, nullptr, nullptr, nullptr,
                           gradients);
      },
      "no mask");
}

TEST(Attention, Oclgrind) {
  Queue& queue = device().queue();
  std::mt19937 random(10);
  const auto drawn = [&](const Dims& shape) {
    return sample(random, DType::float32, shape, Placement::contiguous).tensor;
  };
  const Tensor query = drawn({1, 67, 3}), key = drawn({1, 66, 3}), value = drawn({1, 66, 2}),
               mask = drawn({1, 1, 67, 66}), grad = drawn({1, 67, 2});
  AttentionSettings settings;
  settings.is_causal = true;
  settings.dropout_p = 0.3;
  for_each_implementation("attention_backward", [&] {
    const Tensor output = queue.scratch({1, 67, 2}), sums = queue.scratch({1, 67});
    attention_forward(queue, query, key, value, &mask, settings, output, nullptr, &sums);
    const AttentionGradients made{
        queue.scratch(query.shape), queue.scratch(key.shape), queue.scratch(value.shape), {}};
    attention_backward(queue, grad, nullptr, query, key, value, &mask, settings, nullptr, &output, &sums,
                       made);
    for (const Tensor& gradient : {made.query, made.key, made.value}) download<float>(gradient);
  });
}

}  // namespace
