#include "dlprim/runtime/profiler.h"

#include <chrono>

#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

TEST(Profiler, RecordsLaunchesCopiesAndFills) {
  Queue& queue = device().queue();
  const Tensor a = upload(std::vector<float>(1000, 1), {1000}), b = queue.scratch({1000});
  fill(queue, b, 2);  // before: not recorded
  const auto now = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  };
  queue.start_profiling();
  const auto before = now();
  fill(queue, b, 3);
  copy(queue, a, b);
  queue.zero(b);
  const auto records = queue.stop_profiling();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "fill_flat");
  EXPECT_EQ(records[1].name, "copy");
  EXPECT_EQ(records[2].name, "zero");
  for (const KernelRecord& record : records) {
    EXPECT_LE(record.queued, record.start) << record.name;
    EXPECT_LE(record.start, record.end) << record.name;
    EXPECT_GE(record.noted, before.count()) << record.name;
    EXPECT_LE(record.noted, now().count()) << record.name;
  }
  EXPECT_LE(records[0].end, records[2].end);
}

TEST(Profiler, OffRecordsNothing) {
  Queue& queue = device().queue();
  EXPECT_TRUE(queue.stop_profiling().empty());
  queue.start_profiling();
  EXPECT_TRUE(queue.stop_profiling().empty());
  const Tensor t = queue.scratch({10});
  fill(queue, t, 4);
  EXPECT_TRUE(queue.stop_profiling().empty());
  EXPECT_EQ(download<float>(t), std::vector<float>(10, 4));
}

TEST(Profiler, StartTwiceIsOnce) {
  Queue& queue = device().queue();
  queue.start_profiling();
  const Tensor t = queue.scratch({10});
  fill(queue, t, 4);
  queue.start_profiling();
  EXPECT_EQ(queue.stop_profiling().size(), 1u);
}
