#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/transposition.h"
#include "tests/cpp/support/elements.h"

using namespace dlprim;
using namespace testing_support;

namespace {

TEST(Copy, BetweenAllDTypes) {
  std::mt19937 random(6);
  const DType all[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64,
                       DType::int32,   DType::int16,   DType::int8,    DType::uint8,    DType::boolean};
  for (const DType from : all)
    for (const DType to : all) {
      // A program each: all with float32 and int64, which every conversion goes through or is like.
      const auto is_pivot = [](DType dtype) { return dtype == DType::float32 || dtype == DType::int64; };
      if (!supports(from) || !supports(to) || !(is_pivot(from) || is_pivot(to))) continue;
      SCOPED_TRACE(concat(name(from), " to ", name(to)));
      Sample source = sample(random, from, {7, 11}, Placement::strided);
      if (to == DType::uint8)  // C leaves the conversion of a negative number open
        source = sample(random, is_floating(from) ? DType::boolean : from, {7, 11}, Placement::strided);
      const Tensor destination = Tensor::empty(device(), {7, 11}, to);
      copy(queue(), source.tensor, destination);
      std::vector<double> expected;
      for (const double v : source.values) {
        double rounded = 0;
        if (to == DType::uint8)
          rounded = static_cast<std::uint8_t>(static_cast<std::int64_t>(v));
        else if (to == DType::int8)
          rounded = static_cast<std::int8_t>(static_cast<std::int64_t>(v));
        else if (to == DType::int16)
          rounded = static_cast<std::int16_t>(static_cast<std::int64_t>(v));
        else if (to == DType::boolean)
          rounded = v != 0;
        else
          rounded = is_floating(to) ? v : std::trunc(v);
        expected.push_back(rounded);
      }
      EXPECT_EQ(download_values(destination), expected);
    }
}

TEST(Copy, EveryHalfValueThereAndBack) {
  for (const DType half : {DType::float16, DType::bfloat16}) {
    std::vector<std::uint16_t> bits(65536);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
    const Tensor halves = Tensor::empty(device(), {65536}, half), floats = queue().scratch({65536}),
                 back = Tensor::empty(device(), {65536}, half);
    queue().write(halves, bits.data(), bits.size() * 2);
    copy(queue(), halves, floats);
    copy(queue(), floats, back);
    const auto values = download<float>(floats);
    std::vector<std::uint16_t> bits_back(65536);
    queue().read(back, bits_back.data(), bits_back.size() * 2);
    int failures = 0;
    for (std::size_t i = 0; i < bits.size() && failures < 5; ++i) {
      const double expected = decode(half, &bits[i]);
      const bool same = std::isnan(expected)
                            ? std::isnan(values[i]) && std::isnan(decode(half, &bits_back[i]))
                            : values[i] == expected && bits_back[i] == bits[i];
      if (same) continue;
      ++failures;
      ADD_FAILURE() << name(half) << " bits " << i << ": " << values[i] << " and back " << bits_back[i]
                    << ", expected " << expected;
    }
  }
}

TEST(Copy, RoundsHalvesToNearestEven) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = random_floats(20000, 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 40) - 22);
  for (const float v : {1.00390625f, 1.01171875f, 1.00048828125f, 1.00146484375f, 65519.0f, 65520.0f,
                        65536.0f, 3.4e38f, inf, -inf, nan, 5.9604645e-8f, 2.9e-8f, 2.98023224e-8f}) {
    x.push_back(v);
    x.push_back(-v);
  }
  const auto count = static_cast<std::int64_t>(x.size());
  for (const DType half : {DType::float16, DType::bfloat16}) {
    const Tensor y = Tensor::empty(device(), {count}, half);
    copy(queue(), upload(x, {count}), y);
    std::vector<double> expected;
    for (const float v : x) {
      std::uint16_t bits = 0;
      encode(half, v, &bits);
      expected.push_back(decode(half, &bits));
    }
    SCOPED_TRACE(name(half));
    expect_close(download_values(y), expected, 0, 0);
  }
}

