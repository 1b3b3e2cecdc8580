#include "dlprim/runtime/kernel_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <limits>
#include <thread>

#include "dlprim/platform/trusted_path.h"
#include "tests/cpp/runtime/kernel_cache_testing.h"

namespace dlprim {
namespace {

using namespace kernel_cache_testing;

using KernelCacheUse = KernelCacheTest;

TEST_F(KernelCacheUse, KeepsWhatIsStoredForTheNextProcess) {
  {
    KernelCache cache(directory_ / "new" / "folder", kLarge);
    EXPECT_EQ(find(cache, "a"), Found::nothing);
    store(cache, "a");
    cache.store("empty", "", "", CachedBinary{});
    EXPECT_EQ(find(cache, "a"), Found::right);
    const auto info = cache.info();
    EXPECT_EQ(fs::path(info.path), directory_ / "new/folder/kernels.sqlite3");
    EXPECT_EQ(info.entries, 2u);
    EXPECT_EQ(info.bytes, 20000u);
    EXPECT_EQ(info.hits, 1u);
    EXPECT_EQ(info.misses, 1u);
  }
  EXPECT_EQ(distrust_of_directory(directory_ / "new" / "folder"), "");
  KernelCache cache(directory_ / "new" / "folder", kLarge);
  EXPECT_EQ(find(cache, "a"), Found::right);
  ASSERT_TRUE(cache.find("empty"));
  EXPECT_TRUE(cache.find("empty")->bytes.empty());
  EXPECT_EQ(cache.info().hits, 3u);
}

TEST_F(KernelCacheUse, ReplacesForgetsListsAndClears) {
  KernelCache cache(directory_, kLarge);
  cache.store("a", "old", "old", {{1, 2, 3}, "v1"});
  cache.store("a", "conv", "GPU", {{4, 5}, "v2"});
  store(cache, "b", 10);
  const auto found = cache.find("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, (std::vector<unsigned char>{4, 5}));
  EXPECT_EQ(found->variants, "v2");
  EXPECT_EQ(query("SELECT count(*) FROM blobs"), "2");

  const auto entries = cache.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, "b");
  EXPECT_EQ(entries[1].key, "a");
  EXPECT_EQ(entries[1].label, "conv");
  EXPECT_EQ(entries[1].device, "GPU");
  EXPECT_EQ(entries[1].bytes, 2u);
  EXPECT_LT(std::chrono::system_clock::now() - entries[1].last_used, std::chrono::minutes(1));

  cache.forget("a");
  EXPECT_FALSE(cache.find("a"));
  EXPECT_EQ(query("SELECT count(*) FROM blobs"), "1");
  cache.clear();
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(cache.info().entries, 0u);
  store(cache, "b");
  EXPECT_EQ(find(cache, "b"), Found::right);
}

TEST_F(KernelCacheUse, CountsBuilds) {
  KernelCache cache(directory_, kLarge);
  cache.note_built(0.5);
  cache.note_built(0.25);
  EXPECT_EQ(cache.info().built, 2u);
  EXPECT_EQ(cache.info().build_seconds, 0.75);
}

TEST_F(KernelCacheUse, EvictsTheLeastRecentlyUsed) {
  KernelCache cache(directory_, 3000);
  for (const char* key : {"a", "b", "c"}) store(cache, key, 1000);
  back_date("a", 5);
  back_date("b", 4);
  back_date("c", 3);
  EXPECT_EQ(find(cache, "a", 1000), Found::right);  // now the most recent
  store(cache, "d", 1000);
  EXPECT_EQ(find(cache, "b", 1000), Found::nothing);
  EXPECT_EQ(find(cache, "a", 1000), Found::right);
  store(cache, "e", 2000);
  const auto left = cache.list();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].key, "e");
  EXPECT_EQ(left[1].key, "d");
  EXPECT_EQ(cache.info().bytes, 3000u);
  store(cache, "e", 3000);  // replacing counts the old size as free
  EXPECT_EQ(find(cache, "e", 3000), Found::right);
}

TEST_F(KernelCacheUse, DoesNotStoreWhatIsLargerThanTheLimit) {
  KernelCache cache(directory_, 3000);
  store(cache, "a", 1000);
  CaptureStderr();
  store(cache, "b", 3001);
  store(cache, "c", 3001);
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
  EXPECT_EQ(find(cache, "b"), Found::nothing);
  EXPECT_EQ(find(cache, "a", 1000), Found::right);
}

TEST_F(KernelCacheUse, WritesTheTimeOfUseOnlyOnceAnHour) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  sql("UPDATE entries SET last_used = last_used - 3000000000");  // 50 minutes
  const std::string before = last_used("a");
  EXPECT_EQ(find(cache, "a"), Found::right);
  EXPECT_EQ(last_used("a"), before);
  back_date("a", 1);
  EXPECT_EQ(find(cache, "a"), Found::right);
  EXPECT_GT(std::stoll(last_used("a")), std::stoll(before));
}

