#include <gtest/gtest.h>

#include "dlprim/platform/trusted_path.h"
#include "tests/cpp/runtime/kernel_cache_testing.h"

namespace dlprim {
namespace {

using namespace kernel_cache_testing;

TEST_F(KernelCacheEnvironment, TakesTheFolderOfTheUser) {
  platform::set_environment("LOCALAPPDATA", R"(relative)");
  EXPECT_FALSE(KernelCacheConfig::from_environment().directory);
  platform::set_environment("LOCALAPPDATA", R"(C:\Users\x\AppData\Local)");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, R"(C:\Users\x\AppData\Local\tapecl)");
}

}  // namespace
}  // namespace dlprim
