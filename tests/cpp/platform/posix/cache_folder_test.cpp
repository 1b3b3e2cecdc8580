#include <gtest/gtest.h>

#include "tests/cpp/runtime/kernel_cache_testing.h"

namespace dlprim {
namespace {

using namespace kernel_cache_testing;

TEST_F(KernelCacheEnvironment, TakesTheFolderOfTheUser) {
  platform::set_environment("HOME", "/home/x");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, "/home/x/.cache/tapecl");
  EXPECT_EQ(KernelCacheConfig::from_environment().file(), "/home/x/.cache/tapecl/kernels.sqlite3");
  platform::set_environment("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, "/home/x/.cache/tapecl");
  platform::set_environment("XDG_CACHE_HOME", "");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, "/home/x/.cache/tapecl");
  platform::set_environment("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, "/xdg/tapecl");
}

}  // namespace
}  // namespace dlprim
