#include "dlprim/runtime/command_graph.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/queue.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Floats = std::vector<float>;

Tensor floats(std::initializer_list<float> values) {
  return upload(Floats(values), {static_cast<std::int64_t>(values.size())});
}

void add(const Tensor& a, const PointwiseOperand& b, const Tensor& out) {
  pointwise(queue(), forward_expression(pointwise_op("add")), DType::float32, {a, b}, {1}, {out});
}

/** out = 2 x + 1, with memory of its own on the way. */
void twice_and_one(const Tensor& x, const Tensor& out) {
  const Tensor doubled = queue().scratch(x.shape);
  add(x, x, doubled);
  add(doubled, Scalar(1), out);
}

/** out[0] = x[index[0]] */
void pick(const Tensor& x, const Tensor& index, const Tensor& out) {
  static const DeviceCheck check = register_check("pick: index out of range: ");
  read_places(queue(), x.reshaped({1, x.numel(), 1}), index.reshaped({1, 1, 1}), out.reshaped({1, 1, 1}),
              Negative::is_error, check);
}

/** Writes to memory of that many bytes wherever the allocator has some. */
void use_much_memory(std::int64_t bytes) {
  for (int i = 0; i < 8; ++i) fill(queue(), Tensor::empty(device(), {bytes / 4}), -7);
}

}  // namespace

TEST(CommandGraph, RunsWhenReplayedAndNotBefore) {
  const Tensor x = floats({1, 2, 3}), out = floats({9, 9, 9});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    twice_and_one(x, out);
  }
  EXPECT_EQ(graph.size(), 2u);
  EXPECT_EQ(download<float>(out), (Floats{9, 9, 9}));
  graph.replay();
  EXPECT_EQ(download<float>(out), (Floats{3, 5, 7}));
  queue().write(x, Floats{4, 5, 6}.data(), 12);
  graph.replay();
  EXPECT_EQ(download<float>(out), (Floats{9, 11, 13}));
}

TEST(CommandGraph, CopiesAndZeros) {
  const Tensor x = floats({1, 2, 3, 4}), copied = floats({0, 0, 0, 0}), zeroed = floats({5, 5, 5, 5});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    queue().copy(x, copied, 12);
    queue().zero(zeroed);
  }
  EXPECT_EQ(download<float>(zeroed), (Floats{5, 5, 5, 5}));
  graph.replay();
  EXPECT_EQ(download<float>(copied), (Floats{1, 2, 3, 0}));
  EXPECT_EQ(download<float>(zeroed), (Floats{0, 0, 0, 0}));
}

// Memory that a capture has let go of is still written by each replay.
TEST(CommandGraph, HasItsMemoryForItself) {
  constexpr std::int64_t count = 100000;
  const Tensor x = Tensor::empty(device(), {count});
  fill(queue(), x, 3);
  Tensor out;
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    out = queue().scratch({count});
    twice_and_one(x, out);
  }
  use_much_memory(4 * count);
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(Tensor::empty(device(), {count}));
    fill(queue(), others.back(), -7);
  }
  device().allocator().empty_cache();
  graph.replay();
  EXPECT_EQ(download<float>(out), Floats(count, 7));
  for (const Tensor& other : others) EXPECT_EQ(download<float>(other), Floats(count, -7));
}

TEST(CommandGraph, UsesMemoryAgainWithinACapture) {
  constexpr std::int64_t count = 16 << 20;  // more than requests share a segment of
  const Tensor x = Tensor::empty(device(), {count});
  device().allocator().empty_cache();
  const std::uint64_t before = device().allocator().stats().reserved;
  {
    CommandGraph graph(device());
    {
      const CommandGraph::Capture capture(graph);
      for (int i = 0; i < 20; ++i) twice_and_one(x, x);
    }
    const bool may_use_again = !std::getenv("OCL_ALLOCATOR");
    EXPECT_LE(device().allocator().stats().reserved - before, (may_use_again ? 5u : 20u) * 4 * count);
    graph.replay();
  }
  queue().finish();
  device().allocator().empty_cache();
  EXPECT_LE(device().allocator().stats().reserved, before);
}

