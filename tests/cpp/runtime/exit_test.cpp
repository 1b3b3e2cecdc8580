#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/reduce/reduce.h"
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

/** Forked where a device was used: true when every use of it is refused, and what is dropped does no harm. */
bool is_refused_in_child(Tensor t, std::shared_ptr<PinnedMemory> pinned) {
  const auto refuses = [](const auto& use) {
    try {
      use();
    } catch (const DeviceError& e) {
      return std::string(e.what()).find("forked") != std::string::npos;
    }
    return false;
  };
  const bool all = refuses([&] { download<float>(t); }) && refuses([&] { device(); }) &&
                   refuses([&] { t.device().queue().finish(); }) &&
                   refuses([&] { fill(t.device().queue(), t, 2); }) &&
                   refuses([&] { Tensor::empty(t.device(), {3}); }) &&
                   refuses([&] { t.device().allocator().empty_cache(); }) &&
                   refuses([&] { t.device().programs().count(); }) &&
                   refuses([&] { PinnedMemory::allocate(t.device(), 5); });
  t = Tensor();
  pinned.reset();
  return all && Device::count() > 0;
}

/** A thread that does `work` again and again for as long as this lives. */
class BusyThread {
 public:
  explicit BusyThread(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!stop_) work();
        }) {}
  ~BusyThread() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

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

TEST(Exit, OfAForkedChild) {
  Queue& queue = device().queue();
  const Tensor t = queue.scratch({3});
  fill(queue, t, 1);
  const auto pinned = PinnedMemory::allocate(device(), 100000);
  const Tensor own = queue.scratch({3});
  const BusyThread busy([&] {
    fill(queue, own, 1);
    queue.finish();
  });
  const BusyThread beginning_and_ending([&] { std::thread([&] { queue.finish(); }).join(); });
  // By exit(), with the handlers that libraries have left for the end of a process, but for rusticl, where
  // LLVM's waits for a lock that a thread of the parent held as it forked (docs/driver-faults.md).
  const auto end_child = device().info().platform_name == "rusticl" ? _exit : std::exit;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a child that hangs must fail
      end_child(is_refused_in_child(t, pinned) ? 5 : 6);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << "status " << status;
  }
  EXPECT_EQ(download<float>(t), (std::vector<float>{1, 1, 1}));
}

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