// Rows of some columns of a matrix whose rows are reordered: GPUs move what follows each other in pieces of 8
// bytes, where sizes, strides and places allow it.
TEST(Copy, OfPartsOfRows) {
  constexpr std::int64_t outer = 3, inner = 5, width = 48;
  std::vector<double> values;
  for (std::int64_t i = 0; i < outer * inner * width; ++i) values.push_back(static_cast<double>(i % 101));
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32,
                            DType::int16, DType::int8, DType::uint8, DType::boolean}) {
    std::vector<double> stored = values;
    if (dtype == DType::boolean)
      for (double& v : stored) v = v > 50;
    for (const std::int64_t first : {0, 1, 2, 4, 8})
      for (const std::int64_t columns : {40, 32, 12, 6, 1}) {
        SCOPED_TRACE(concat(name(dtype), ", ", columns, " columns from ", first));
        Tensor part = upload_as(dtype, stored, {outer, inner, width});
        part.shape = Dims{inner, outer, columns}, part.strides = Dims{width, inner * width, 1},
        part.offset += first;
        const Tensor gathered = Tensor::empty(device(), part.shape, dtype);
        copy(queue(), part, gathered);
        std::vector<double> expected, back(stored.size(), 0);
        for (std::int64_t i = 0; i < inner; ++i)
          for (std::int64_t o = 0; o < outer; ++o)
            for (std::int64_t c = 0; c < columns; ++c) {
              const auto at = static_cast<std::size_t>((o * inner + i) * width + first + c);
              expected.push_back(stored[at]);
              back[at] = stored[at];
            }
        EXPECT_EQ(download_values(gathered), expected);

        Tensor whole = upload_as(dtype, std::vector<double>(stored.size(), 0), {outer, inner, width});
        part.storage = whole.storage, part.offset = whole.offset + first;
        copy(queue(), gathered, part);
        EXPECT_EQ(download_values(whole), back);
      }
  }
}

TEST(Copy, ToItself) {
  const Tensor t = upload(std::vector<float>{1, 2, 3}, {3});
  copy(queue(), t, t);
  EXPECT_EQ(download<float>(t), (std::vector<float>{1, 2, 3}));
}

/** A view of memory of its own, which begins after `start` elements; dimensions lie in memory in the order of
 * `order`, the last of them innermost, and each line is followed by `gap` elements. */
struct Placed {
  Tensor tensor, memory;
  std::vector<unsigned char> bytes;  // of the memory, before anything is copied

  Placed(DType dtype, const Dims& shape, const std::vector<int>& order, std::int64_t start, std::int64_t gap,
         std::mt19937& random) {
    Dims strides = shape;
    std::int64_t stride = 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      strides[*d] = stride;
      stride *= shape[*d];
      if (d == order.rbegin()) stride += gap;
    }
    const std::int64_t elements = start + stride + 3;
    memory = Tensor::empty(device(), {elements}, dtype);
    constexpr unsigned of_no_nan = 0xbf;  // copies of bfloat16 may make one NaN of another
    for (std::int64_t i = 0; i < elements * static_cast<std::int64_t>(size_of(dtype)); ++i)
      bytes.push_back(static_cast<unsigned char>(random() & of_no_nan));
    queue().write(memory, bytes.data(), bytes.size());
    tensor = memory;
    tensor.shape = shape;
    tensor.strides = strides;
    tensor.offset += start;
  }
  std::vector<unsigned char> download() const {
    std::vector<unsigned char> now(bytes.size());
    queue().read(memory, now.data(), now.size());
    return now;
  }
};

