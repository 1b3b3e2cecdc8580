#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/pinned_memory.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

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
