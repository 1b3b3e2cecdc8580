#include "dlprim/ops/creation/arange.h"
#include "dlprim/ops/creation/upload.h"

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

TEST(Arange, StepsOfEveryDtype) {
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64,
                            DType::int32, DType::int16, DType::uint8}) {
    if (!supports(dtype)) continue;
    for (const std::int64_t n : {0, 1, 15, 16, 17, 100}) {
      const Tensor out = queue.scratch({n}, dtype);
      arange(queue, out, 3, 2);
      std::vector<double> expected(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 3.0 + 2.0 * static_cast<double>(i);
      EXPECT_EQ(download_values(out), expected) << name(dtype) << " " << n;
    }
  }
}

TEST(Arange, FractionsAreRoundedOnce) {
  Queue& queue = device().queue();
  constexpr std::int64_t n = 70000;
  const Tensor out = queue.scratch({n});
  arange(queue, out, 0.1, -0.3);
  const auto values = download<float>(out);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_FLOAT_EQ(values[i], static_cast<float>(0.1 + static_cast<double>(i) * -0.3)) << i;
}

TEST(Arange, WholeNumbersUseAll64Bits) {
  Queue& queue = device().queue();
  const Tensor out = queue.scratch({3}, DType::int64);
  const std::int64_t start = (std::int64_t{1} << 62) + 1;
  arange(queue, out, start, -1);
  EXPECT_EQ(download<std::int64_t>(out), (std::vector<std::int64_t>{start, start - 1, start - 2}));
}

TEST(Arange, DoublesToTheLastDigits) {
  if (!supports(DType::float64)) GTEST_SKIP();
  Queue& queue = device().queue();
  const Tensor doubles = queue.scratch({1003}, DType::float64);
  arange(queue, doubles, -1e-3, 1e-7);
  const auto exact = download<double>(doubles);
  for (std::size_t i = 0; i < exact.size(); ++i)
    ASSERT_NEAR(exact[i], -1e-3 + static_cast<double>(i) * 1e-7, 1e-18) << i;
}

TEST(Arange, RefusesBool) {
  Queue& queue = device().queue();
  expect_error<TypeError>([&] { arange(queue, queue.scratch({2}, DType::boolean), 0, 1); },
                          "arange: bool is not supported");
}

TEST(Upload, TakesBytesOfThatMany) {
  Queue& queue = device().queue();
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const HostBytes bytes{values.data(), values.size() * sizeof(float)};
  const Tensor t = queue.scratch({2, 3});
  upload(queue, bytes, t);
  EXPECT_EQ(download<float>(t), values);
  expect_error<ValueError>([&] { upload(queue, bytes, queue.scratch({5})); },
                           "upload: expected a contiguous tensor of 24 bytes");
}

TEST(Upload, NoBytesAndEveryDtype) {
  Queue& queue = device().queue();
  EXPECT_NO_THROW(upload(queue, {nullptr, 0}, queue.scratch({3, 0})));
  std::mt19937 random(1);
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16, DType::int64, DType::uint8}) {
    const Sample x = sample(random, dtype, {5, 7}, Placement::contiguous);
    std::vector<char> bytes(static_cast<std::size_t>(x.tensor.numel()) * size_of(dtype));
    queue.read(x.tensor, bytes.data(), bytes.size());
    const Tensor copied = queue.scratch({5, 7}, dtype);
    upload(queue, {bytes.data(), bytes.size()}, copied);
    EXPECT_EQ(download_values(copied), x.values) << name(dtype);
  }
}

TEST(Upload, EveryTrueByteBecomes1) {
  Queue& queue = device().queue();
  const std::vector<unsigned char> bytes{0, 1, 2, 255};
  const Tensor t = queue.scratch({4}, DType::boolean);
  upload(queue, {bytes.data(), bytes.size()}, t);
  EXPECT_EQ(download_values(t), (std::vector<double>{0, 1, 1, 1}));
}

}  // namespace
