#include "dlprim/ops/quantized/quantized_linear.h"

#include <cmath>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** A weight [out, in] in 8 bits, or in 4 with `group` of them to a scale, and the numbers that it stands for.
 */
struct Stored {
  Stored(std::mt19937& random, std::int64_t out, std::int64_t in, std::int64_t group, DType of_scales)
      : numbers(static_cast<std::size_t>(out * in)) {
    std::uniform_int_distribution<int> byte(0, 255), quarter(1, 8);
    const std::int64_t groups = group ? in / group : 1, bytes = out * in / (group ? 2 : 1);
    std::vector<double> stored, of_groups, at_groups;
    for (std::int64_t i = 0; i < bytes; ++i) stored.push_back(group ? byte(random) : byte(random) - 128);
    for (std::int64_t i = 0; i < out * groups; ++i) {
      of_groups.push_back(quarter(random) / 64.0);
      at_groups.push_back(quarter(random) / 16.0 - 0.25);
    }
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < in; ++i) {
        const auto at = static_cast<std::size_t>(o * in + i);
        if (!group) {
          numbers[at] = stored[at] * of_groups[static_cast<std::size_t>(o)];
          continue;
        }
        // Byte j of a block has the elements j and j + 16.
        const std::int64_t block = i / 32, place = i % 32;
        const auto packed =
            static_cast<int>(stored[static_cast<std::size_t>((o * in + block * 32) / 2 + place % 16)]);
        const auto g = static_cast<std::size_t>(o * groups + i / group);
        numbers[at] = ((place < 16 ? packed % 16 : packed / 16) - 8) * of_groups[g] + at_groups[g];
      }
    if (group) {
      weight = upload_as(DType::uint8, stored, {out, in / 2});
      scales = upload_as(of_scales, of_groups, {out, groups});
      zeros = upload_as(of_scales, at_groups, {out, groups});
    } else {
      weight = upload_as(DType::int8, stored, {out, in});
      scales = upload_as(of_scales, of_groups, {out});
    }
  }
  const Tensor* zeros_or_null() const { return zeros.defined() ? &zeros : nullptr; }

  std::vector<double> numbers;
  Tensor weight, scales, zeros;
};

void check(std::mt19937& random, DType dtype, DType of_scales, std::int64_t rows, std::int64_t out,
           std::int64_t in, std::int64_t group) {
  SCOPED_TRACE(concat(name(dtype), " ", rows, " x ", in, " -> ", out, ", group ", group));
  Queue& queue = device().queue();
  const Stored stored(random, out, in, group, of_scales);
  const Sample x = sample(random, dtype, {rows, in}, Placement::contiguous),
               dy = sample(random, dtype, {rows, out}, Placement::contiguous),
               bias = sample(random, dtype, {out}, Placement::contiguous);
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<double> expected(count(rows * out)), expected_dx(count(rows * in));
  double largest = 1, largest_dx = 1;  // sums of magnitudes
  for (std::size_t r = 0; r < count(rows); ++r)
    for (std::size_t o = 0; o < count(out); ++o) {
      double sum = bias.values[o], magnitude = 8;
      for (std::size_t i = 0; i < count(in); ++i) {
        const double w = stored.numbers[o * count(in) + i];
        sum += x.values[r * count(in) + i] * w;
        magnitude += std::abs(x.values[r * count(in) + i] * w);
        expected_dx[r * count(in) + i] += dy.values[r * count(out) + o] * w;
      }
      expected[r * count(out) + o] = sum;
      largest = std::max(largest, magnitude);
    }
  for (const double dx : expected_dx) largest_dx = std::max(largest_dx, std::abs(dx));
  const Tensor y = queue.scratch({rows, out}, dtype), dx = queue.scratch({rows, in}, dtype),
               numbers = queue.scratch({out, in}, dtype);
  quantized_linear_forward(queue, x.tensor, stored.weight, stored.scales, stored.zeros_or_null(),
                           &bias.tensor, y);
  quantized_linear_backward_data(queue, dy.tensor, stored.weight, stored.scales, stored.zeros_or_null(), dx);
  dequantize_weight(queue, stored.weight, stored.scales, stored.zeros_or_null(), numbers);
  // Weights are rounded where they become numbers of 16 bits in memory.
  const double tolerance = 4 * epsilon(dtype);
  expect_close(download_values(y), expected, tolerance, tolerance * largest);
  expect_close(download_values(dx), expected_dx, tolerance,
               tolerance * std::max(largest_dx, 8.0 * std::sqrt(static_cast<double>(out))));
  expect_close(download_values(numbers), stored.numbers, epsilon(dtype), epsilon(dtype));
}

}  // namespace

