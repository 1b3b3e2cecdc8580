#include "dlprim/runtime/implementation.h"

#include "dlprim/runtime/device.h"
#include "support/implementations.h"
#include "support/messages.h"
#include "support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

struct Problem {
  int size;
};

std::string ran;

template <int number>
void run(Queue&, const Problem&) {
  ran += std::to_string(number);
}

// The first takes all, the second even sizes at half the cost, the third those from 10 at the first's.
const Implementation<Problem> list[] = {
    {"plain", [](const DeviceInfo&, const Problem&) { return true; },
     [](const DeviceInfo&, const Problem& p) { return static_cast<double>(p.size); }, run<1>},
    {"even", [](const DeviceInfo&, const Problem& p) { return p.size % 2 == 0; },
     [](const DeviceInfo&, const Problem& p) { return p.size / 2.0; }, run<2>},
    {"large", [](const DeviceInfo&, const Problem& p) { return p.size >= 10; },
     [](const DeviceInfo&, const Problem& p) { return static_cast<double>(p.size); }, run<3>}};

const ImplementationList<Problem> implementations("test_family", list);

std::string chosen_for(std::initializer_list<int> sizes) {
  ran.clear();
  for (const int size : sizes) implementations.run(device().queue(), {size});
  return ran;
}

}  // namespace

TEST(Implementation, TheCheapestThatCanRuns) {
  EXPECT_EQ(chosen_for({1, 2, 11, 12}), "1212");
}

TEST(Implementation, OneIsForcedWhereverItCan) {
  const ImplementationsSet set("test_family=large");
  EXPECT_EQ(chosen_for({1, 2, 11, 12}), "1233");
}

TEST(Implementation, OneIsBarred) {
  const ImplementationsSet set("test_family=-even,test_family=-plain");
  EXPECT_EQ(chosen_for({11, 12}), "33");
  expect_error<DeviceError>([] { chosen_for({2}); }, "test_family");
}

TEST(Implementation, WhatIsNotNamedIsFreeAgain) {
  {
    const ImplementationsSet set("test_family=-even");
    set_implementations("");
    EXPECT_EQ(chosen_for({2}), "2");
  }
  EXPECT_EQ(get_implementations(), "");
}

TEST(Implementation, OneThatTheDriverRefusesIsLeftOutWithAWarning) {
  static const Implementation<Problem> refused[] = {
      {"refused", [](const DeviceInfo&, const Problem&) { return true; },
       [](const DeviceInfo&, const Problem&) { return 0.0; },
       [](Queue&, const Problem&) {
         ran += "x";
         throw RefusedKernelError("no such instruction");
       }},
      list[0]};
  static const ImplementationList<Problem> with_refused("test_refused", refused);
  const ImplementationsSet set("test_refused=refused");
  ran.clear();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) with_refused.run(device().queue(), {i});
  EXPECT_EQ(ran, "x11");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "tapecl: warning: test_refused goes on without its implementation refused: no such instruction\n");
}

TEST(Implementation, UnknownNamesAreRefusedAndChangeNothing) {
  const ImplementationsSet set("test_family=large");
  for (const char* wrong : {"no_family=plain", "test_family=none", "test_family", "test_family=", "=plain"})
    EXPECT_THROW(set_implementations(wrong), ValueError) << wrong;
  expect_error<ValueError>([] { set_implementations("test_family=none"); }, "plain even large");
  EXPECT_EQ(get_implementations(), "test_family=large");
  EXPECT_EQ(chosen_for({12}), "3");
}

TEST(Implementation, ListenersHearOfTheChoiceAndItsReasons) {
  struct Listener final : CallListener {
    std::string heard;
    void enter(const Call&) override {}
    void chose(const ChosenImplementation& chosen, const std::string& reasons) override {
      heard += concat(chosen.family, "/", chosen.name, ": ", reasons);
    }
  } listener;
  {
    const Listening listening(listener);
    chosen_for({4});
  }
  EXPECT_EQ(listener.heard, "test_family/even: plain 4, even 2, large cannot");
}

namespace {

/** A problem that runs another inside. */
template <bool is_product>
struct Around {
  template <bool counts = is_product, class = std::enable_if_t<counts>>
  double multiply_adds() const {
    return 100;
  }
};
struct Inside {
  double multiply_adds() const { return 7; }
};

const Implementation<Inside> inside_list[] = {{"only", [](const DeviceInfo&, const Inside&) { return true; },
                                               [](const DeviceInfo&, const Inside&) { return 1.0; },
                                               [](Queue&, const Inside&) {}}};
const ImplementationList<Inside> inside("test_inside", inside_list);

template <bool is_product>
double multiply_adds_told_of(const char* family) {
  using Outer = Around<is_product>;
  static const Implementation<Outer> outer_list[] = {
      {"only", [](const DeviceInfo&, const Outer&) { return true; },
       [](const DeviceInfo&, const Outer&) { return 1.0; },
       [](Queue& queue, const Outer&) { inside.run(queue, {}); }}};
  static const ImplementationList<Outer> around(family, outer_list);
  struct Listener final : CallListener {
    double sum = 0;
    void enter(const Call&) override {}
    void chose(const ChosenImplementation& chosen, const std::string&) override {
      sum += chosen.multiply_adds;
    }
  } listener;
  const Listening listening(listener);
  around.run(device().queue(), {});
  return listener.sum;
}

}  // namespace

TEST(Implementation, MultiplyAddsAreToldOnce) {
  EXPECT_EQ(multiply_adds_told_of<true>("test_product_around"), 100);
  EXPECT_EQ(multiply_adds_told_of<false>("test_around"), 7);
}

TEST(Implementation, LaunchesAreProfiledUnderTheirImplementation) {
  struct Fill {
    static void run(Queue& queue, const Problem& p) { queue.zero(queue.scratch({p.size})); }
  };
  static const Implementation<Problem> filling[] = {
      {"zeros", list[0].can_take, list[0].expected_cost, Fill::run}};
  static const ImplementationList<Problem> fills("test_fills", filling);
  Device::start_profiling();
  fills.run(device().queue(), {1000});
  device().queue().zero(device().queue().scratch({1000}));
  std::vector<std::string> names;
  for (const auto& [where, records] : Device::stop_profiling())
    for (const KernelRecord& record : records) names.push_back(record.implementation);
  EXPECT_EQ(names, (std::vector<std::string>{"test_fills: zeros", ""}));
}
