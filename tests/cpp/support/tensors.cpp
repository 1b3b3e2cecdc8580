#include "support/tensors.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include "dlprim/ops/pointwise/pointwise.h"

namespace testing_support {

dlprim::Device& device() {
  const char* name = std::getenv("OCL_TEST_DEVICE");
  return dlprim::Device::get(std::string(name ? name : "ocl:0"));
}

std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(generator);
  return values;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, double rtol,
                  double atol) {
  ASSERT_EQ(actual.size(), expected.size());
  int failures = 0;
  for (std::size_t i = 0; i < actual.size() && failures < 5; ++i) {
    const bool same = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    if (same || std::abs(actual[i] - expected[i]) <= atol + rtol * std::abs(expected[i])) continue;
    ++failures;
    ADD_FAILURE() << "element " << i << ": " << actual[i] << ", expected " << expected[i];
  }
}

dlprim::Tensor converted(const dlprim::Tensor& t, dlprim::DType dtype) {
  if (t.dtype == dtype) return t;
  const dlprim::Tensor result = dlprim::Tensor::empty(device(), t.shape, dtype);
  copy(device().queue(), t, result);
  return result;
}

double rounding_of(dlprim::DType dtype) {
  using dlprim::DType;
  return dtype == DType::bfloat16 ? std::ldexp(1.0, -8) : dtype == DType::float16 ? std::ldexp(1.0, -11) : 0;
}

}  // namespace testing_support
