#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dlprim/core/error.h"
#include "dlprim/platform/process.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/sqlite.h"

/** The common part of the tests of the kernel cache: binaries to store, a folder and its raw database. */
namespace dlprim::kernel_cache_testing {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

inline constexpr std::uint64_t kLarge = 1 << 30;
/** For many processes at once on a machine that is busy with other work too. */
inline constexpr milliseconds kMuchPatience{60000};

/** The binary that a test stores under `key`: a pattern that depends on all of the key. */
inline CachedBinary binary_for(const std::string& key, std::size_t bytes = 20000) {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(key)));
  CachedBinary binary{std::vector<unsigned char>(bytes), "variants of " + key};
  for (auto& byte : binary.bytes) byte = static_cast<unsigned char>(random());
  return binary;
}

inline void store(KernelCache& cache, const std::string& key, std::size_t bytes = 20000) {
  cache.store(key, "label of " + key, "a device", binary_for(key, bytes));
}

enum class Found { nothing, right, wrong };

inline Found find(KernelCache& cache, const std::string& key, std::size_t bytes = 20000) {
  const auto found = cache.find(key);
  if (!found) return Found::nothing;
  const auto expected = binary_for(key, bytes);
  return found->bytes == expected.bytes && found->variants == expected.variants ? Found::right : Found::wrong;
}

inline std::ptrdiff_t warnings(const std::string& stderr_text) {
  return std::count(stderr_text.begin(), stderr_text.end(), '\n');
}

class KernelCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = platform::make_temporary_folder("kernel_cache_test.");
    constexpr auto others_may_read =
        fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;
    fs::permissions(directory_, fs::perms::owner_all | others_may_read);
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path file() const { return directory_ / "kernels.sqlite3"; }

  void sql(const std::string& statements) const {
    sqlite::Database database(file(), sqlite::Database::Access::read_write);
    database.set_busy_timeout(milliseconds(3000));
    database.execute(statements.c_str());
  }

  std::string query(const char* statement) const {
    sqlite::Database database(file(), sqlite::Database::Access::read_write);
    return database.query_text(statement);
  }

  void back_date(const std::string& key, int hours) const {
    sql(concat("UPDATE entries SET last_used = last_used - ", hours, " * 3600000000 WHERE key = '", key,
               "'"));
  }

  std::string last_used(const std::string& key) const {
    return query(concat("SELECT last_used FROM entries WHERE key = '", key, "'").c_str());
  }

  void expect_sound() const {
    EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(KernelCache(directory_, kLarge).verify(), std::vector<std::string>());
  }

  fs::path directory_;
};

/** Without the variables that say where the cache is. */
class KernelCacheEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OCL_KERNEL_CACHE", "OCL_KERNEL_CACHE_MAX_MB", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"}) {
      saved_.emplace_back(name, platform::environment(name));
      platform::set_environment(name, std::nullopt);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) platform::set_environment(name, value);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

}  // namespace dlprim::kernel_cache_testing
