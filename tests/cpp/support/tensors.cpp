#include "support/tensors.h"

#include <cmath>
#include <cstdlib>
#include <random>

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

}  // namespace testing_support