TEST(CommandGraph, KeepsMemoryFromBefore) {
  const Tensor out = floats({0, 0, 0});
  CommandGraph graph(device());
  {
    const Tensor x = floats({1, 2, 3});
    const CommandGraph::Capture capture(graph);
    twice_and_one(x, out);
  }
  use_much_memory(12);
  graph.replay();
  EXPECT_EQ(download<float>(out), (Floats{3, 5, 7}));
}

TEST(CommandGraph, SharesAPool) {
  const Tensor x = floats({1, 2, 3}), first_out = floats({0, 0, 0}), second_out = floats({0, 0, 0});
  CommandGraph first(device());
  {
    const CommandGraph::Capture capture(first);
    twice_and_one(x, first_out);
  }
  const std::uint64_t segments = device().allocator().stats().segments;
  CommandGraph second(device(), first.pool());
  {
    const CommandGraph::Capture capture(second);
    twice_and_one(first_out, second_out);
  }
  EXPECT_EQ(device().allocator().stats().segments, segments);
  for (int i = 0; i < 2; ++i) {
    first.replay();
    second.replay();
  }
  EXPECT_EQ(download<float>(second_out), (Floats{7, 11, 15}));
}

TEST(CommandGraph, RefusesAPoolOfAnotherDevice) {
  if (Device::count() < 2) GTEST_SKIP() << "one device";
  Device& other = Device::get(device().index() == 0 ? 1 : 0);
  expect_error<ValueError>([&] { CommandGraph(device(), other.allocator().make_pool()); },
                           "expected a pool of " + device().name());
}

TEST(CommandGraph, DrawsAnewAtEachReplay) {
  PhiloxState state{12, 0};
  const auto next = [&] {
    const PhiloxState now = state;
    state.offset += philox_increment(100);
    return now;
  };
  std::vector<Floats> expected;
  const Tensor x = Tensor::empty(device(), {100}), a = Tensor::empty(device(), {100}),
               b = Tensor::empty(device(), {100});
  fill(queue(), x, 1);
  const auto both = [&](PhiloxState first, PhiloxState second) {
    random_normal(queue(), a, 0, 1, first);
    dropout(queue(), x, 0.5, second, b);
  };
  for (int i = 0; i < 3; ++i) {
    const PhiloxState first = next();
    both(first, next());
    expected.push_back(download<float>(a));
    expected.push_back(download<float>(b));
  }
  state = {12, 0};
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    const PhiloxState first = graph.draw(next);
    both(first, graph.draw(next));
  }
  EXPECT_EQ(state.offset, 0u);
  for (std::size_t i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_EQ(download<float>(a), expected[2 * i]);
    EXPECT_EQ(download<float>(b), expected[2 * i + 1]);
  }
}

TEST(CommandGraph, ComesAfterUploadsUnderWay) {
  constexpr std::int64_t count = 1 << 21;
  const Tensor x = Tensor::empty(device(), {count}), out = Tensor::empty(device(), {count});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    twice_and_one(x, out);
  }
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    const Floats values(count, value);
    queue().write(x, values.data(), 4 * count);
    graph.replay();
    EXPECT_EQ(download<float>(out), Floats(count, 2 * value + 1));
  }
}

TEST(CommandGraph, RaisesWhatItsKernelsFind) {
  const Tensor x = floats({1, 2, 3}), out = floats({0});
  const Tensor index = upload(std::vector<std::int64_t>{2}, {1});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    pick(x, index, out);
  }
  graph.replay();
  EXPECT_EQ(download<float>(out), (Floats{3}));
  const std::int64_t beyond = 3;
  queue().write(index, &beyond, sizeof beyond);
  graph.replay();
  expect_error<IndexError>([&] { queue().finish(); }, "3");
  const std::int64_t first = 0;
  queue().write(index, &first, sizeof first);
  graph.replay();
  EXPECT_EQ(download<float>(out), (Floats{1}));
}

TEST(CommandGraph, TellsWhoReadsWhatAnotherThreadsReplaySpoiled) {
  const Tensor x = floats({1, 2, 3}), out = floats({0});
  const Tensor index = upload(std::vector<std::int64_t>{3}, {1});
  CommandGraph graph(device());
  std::promise<void> replayed, was_read;
  std::thread other([&] {
    {
      const CommandGraph::Capture capture(graph);
      pick(x, index, out);
    }
    graph.replay();
    replayed.set_value();
    was_read.get_future().wait();  // of a thread that has ended anybody is told
    expect_error<IndexError>([&] { queue().finish(); }, "3");
  });
  replayed.get_future().wait();
  expect_error<IndexError>([&] { download<float>(out); }, "3");
  was_read.set_value();
  other.join();
}

