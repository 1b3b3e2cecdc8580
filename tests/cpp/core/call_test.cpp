#include "dlprim/core/call.h"

#include <gtest/gtest.h>

#include "dlprim/core/recorder.h"
#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/ops/softmax/softmax.h"
#include "support/tensors.h"

namespace {

using namespace dlprim;
using namespace testing_support;

/** Writes down what it hears. */
struct Diary : CallListener {
  struct Line {
    std::string name;
    int depth;
    std::vector<Argument> arguments;
  };
  std::vector<Line> entered;
  std::vector<std::string> left, escapes;

  void enter(const Call& call) override { entered.push_back({call.name, call.depth, call.arguments()}); }
  void leave(const Call& call) override { left.emplace_back(call.name); }
  void escaped(const char* command) override { escapes.emplace_back(command); }
};

TEST(Calls, ArgumentsAreNamedTypedValues) {
  Diary diary;
  const Tensor x = upload<float>({1, 2, 3, 4}, {1, 1, 2, 2}), y = Tensor::empty(device(), {1, 1, 1, 1});
  {
    const Listening listening(diary);
    avg_pool2d_forward(queue(), x, {{2, 2}, {1, 1}}, {false, 7}, y);
  }
  avg_pool2d_forward(queue(), x, {{2, 2}, {1, 1}}, {}, y);  // nobody listens any more
  ASSERT_EQ(diary.entered.size(), 1u);
  const auto& [name, depth, arguments] = diary.entered[0];
  EXPECT_EQ(name, "avg_pool2d_forward");
  EXPECT_EQ(depth, 0);
  ASSERT_EQ(arguments.size(), 4u);
  EXPECT_EQ(arguments[0].name, "x");
  EXPECT_EQ(std::get<Tensor>(arguments[0].value).storage, x.storage);
  EXPECT_EQ(arguments[1].name, "geometry");
  const auto& geometry = std::get<std::vector<Argument>>(arguments[1].value);
  EXPECT_EQ(geometry[0].name, "kernel");
  EXPECT_EQ(std::get<std::int64_t>(std::get<std::vector<Argument>>(geometry[0].value)[1].value), 2);
  EXPECT_EQ(geometry[4].name, "ceil_mode");
  EXPECT_EQ(std::get<bool>(geometry[4].value), false);
  const auto& divisor = std::get<std::vector<Argument>>(arguments[2].value);
  EXPECT_EQ(std::get<std::int64_t>(divisor[1].value), 7);
  EXPECT_EQ(tensors_in(arguments).size(), 2u);
}

TEST(Calls, WithinOthersAreDeeperAndAllAreLeft) {
  Diary diary;
  const Tensor x = upload<float>({1, 2, 3, 4}, {2, 2}), mean = Tensor::empty(device(), {2}),
               y = Tensor::empty(device(), {2});
  const Listening listening(diary);
  variance(queue(), x, 2, 1, mean, y);
  ASSERT_GT(diary.entered.size(), 1u);
  EXPECT_EQ(diary.entered[0].depth, 0);
  EXPECT_EQ(diary.entered[1].depth, 1);
  EXPECT_EQ(diary.left.size(), diary.entered.size());
  EXPECT_EQ(diary.left.back(), "variance");
  const Tensor wrong = Tensor::empty(device(), {3});
  EXPECT_THROW(softmax_forward(queue(), x, 0, wrong), ValueError);
  EXPECT_EQ(diary.left.back(), "softmax_forward");
  EXPECT_EQ(diary.left.size(), diary.entered.size());
  EXPECT_TRUE(diary.escapes.empty());
}

TEST(Calls, CommandsOutsideOfPrimitivesEscape) {
  Diary diary;
  const Tensor x = Tensor::empty(device(), {4});
  const Listening listening(diary);
  random_uniform(queue(), x, 0, 1, {});
  EXPECT_TRUE(diary.escapes.empty());
  queue().zero(x);
  EXPECT_EQ(diary.escapes, std::vector<std::string>{"zero"});
}

struct Refusal : CallListener {
  void enter(const Call& call) override {
    if (call.name == std::string("softmax_forward")) throw ValueError("no");
  }
};

TEST(Calls, AListenerMayRefuse) {
  const Tensor x = upload<float>({1, 2}, {2}), y = Tensor::empty(device(), {2});
  Refusal refusal;
  {
    const Listening listening(refusal);
    EXPECT_THROW(softmax_forward(queue(), x, 0, y), ValueError);
  }
  EXPECT_EQ(call_state.depth, 0);
  EXPECT_EQ(call_state.primitives, 0);
  EXPECT_EQ(call_state.operation, nullptr);
  softmax_forward(queue(), x, 0, y);
}

TEST(Calls, ErrorsNameTheOperatorOnce) {
  const CallScope entered("conv9d", Call::Kind::operation, "x", 1);
  EXPECT_STREQ(ValueError("bad shape").what(), "conv9d: bad shape");
  EXPECT_STREQ(ValueError("conv9d: bad shape").what(), "conv9d: bad shape");
  EXPECT_STREQ(ValueError("conv9de: bad shape").what(), "conv9d: conv9de: bad shape");
  EXPECT_STREQ(OutOfMemoryError("no room", 8).what(), "conv9d: no room");
}

TEST(Calls, NamesSplitAtTheirOwnCommas) {
  EXPECT_EQ(split_names("a, f(b, c), *this, d"), (std::vector<std::string>{"a", "f(b,c)", "self", "d"}));
}

TEST(Recorder, RepeatsCallsOnOtherMemory) {
  Recorder recorder;
  const Tensor x = upload<float>({3, 1, 2, 5, 4, 6}, {2, 3}), y = Tensor::empty(device(), {2, 3}),
               sums = Tensor::empty(device(), {2});
  softmax_forward(queue(), x, 1, y);
  reduce(queue(), reduction("sum"), y, 2, sums);
  recorder.stop();
  EXPECT_EQ(recorder.escapes(), std::vector<std::string>{"write"});  // the test's own upload
  EXPECT_EQ(recorder.calls().size(), 2u);
  softmax_forward(queue(), y, 1, y);  // what was written since does not count

  const Tensor other = upload<float>({0, 0, 0, 1, 1, 1}, {2, 3});
  MemoryMap memory([](const Tensor& original) {
    const auto bytes = static_cast<std::int64_t>(original.storage->bytes());
    return Tensor::empty(device(), {bytes}, DType::uint8).storage;
  });
  memory.put(x, other);
  recorder.replay(queue(), memory);
  EXPECT_NE(memory.of(y).storage, y.storage);
  expect_close(download<float>(memory.of(y)), std::vector<float>(6, 1.0F / 3), 1e-6, 0);
  expect_close(download<float>(memory.of(sums)), std::vector<float>(2, 1), 1e-6, 0);
}

}  // namespace
