#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/device.h"

namespace testing_support {

/** The device under test: environment variable OCL_TEST_DEVICE, "ocl:0" if unset. */
dlprim::Device& device();

/** Its queue. */
inline dlprim::Queue& queue() {
  return device().queue();
}

/** `count` floats uniform in [-1, 1), the same for the same seed. */
std::vector<float> random_floats(std::int64_t count, unsigned seed);

/** Checks |actual - expected| <= atol + rtol * |expected| element by element; names the first few that fail.
 */
void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, double rtol,
                  double atol);

template <class A, class B>
void expect_close(const std::vector<A>& actual, const std::vector<B>& expected, double rtol, double atol) {
  expect_close(std::vector<double>(actual.begin(), actual.end()),
               std::vector<double>(expected.begin(), expected.end()), rtol, atol);
}

/** A contiguous tensor of these values on the device under test. */
template <class T>
dlprim::Tensor upload(const std::vector<T>& values, const dlprim::Dims& shape) {
  const dlprim::Tensor t = dlprim::Tensor::empty(device(), shape, dlprim::dtype_of<T>());
  EXPECT_EQ(static_cast<std::int64_t>(values.size()), t.numel());
  if (!values.empty()) queue().write(t, values.data(), values.size() * sizeof(T));
  return t;
}

/** The values of a contiguous tensor. */
template <class T>
std::vector<T> download(const dlprim::Tensor& t) {
  std::vector<T> values(static_cast<std::size_t>(t.numel()));
  if (!values.empty()) queue().read(t, values.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace testing_support
