#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dlprim/core/error.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/sqlite.h"

/** The common part of the tests of the kernel cache: binaries to store, child processes, a folder and its raw
 * database. */
namespace dlprim::kernel_cache_testing {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

inline constexpr std::uint64_t kLarge = 1 << 30;
/** For many processes at once on a machine that is busy with other work too. */
inline constexpr milliseconds kMuchPatience{60000};
inline constexpr uid_t kNobody = 65534;

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

/** Runs `body` in a forked process; true when it returned true. */
inline pid_t start_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child;
}

inline bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline bool in_child(const std::function<bool()>& body) {
  return succeeded(start_child(body));
}

/** Starts `count` children that wait for each other, then run `body(index)`; true when all returned true. */
inline bool all_at_once(int count, const std::function<bool(int)>& body) {
  int gate[2];
  if (pipe(gate) != 0) return false;
  std::vector<pid_t> children;
  for (int index = 0; index < count; ++index) {
    children.push_back(start_child([&] {
      close(gate[1]);
      char byte;
      static_cast<void>(!read(gate[0], &byte, 1));
      return body(index);
    }));
  }
  close(gate[0]);
  close(gate[1]);
  bool all = true;
  for (const pid_t child : children) all = succeeded(child) && all;
  return all;
}

class KernelCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kernel_cache_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    chmod(name.c_str(), 0755);
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

  /** Overwrites the file from another process, so that no lock of this one is lost by closing it. */
  void overwrite(const fs::path& path, std::uintmax_t offset, const std::string& bytes) const {
    ASSERT_TRUE(in_child([&] {
      const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
      return pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
             static_cast<ssize_t>(bytes.size());
    }));
  }

  void expect_sound() const {
    EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(KernelCache(directory_, kLarge).verify(), std::vector<std::string>());
  }

  fs::path directory_;
};

}  // namespace dlprim::kernel_cache_testing