TEST(QuantizedLinear, EveryImplementation) {
  for_each_implementation("quantized_linear", [] {
    std::mt19937 random(1);
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
      if (!supports(dtype)) continue;
      for (const DType of_scales : {dtype, DType::float16}) {
        check(random, dtype, of_scales, 1, 1, 32, 32);
        check(random, dtype, of_scales, 1, 37, 256, 64);
        check(random, dtype, of_scales, 2, 5, 256, 256);
        check(random, dtype, of_scales, 7, 19, 384, 128);
        check(random, dtype, of_scales, 5, 3, 77, 0);
        check(random, dtype, of_scales, 1, 1, 1, 0);
        check(random, dtype, of_scales, 13, 34, 132, 0);
      }
    }
  });
}

TEST(QuantizedLinear, LongSumsAreAccurate) {
  for_each_implementation("quantized_linear", [] {
    std::mt19937 random(2);
    check(random, DType::float32, DType::float32, 1, 9, 32768, 32);
    check(random, DType::float32, DType::float32, 3, 6, 20003, 0);
  });
}

// More numbers than lie in scratch memory at once: 64 MiB.
TEST(QuantizedLinear, InParts) {
  std::mt19937 random(3);
  const ImplementationsSet forced("quantized_linear=product");
  check(random, DType::float32, DType::float32, 1, 300, 65536, 128);
  check(random, DType::float32, DType::float32, 2, 65536, 288, 32);
}

TEST(QuantizedLinear, WithoutInputs) {
  Queue& queue = device().queue();
  const Tensor bias = upload<float>({1, 2, 3}, {3}), y = queue.scratch({2, 3}), x = queue.scratch({2, 0}),
               scales = upload<float>({1, 1, 1}, {3});
  for_each_implementation("quantized_linear", [&] {
    quantized_linear_forward(queue, x, queue.scratch({3, 0}, DType::int8), scales, nullptr, &bias, y);
    EXPECT_EQ(download<float>(y), (std::vector<float>{1, 2, 3, 1, 2, 3}));
    const Tensor none = queue.scratch({3, 0});
    quantized_linear_forward(queue, x, queue.scratch({3, 0}, DType::uint8), none, &none, nullptr, y);
    EXPECT_EQ(download<float>(y), (std::vector<float>(6, 0)));
  });
}

TEST(QuantizedLinear, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({2, 64}), y = queue.scratch({2, 3}), scales = queue.scratch({3}),
               grouped = queue.scratch({3, 2}), int8 = queue.scratch({3, 64}, DType::int8),
               int4 = queue.scratch({3, 32}, DType::uint8);
  const auto refuses = [&](const Tensor& input, const Tensor& weight, const Tensor& s, const Tensor* zeros,
                           const char* part) {
    expect_error<ValueError>([&] { quantized_linear_forward(queue, input, weight, s, zeros, nullptr, y); },
                             part);
  };
  refuses(queue.scratch({2, 63}), int8, scales, nullptr, "expected x of shape [rows, 64], got [2, 63]");
  refuses(x, int8, queue.scratch({4}), nullptr, "expected scales of shape [3]");
  refuses(x, int4, queue.scratch({3, 3}), &grouped, "do not fit 64 inputs in groups of 32, 64, 128 or 256");
  refuses(x, int4, grouped, &scales, "expected zeros of shape [3, 2]");
  refuses(x, int8.reshaped({192}), scales, nullptr, "expected a weight of two dimensions");
  const auto refuses_dtype = [&](const Tensor& weight, const Tensor& s, const Tensor* zeros,
                                 const char* part) {
    expect_error<TypeError>([&] { quantized_linear_forward(queue, x, weight, s, zeros, nullptr, y); }, part);
  };
  refuses_dtype(int4, grouped, nullptr, "expected a weight of dtype int8 without zeros, got uint8");
  refuses_dtype(int8, grouped, &grouped, "expected a weight of dtype uint8 with zeros, got int8");
  refuses_dtype(int8, queue.scratch({3}, DType::int32), nullptr, "expected scales of a floating dtype");
}
