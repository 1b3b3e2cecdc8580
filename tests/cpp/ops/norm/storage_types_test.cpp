#include <algorithm>
#include <cmath>

#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/pool/max_pool.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/ops/softmax/softmax.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

float from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  static_assert(sizeof value == sizeof wide);
  std::copy_n(reinterpret_cast<const char*>(&wide), sizeof wide, reinterpret_cast<char*>(&value));
  return value;
}

/** Multiples of 1/8 in [-1, 1]: exact in every dtype here. */
std::vector<float> eighths(std::int64_t count) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(static_cast<float>((i * 7 + i / 5) % 17 - 8) / 8);
  return v;
}

Tensor upload_as(DType dtype, const std::vector<float>& values, const Dims& shape) {
  if (dtype == DType::float32) return upload(values, shape);
  if (dtype == DType::float64) return upload(std::vector<double>(values.begin(), values.end()), shape);
  std::vector<std::uint16_t> bits;
  for (const float v : values) {
    std::uint32_t wide;
    std::copy_n(reinterpret_cast<const char*>(&v), sizeof v, reinterpret_cast<char*>(&wide));
    const bool half = dtype == DType::float16;
    const std::uint32_t exponent = wide >> 23 & 255;
    const std::uint32_t as_half =
        exponent ? (wide >> 16 & 0x8000) | (exponent - 112) << 10 | (wide >> 13 & 0x3ff) : 0;
    bits.push_back(static_cast<std::uint16_t>(half ? as_half : wide >> 16));
  }
  const Tensor t = Tensor::empty(device(), shape, dtype);
  device().queue().write(t, bits.data(), bits.size() * 2);
  return t;
}

std::vector<double> download_as(const Tensor& t) {
  std::vector<double> values;
  if (t.dtype == DType::float64) return download<double>(t);
  if (t.dtype == DType::float32)
    for (const float v : download<float>(t)) values.push_back(v);
  else
    for (std::uint16_t bits : [&] {
           std::vector<std::uint16_t> raw(static_cast<std::size_t>(t.numel()));
           device().queue().read(t, raw.data(), raw.size() * 2);
           return raw;
         }()) {
      if (t.dtype == DType::bfloat16) {
        values.push_back(from_bfloat16(bits));
        continue;
      }
      const int exponent = bits >> 10 & 31;
      const double mantissa = (bits & 0x3ff) / 1024.0 + (exponent ? 1 : 0);
      values.push_back((bits >> 15 ? -1 : 1) * std::ldexp(mantissa, (exponent ? exponent : 1) - 15));
    }
  return values;
}

/** Results of every family on the same small input. */
std::vector<std::vector<double>> results(DType dtype) {
  Queue& queue = device().queue();
  const Dims shape{2, 3, 5, 18}, pooled{2, 3, 2, 9}, rows{6, 90};
  const Tensor x = upload_as(dtype, eighths(540), shape), dy = upload_as(dtype, eighths(108), pooled);
  std::vector<std::vector<double>> all;
  const auto keep = [&](const Tensor& t) { all.push_back(download_as(t)); };
  const Tensor y = queue.scratch(pooled, dtype), dx = queue.scratch(shape, dtype);
  const Tensor indices = queue.scratch(pooled, DType::int32);
  max_pool2d_forward(queue, x, {{2, 2}, {2, 2}}, y, &indices);
  keep(y);
  max_pool2d_backward(queue, dy, indices, {{2, 2}, {2, 2}}, dx);
  keep(dx);
  avg_pool2d_forward(queue, x, {{2, 2}, {2, 2}}, {}, y);
  keep(y);
  avg_pool2d_backward(queue, dy, {{2, 2}, {2, 2}}, {}, dx);
  keep(dx);
  const DType wide = compute_dtype(dtype);
  const Tensor mean = queue.scratch({3}, wide), invstd = queue.scratch({3}, wide);
  batch_norm_training_forward(queue, x, nullptr, nullptr, 1e-5, {}, dx, mean, invstd);
  keep(dx);
  const Tensor dx2 = queue.scratch(shape, dtype);
  batch_norm_backward(queue, x, x, mean, invstd, nullptr, false, &dx2, &mean, nullptr);
  keep(dx2);
  const Tensor flat = x.reshaped(rows), soft = queue.scratch(rows, dtype), soft2 = queue.scratch(rows, dtype);
  softmax_forward(queue, flat, 1, soft);
  keep(soft);
  softmax_backward(queue, flat, soft, 1, soft2);
  keep(soft2);
  softmax_forward(queue, flat, 0, soft);
  keep(soft);
  const Tensor target = upload(std::vector<std::int64_t>{0, 5, 89, -100, 7, 8}, {6});
  const Tensor loss = queue.scratch({}, dtype), total = queue.scratch({}, wide),
               lse = queue.scratch({6, 1, 2}, wide);
  cross_entropy_forward(queue, flat, target, nullptr, {}, loss, total, lse);
  cross_entropy_backward(queue, upload_as(dtype, {1}, {}), flat, target, nullptr, {}, total, lse, soft2);
  keep(loss);
  keep(soft2);
  dropout(queue, x, 0.5, {1, 2}, dx);
  keep(dx);
  return all;
}

void check(DType dtype, double tolerance) {
  const auto expected = results(DType::float32), actual = results(dtype);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expect_close(actual[i], expected[i], tolerance, tolerance);
  }
}

}  // namespace

TEST(StorageTypes, Float16) {
  check(DType::float16, 2e-3);
}
TEST(StorageTypes, Bfloat16) {
  check(DType::bfloat16, 2e-2);
}
TEST(StorageTypes, Float64) {
  if (!device().info().fp64) GTEST_SKIP();
  check(DType::float64, 1e-5);
}
