#include <cstdlib>
#include <filesystem>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/reduce/reduce.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

[[noreturn]] void exit_with_work_pending() {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({5000}), y = queue.scratch({5000}), s = queue.scratch({});
  fill(queue, x, 1);
  pointwise(queue, forward_expression(pointwise_op("exp")), DType::float32, {x}, {}, {y});
  reduce(queue, reduction("sum"), y, dim_mask({}, 1, "sum"), s);
  try {
    device().programs().generated_kernel("test broken at exit", "k", "",
                                         [] { return std::string("broken\n"); });
  } catch (const KernelBuildError&) {
    std::exit(3);
  }
  std::exit(4);
}

}  // namespace

// PoCL compiles at a kernel's first launch, here while the process ends; a build error may be what ended it.
TEST(Exit, WithKernelsStillToBeCompiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto directory =
      std::filesystem::temp_directory_path() / ("tapecl_exit_test." + std::to_string(getpid()));
  const char* before = std::getenv("OCL_KERNEL_CACHE");
  const std::string saved = before ? before : "";
  std::filesystem::create_directory(directory);
  setenv("POCL_CACHE_DIR", directory.c_str(), 1);
  setenv("OCL_KERNEL_CACHE", "off", 1);
  EXPECT_EXIT(exit_with_work_pending(), testing::ExitedWithCode(3), "");
  unsetenv("POCL_CACHE_DIR");
  before ? setenv("OCL_KERNEL_CACHE", saved.c_str(), 1) : unsetenv("OCL_KERNEL_CACHE");
  std::filesystem::remove_all(directory);
}