TEST(CommandGraph, RunsCLBlastAgain) {
  const auto families = implementation_families();
  if (std::any_of(families.begin(), families.end(), [](const ImplementationFamily* family) {
        return family->name() == std::string("gemm") && family->find("clblast") < 0;
      }))
    GTEST_SKIP() << "built without CLBlast";
  const Tensor a = upload(random_floats(64, 1), {8, 8}), b = upload(random_floats(64, 2), {8, 8}),
               c = upload(Floats(64, 0), {8, 8});
  set_implementations("gemm=clblast");
  gemm(queue(), a, b, c);
  const Floats expected = download<float>(c);
  fill(queue(), c, 0);
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    gemm(queue(), a, b, c);
  }
  set_implementations("");
  use_much_memory(4096);
  EXPECT_EQ(download<float>(c), Floats(64, 0));
  graph.replay();
  EXPECT_EQ(download<float>(c), expected);
}

TEST(CommandGraph, LeavesOtherThreadsAlone) {
  const Tensor x = floats({1, 2, 3}), out = floats({0, 0, 0}), mine = floats({0, 0, 0});
  CommandGraph graph(device());
  graph.begin();
  twice_and_one(x, mine);
  std::thread([&] {
    twice_and_one(x, out);
    EXPECT_EQ(download<float>(out), (Floats{3, 5, 7}));
  }).join();
  graph.end();
  EXPECT_GE(graph.size(), 1u);  // two calls, which may be one launch
  EXPECT_EQ(download<float>(mine), (Floats{0, 0, 0}));
}

TEST(CommandGraph, PauseRunsWhatIsMadeOnce) {
  const Tensor x = floats({1, 2, 3}), out = floats({0, 0, 0});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    const CommandGraph::Pause pause;
    twice_and_one(x, out);
  }
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_EQ(download<float>(out), (Floats{3, 5, 7}));
}

TEST(CommandGraph, RefusesWhatCannotBeDoneAgain) {
  const Tensor x = floats({1, 2, 3});
  CommandGraph graph(device()), other(device()), replayed(device());
  {
    const CommandGraph::Capture capture(replayed);
  }
  expect_error<Error>([&] { graph.replay(); }, "nothing has been captured");
  expect_error<Error>([&] { graph.end(); }, "does not capture");
  {
    const CommandGraph::Capture capture(graph);
    expect_error<Error>([&] { download<float>(x); }, "read by the host while commands are captured");
    expect_error<Error>([&] { queue().finish(); }, "waits for the device while commands are captured");
    const float value = 1;
    expect_error<Error>([&] { queue().write(x, &value, 4); },
                        "copied to the device while commands are captured");
    expect_error<Error>([&] { other.begin(); }, "captures already");
    expect_error<Error>([&] { replayed.replay(); }, "while commands are captured");
    expect_error<Error>([&] { other.end(); }, "does not capture");
    std::thread([&] { expect_error<Error>([&] { graph.end(); }, "does not capture"); }).join();
    std::thread([&] { expect_error<Error>([&] { graph.begin(); }, "under way"); }).join();
  }
  expect_error<Error>([&] { graph.begin(); }, "has been captured");
  EXPECT_EQ(download<float>(x), (Floats{1, 2, 3}));
  EXPECT_EQ(graph.size(), 0u);
}

TEST(CommandGraph, ShowsItsOperatorsToProfiles) {
  const Tensor x = floats({1, 2, 3}), out = floats({0, 0, 0});
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    twice_and_one(x, out);
  }
  EXPECT_NE(graph.description().find("add"), std::string::npos) << graph.description();
  queue().start_profiling();
  graph.replay();
  const std::vector<KernelRecord> records = queue().stop_profiling();
  ASSERT_EQ(records.size(), graph.size());
  for (const KernelRecord& record : records)
    EXPECT_EQ(record.operation.rfind("pointwise", 0), 0u)
        << record.operation;  // "pointwise + pointwise" of both
}
