#include "dlprim/runtime/measured_choices.h"

#include <chrono>
#include <thread>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/kernel_cache.h"
#include "support/implementations.h"
#include "support/tables_of_the_cache.h"
#include "support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

struct Problem {
  int size;
  bool repeats = true;

  std::optional<ProblemKey> key() const {
    return repeats ? std::optional(ProblemKey(size, -1)) : std::nullopt;
  }
};

std::string ran;

template <int milliseconds>
void run(Queue&, const Problem&) {
  ran += std::to_string(milliseconds) + " ";
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}
template <int cost>
double costs(const DeviceInfo&, const Problem&) {
  return cost;
}
bool takes_all(const DeviceInfo&, const Problem&) {
  return true;
}

// The cheapest by what is expected is not the fastest; the dear one would be, but is not tried. They are so
// far apart that other work on the processor does not change their order.
const Implementation<Problem> list[] = {
    {"expected", takes_all, costs<1>, run<60>},
    {"fast", takes_all, costs<4>, run<3>},
    {"even", [](const DeviceInfo&, const Problem& p) { return p.size % 2 == 0; }, costs<5>, run<30>},
    {"dear", takes_all, costs<1000>, run<2>},
    {"no_memory", takes_all, costs<2>,
     [](Queue&, const Problem&) { throw OutOfMemoryError("no scratch memory", 1); }}};
const ImplementationList<Problem> measured_family("test_measured", list);

std::string run_of(const Problem& problem) {
  ran.clear();
  measured_family.run(queue(), problem);
  return ran;
}

/** Measurements made inside are forgotten. */
class MeasuredChoicesTest : public TablesOfTheCache {
 protected:
  void SetUp() override {
    if (KernelCache::global().info().path.empty())
      GTEST_SKIP() << "the kernel cache, which keeps what was measured, is off";
    before_ = choices().measured();
    choices().forget();
  }
  void TearDown() override {
    measures_choices = false;
    choices().forget();
    for (const MeasuredChoice& choice : before_)
      choices().keep(*ProblemKey::from_text(choice.problem), choice);
  }

  static MeasuredChoices& choices() { return device().measured_choices(); }
  static void measure(const Problem& problem) {
    measures_choices = true;
    run_of(problem);
    measures_choices = false;
  }

 private:
  std::vector<MeasuredChoice> before_;
};

}  // namespace

TEST(ProblemKeyText, IsReadBackAsItWasWritten) {
  const ProblemKey key(3, -4, true, 1LL << 40);
  EXPECT_EQ(key.text(), "3 -4 1 1099511627776");
  ASSERT_TRUE(ProblemKey::from_text(key.text()).has_value());
  EXPECT_TRUE(*ProblemKey::from_text(key.text()) == key);
  EXPECT_EQ(ProblemKey::from_text(key.text())->hash(), key.hash());
  EXPECT_FALSE(*ProblemKey::from_text("3 -4 1") == key);
  EXPECT_NE(ProblemKey(1, 0).hash(), ProblemKey(0, 1).hash());
  for (const char* wrong :
       {"1 a", "a", "1  2", "1 2 ", "01", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21"})
    EXPECT_FALSE(ProblemKey::from_text(wrong).has_value()) << wrong;
}

TEST_F(MeasuredChoicesTest, TheFastestRunsOnceItIsMeasured) {
  EXPECT_EQ(run_of({3}), "60 ");
  measure({3});
  EXPECT_EQ(run_of({3}), "3 ");
  EXPECT_EQ(run_of({5}), "60 ") << "of another size nothing is known";
  const std::vector<MeasuredChoice> measured = choices().measured();
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].family, "test_measured");
  EXPECT_EQ(measured[0].problem, "3 -1");
  EXPECT_EQ(measured[0].implementation, "fast");
  EXPECT_EQ(measured[0].expected, "expected");
  EXPECT_GE(measured[0].seconds, 0.003);
  EXPECT_GE(measured[0].expected_seconds, 0.060);
  EXPECT_LT(measured[0].seconds, measured[0].expected_seconds);
}

TEST_F(MeasuredChoicesTest, IsMeasuredOnce) {
  measure({3});
  measures_choices = true;
  EXPECT_EQ(run_of({3}), "3 ");
}

TEST_F(MeasuredChoicesTest, WhatForcesAndBarsGoesBefore) {
  measure({4});
  {
    const ImplementationsSet set("test_measured=even");
    EXPECT_EQ(run_of({4}), "30 ");
  }
  const ImplementationsSet set("test_measured=-fast");
  EXPECT_EQ(run_of({4}), "60 ");
}

TEST_F(MeasuredChoicesTest, AProblemThatASecondRunWouldChangeIsNotMeasured) {
  measure({3});
  measures_choices = true;
  EXPECT_EQ(run_of({3, false}), "60 ");
  EXPECT_EQ(choices().measured().size(), 1U);
}

TEST_F(MeasuredChoicesTest, WhatThereIsNoMoreOrCannotIsPassedOver) {
  choices().keep(ProblemKey(3, -1), {"test_measured", "3 -1", "removed", 1, "expected", 1});
  EXPECT_EQ(run_of({3}), "60 ");
  choices().keep(ProblemKey(3, -1), {"test_measured", "3 -1", "even", 1, "expected", 1});
  EXPECT_EQ(run_of({3}), "60 ");
}

TEST_F(MeasuredChoicesTest, AreThereForAnotherObjectOfTheSameDevice) {
  measure({3});
  MeasuredChoices other(device().info());
  EXPECT_EQ(other.find(measured_family, ProblemKey(3, -1)), 1);
  EXPECT_EQ(other.find(measured_family, ProblemKey(5, -1)), -1);
  other.forget();
  EXPECT_EQ(other.find(measured_family, ProblemKey(3, -1)), -1);
}

TEST_F(MeasuredChoicesTest, TheReasonsTellOfThem) {
  measure({3});
  struct Listener final : CallListener {
    std::string heard;
    void enter(const Call&) override {}
    void chose(const ChosenImplementation& chosen, const std::string& reasons) override {
      heard += concat(chosen.name, ": ", reasons);
    }
  } listener;
  {
    const Listening listening(listener);
    run_of({3});
  }
  EXPECT_EQ(listener.heard, "fast: expected 1, fast measured best 4, even cannot, dear 1000, no_memory 2");
}
