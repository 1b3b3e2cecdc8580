#include "dlprim/runtime/barred_implementations.h"

#include <gtest/gtest.h>

#include <limits>

#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/kernel_cache.h"
#include "support/implementations.h"
#include "support/messages.h"
#include "support/tables_of_the_cache.h"
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

bool always(const DeviceInfo&, const Problem&) {
  return true;
}

template <int cost>
double costs(const DeviceInfo&, const Problem&) {
  return cost;
}

const Implementation<Problem> list[] = {{"quick", always, costs<1>, run<1>},
                                        {"slow", always, costs<2>, run<2>}};
const ImplementationList<Problem> implementations("test_barred", list);

std::string chosen() {
  ran.clear();
  implementations.run(device().queue(), {1});
  return ran;
}

/** Bars of the device under test, which has its own again afterwards. */
class Barred : public TablesOfTheCache {
 protected:
  void SetUp() override {
    before_ = barred().list();
    barred().unbar();
  }
  void TearDown() override {
    barred().unbar();
    for (const BarredImplementation& each : before_) barred().bar(each);
  }
  static BarredImplementations& barred() { return *device().info().barred; }
  /** The view of another process. */
  static BarredImplementations of_driver(const std::string& driver) { return {device().info().name, driver}; }

 private:
  std::vector<BarredImplementation> before_;
};

}  // namespace

TEST_F(Barred, AnotherRunsFromThenOn) {
  EXPECT_EQ(chosen(), "1");
  barred().bar({"test_barred", "quick", "wrong"});
  EXPECT_EQ(chosen(), "2");
  EXPECT_EQ(implementations.least_cost(device().info(), {1}), 2);
  barred().unbar();
  EXPECT_EQ(chosen(), "1");
}

TEST_F(Barred, WhatIsForcedRunsAllTheSame) {
  barred().bar({"test_barred", "quick", "wrong"});
  const ImplementationsSet set("test_barred=quick");
  EXPECT_EQ(chosen(), "1");
}

TEST_F(Barred, ADescriptionWithoutBarsHasAll) {
  barred().bar({"test_barred", "quick", "wrong"});
  EXPECT_EQ(implementations.least_cost(DeviceInfo{}, {1}), 1);
}

TEST_F(Barred, TheErrorNamesThemWhereNoneIsLeft) {
  barred().bar({"test_barred", "quick", "wrong"});
  barred().bar({"test_barred", "slow", "wrong"});
  expect_error<DeviceError>([] { chosen(); }, "barred for this device as faulty: quick, slow");
  EXPECT_EQ(implementations.least_cost(device().info(), {1}), std::numeric_limits<double>::infinity());
}

TEST_F(Barred, AreKeptByDeviceAndDriver) {
  barred().bar({"test_barred", "slow", "first"});
  barred().bar({"test_barred", "slow", "wrong"});
  const auto kept = of_driver(device().info().driver_version).list();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].family, "test_barred");
  EXPECT_EQ(kept[0].implementation, "slow");
  EXPECT_EQ(kept[0].reason, "wrong");
  EXPECT_TRUE(of_driver("another").list().empty());
}

TEST_F(Barred, NamesThatAreNoneAreRefused) {
  expect_error<ValueError>([] { barred().bar({"test_none", "quick", ""}); }, "test_none");
  expect_error<ValueError>([] { barred().bar({"test_barred", "none", ""}); }, "quick slow");
  EXPECT_TRUE(barred().list().empty());
}

TEST_F(Barred, NamesOfAnotherVersionArePassedOver) {
  const DeviceInfo& info = device().info();
  KernelCache::global().store_barred(info.name, "of this test", {"test_barred", "removed", "wrong"});
  BarredImplementations older(info.name, "of this test");
  EXPECT_EQ(older.of(implementations), 0U);
  EXPECT_EQ(older.list().size(), 1U);
  older.unbar();
}

TEST(BarredWithoutCache, CannotBeKept) {
  KernelCache off(std::nullopt, 0);
  expect_error<FileError>([&] { off.store_barred("device", "driver", {"gemm", "clblast", "wrong"}); },
                          "is off (OCL_KERNEL_CACHE)");
  EXPECT_TRUE(off.barred("device", "driver").empty());
}
