#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "dlprim/platform/files.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/kernel_cache_file.h"

namespace testing_support {

/** Tests that empty what the kernel cache keeps of a device, but for its binaries. All processes of a user
 * share it, and the tests run as several: one such test runs at a time. */
class TablesOfTheCache : public testing::Test {
 protected:
  TablesOfTheCache() {
    const std::string path = dlprim::KernelCache::global().info().path;
    if (path.empty()) return;
    const std::filesystem::path folder = path + ".testing";
    dlprim::platform::make_private_folder(folder);
    EXPECT_TRUE(std::filesystem::is_directory(folder)) << "no lock beside " << path;
    lock_.emplace(folder, std::chrono::hours(1));
    lock_->make_exclusive();
  }

 private:
  std::optional<dlprim::DirectoryLock> lock_;
};

}  // namespace testing_support