/** Processor time, which other processes' work does not add to. */
double seconds_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST_F(KernelCacheUse, OpensWithinFiveMilliseconds) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer makes it slower";
#endif
  {
    KernelCache cache(directory_, kLarge);
    for (int i = 0; i < 50; ++i) store(cache, concat("key", i), 100000);
  }
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 10; ++i) {
    KernelCache cache(directory_, kLarge);
    const double start = seconds_of_this_thread();
    ASSERT_TRUE(cache.find("key7"));
    best = std::min(best, seconds_of_this_thread() - start);
  }
  RecordProperty("microseconds", static_cast<int>(best * 1e6));
  EXPECT_LT(best, 5e-3);
}

TEST_F(KernelCacheUse, ServesManyThreads) {
  KernelCache cache(directory_, kLarge, kMuchPatience);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        store(cache, concat(t, "/", i), 3000);
        EXPECT_EQ(find(cache, concat(t, "/", i), 3000), Found::right);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.info().entries, 160u);
  EXPECT_EQ(cache.info().hits, 160u);
}

TEST_F(KernelCacheUse, OffDoesNothing) {
  KernelCache cache(std::nullopt, kLarge);
  store(cache, "a");
  EXPECT_FALSE(cache.find("a"));
  cache.forget("a");
  cache.note_built(1.0);
  const auto info = cache.info();
  EXPECT_EQ(info.path, "");
  EXPECT_EQ(info.misses, 1u);
  EXPECT_EQ(info.built, 1u);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_TRUE(cache.verify().empty());
  EXPECT_TRUE(cache.repair().empty());
  cache.clear();
}

TEST_F(KernelCacheEnvironment, ChoosesTheDirectory) {
  CaptureStderr();
  EXPECT_FALSE(KernelCacheConfig::from_environment().directory);
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
  EXPECT_EQ(KernelCacheConfig::from_environment().file(), "");
  platform::set_environment("OCL_KERNEL_CACHE", "/chosen");
  EXPECT_EQ(KernelCacheConfig::from_environment().directory, "/chosen");
  EXPECT_EQ(KernelCacheConfig::from_environment().file(), "/chosen/kernels.sqlite3");
  platform::set_environment("OCL_KERNEL_CACHE", "off");
  EXPECT_FALSE(KernelCacheConfig::from_environment().directory);
}

TEST_F(KernelCacheEnvironment, ChoosesTheLimit) {
  platform::set_environment("OCL_KERNEL_CACHE", "off");
  EXPECT_EQ(KernelCacheConfig::from_environment().max_bytes, 512ull << 20);
  platform::set_environment("OCL_KERNEL_CACHE_MAX_MB", "7");
  EXPECT_EQ(KernelCacheConfig::from_environment().max_bytes, 7ull << 20);
  for (const char* malformed :
       {"7MB", "-1", "x", " 7", "1.5", "99999999999999999999", "9223372036854775807"}) {
    platform::set_environment("OCL_KERNEL_CACHE_MAX_MB", malformed);
    CaptureStderr();
    EXPECT_EQ(KernelCacheConfig::from_environment().max_bytes, 512ull << 20) << malformed;
    EXPECT_EQ(KernelCacheConfig::from_environment().max_bytes, 512ull << 20) << malformed;
    EXPECT_EQ(warnings(GetCapturedStderr()), 1) << malformed;
  }
}

[[noreturn]] void use_global_cache_and_exit(const fs::path& file) {
  store(KernelCache::global(), "a");
  const bool followed =
      fs::exists(file.string() + "-wal") && KernelCache::global().info().path == file.string();
  std::exit(followed && find(KernelCache::global(), "a") == Found::right ? 0 : 1);
}

TEST_F(KernelCacheEnvironment, GlobalFollowsItAndLeavesATidyFileAtExit) {
  // global() is configured once a process, and other tests have used it: a death test of this style starts
  // the program anew.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const fs::path directory =
      fs::temp_directory_path() / ("kernel_cache_test." + std::to_string(platform::process_id()));
  const auto inherited = platform::environment("KERNEL_CACHE_TEST_DIRECTORY");
  const fs::path file = (inherited ? fs::path(*inherited) : directory) / "kernels.sqlite3";
  platform::set_environment("KERNEL_CACHE_TEST_DIRECTORY", file.parent_path().u8string());
  platform::set_environment("OCL_KERNEL_CACHE", file.parent_path().u8string());
  EXPECT_EXIT(use_global_cache_and_exit(file), testing::ExitedWithCode(0), "");
  platform::set_environment("KERNEL_CACHE_TEST_DIRECTORY", std::nullopt);
  EXPECT_FALSE(fs::exists(file.string() + "-wal"));
  {
    KernelCache cache(directory, kLarge);
    EXPECT_EQ(find(cache, "a"), Found::right);
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace dlprim
