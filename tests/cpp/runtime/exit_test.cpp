#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/platform/process.h"
#include "dlprim/runtime/pinned_memory.h"
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

/** Computes without end, with a kernel still to be built now and then. */
[[noreturn]] void compute() {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({5000}), y = queue.scratch({5000}), s = queue.scratch({});
  fill(queue, x, 1);
  const char* const names[] = {"exp", "log", "sin", "cos", "tanh", "sqrt", "neg", "abs", "square", "sigmoid"};
  for (std::size_t i = 0;; ++i) {
    const char* name = names[i / 7 % std::size(names)];
    pointwise(queue, forward_expression(pointwise_op(name)), DType::float32, {x}, {}, {y});
    reduce(queue, reduction("sum"), y, dim_mask({}, 1, "sum"), s);
    if (i % 5 == 0) download<float>(s);
  }
}

/** Uploads and downloads without end, from and to ordinary and page-locked memory. */
[[noreturn]] void transfer() {
  Queue& queue = device().queue();
  std::vector<float> values(3 << 20, 1.0f);
  const std::size_t bytes = values.size() * sizeof(float);
  for (;;) {
    const auto pinned = PinnedMemory::allocate(device(), bytes);
    const Tensor t = queue.scratch({3 << 20});
    queue.write(t, values.data(), bytes);
    queue.read(t, pinned->data(), bytes);
    queue.write(t, pinned->data(), bytes, true);
    queue.read(t, values.data(), bytes);
  }
}

[[noreturn]] void exit_while_threads_transfer(std::chrono::milliseconds after) {
  for (int i = 0; i < 2; ++i) std::thread(transfer).detach();
  std::this_thread::sleep_for(after);
  std::exit(0);
}

[[noreturn]] void exit_while_a_thread_computes(std::chrono::milliseconds after) {
  for (int i = 0; i < 2; ++i) std::thread(compute).detach();
  std::this_thread::sleep_for(after);
  std::exit(0);
}

}  // namespace

TEST(Exit, WhileOtherThreadsCompute) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int after : {1, 30, 200, 600})
    EXPECT_EXIT(exit_while_a_thread_computes(std::chrono::milliseconds(after)), testing::ExitedWithCode(0),
                "");
}

TEST(Exit, WhileOtherThreadsTransfer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int after : {5, 60, 300})
    EXPECT_EXIT(exit_while_threads_transfer(std::chrono::milliseconds(after)), testing::ExitedWithCode(0),
                "");
}

// PoCL compiles at a kernel's first launch, here while the process ends; a build error may be what ended it.
TEST(Exit, WithKernelsStillToBeCompiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto before = platform::environment("OCL_KERNEL_CACHE");
  const std::filesystem::path directory = platform::make_temporary_folder("tapecl_exit_test.");
  platform::set_environment("POCL_CACHE_DIR", directory.u8string());
  platform::set_environment("OCL_KERNEL_CACHE", "off");
  EXPECT_EXIT(exit_with_work_pending(), testing::ExitedWithCode(3), "");
  platform::set_environment("POCL_CACHE_DIR", std::nullopt);
  platform::set_environment("OCL_KERNEL_CACHE", before);
  std::filesystem::remove_all(directory);
}
