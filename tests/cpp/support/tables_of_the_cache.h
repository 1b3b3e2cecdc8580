#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "dlprim/runtime/kernel_cache.h"

namespace testing_support {

/** Tests that empty what the kernel cache keeps of a device, but for its binaries. All processes of a user
 * share it, and the tests run as several: one such test runs at a time. */
class TablesOfTheCache : public testing::Test {
 protected:
  TablesOfTheCache() {
    const std::string path = dlprim::KernelCache::global().info().path;
    if (path.empty()) return;
    lock_ = open((path + ".tests").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    EXPECT_EQ(flock(lock_, LOCK_EX), 0) << "no lock beside " << path;
  }
  ~TablesOfTheCache() override {
    if (lock_ >= 0) close(lock_);
  }

 private:
  int lock_ = -1;
};

}  // namespace testing_support