void check_transposed(DType dtype, const Dims& shape, const std::vector<int>& from_order,
                      const std::vector<int>& to_order, std::int64_t start, std::int64_t gap, bool expected) {
  SCOPED_TRACE(concat(name(dtype), " ", shape, " from ", start, " with gaps of ", gap));
  std::mt19937 random(static_cast<unsigned>(product(shape)));
  const Placed source(dtype, shape, from_order, start, gap, random),
      destination(dtype, shape, to_order, gap, start, random);
  std::vector<unsigned char> wanted = destination.bytes;
  for_each_element(shape, [&](const Dims& at) {
    std::int64_t from = source.tensor.offset, to = destination.tensor.offset;
    for (int d = 0; d < shape.size(); ++d) {
      from += at[d] * source.tensor.strides[d];
      to += at[d] * destination.tensor.strides[d];
    }
    const std::size_t size = size_of(dtype);
    std::memcpy(&wanted[static_cast<std::size_t>(to) * size],
                &source.bytes[static_cast<std::size_t>(from) * size], size);
  });
  const DeviceInfo& info = device().info();
  const bool has_large_groups = info.runs_cpu_kernels() || info.max_work_group >= 256;
  const bool is_done = copy_transposed(queue(), source.tensor, destination.tensor);
  ASSERT_EQ(is_done, expected && has_large_groups);
  if (!is_done) copy(queue(), source.tensor, destination.tensor);
  EXPECT_TRUE(destination.download() == wanted);
}

constexpr DType one_of_each_size[] = {DType::uint8, DType::bfloat16, DType::float32, DType::int64};

TEST(Copy, TransposesLinesAroundTheSizesOfTilesAndBlocks) {
  for (const DType dtype : one_of_each_size)
    for (const std::int64_t rows : {15, 16, 17, 31, 33, 64, 79, 127, 128, 129})
      for (const std::int64_t columns : {16, 20, 32, 63, 65, 143})
        check_transposed(dtype, {rows, columns}, {0, 1}, {1, 0}, rows % 3, columns % 4, rows > 15);
}

TEST(Copy, TransposesAmongOtherDimensions) {
  for (const DType dtype : one_of_each_size) {
    check_transposed(dtype, {3, 17, 33}, {0, 1, 2}, {0, 2, 1}, 0, 0, true);
    check_transposed(dtype, {17, 3, 33}, {0, 1, 2}, {2, 1, 0}, 1, 0, true);
    check_transposed(dtype, {2, 24, 5, 7}, {0, 1, 2, 3}, {0, 2, 3, 1}, 0, 0, true);    // to channels last
    check_transposed(dtype, {2, 24, 5, 7}, {0, 2, 3, 1}, {0, 1, 2, 3}, 2, 1, false);   // rows of 7, apart
    check_transposed(dtype, {2, 3, 40, 70}, {0, 1, 2, 3}, {0, 2, 3, 1}, 0, 0, false);  // three channels
    check_transposed(dtype, {2, 1, 3, 18, 2, 20}, {4, 3, 1, 2, 0, 5}, {1, 5, 2, 0, 4, 3}, 3, 2, true);
    check_transposed(dtype, {2, 2, 2, 2, 2, 2, 16, 16}, {0, 6, 1, 2, 3, 4, 5, 7}, {7, 5, 4, 3, 2, 1, 0, 6}, 0,
                     0, true);
  }
}

TEST(Copy, LeavesOthersThanTranspositions) {
  check_transposed(DType::float32, {20, 30}, {0, 1}, {0, 1}, 0, 1, false);
  check_transposed(DType::float32, {20, 30, 20}, {0, 1, 2}, {1, 0, 2}, 0, 0, false);
  check_transposed(DType::float32, {1, 30}, {0, 1}, {1, 0}, 0, 0, false);
  check_transposed(DType::float32, {0, 30}, {0, 1}, {1, 0}, 0, 0, false);
  check_transposed(DType::float32, {200, 4}, {0, 1}, {1, 0}, 0, 0, false);
  // Many rows of few elements each, by more than one work item.
  check_transposed(DType::float32, {70, 3, 90, 2}, {0, 1, 2, 3}, {1, 2, 0, 3}, 1, 1, false);
}

TEST(Copy, Oclgrind) {
  for (const DType dtype : one_of_each_size)
    check_transposed(dtype, {2, 19, 35}, {0, 1, 2}, {2, 0, 1}, 1, 1, true);
  check_transposed(DType::float32, {130, 65}, {0, 1}, {1, 0}, 0, 0, true);
  check_transposed(DType::float32, {6, 5, 7, 2}, {0, 1, 2, 3}, {2, 1, 0, 3}, 1, 1, false);
}

}  // namespace
