#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "tests/cpp/runtime/kernel_cache_processes.h"

namespace dlprim {
namespace {

using namespace kernel_cache_testing;

using KernelCacheFailure = KernelCacheProcessTest;
using KernelCacheDamage = KernelCacheProcessTest;
using KernelCacheProcesses = KernelCacheProcessTest;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string noise(std::size_t bytes) {
  const auto binary = binary_for("noise", bytes);
  return {binary.bytes.begin(), binary.bytes.end()};
}

/** The process's standard error goes to `path` from here on. */
void redirect_stderr(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(descriptor, STDERR_FILENO);
  close(descriptor);
}

// ---- directories and files that cannot be used ----

TEST_F(KernelCacheFailure, DirectoryThatCannotBeCreatedTurnsItOff) {
  write_file(directory_ / "plain", "a file");
  for (const fs::path& place :
       {directory_ / "plain", directory_ / "plain" / "below", fs::path("/proc/tapecl")}) {
    CaptureStderr();
    KernelCache cache(place, kLarge);
    store(cache, "a");
    EXPECT_EQ(find(cache, "a"), Found::nothing);
    cache.forget("a");
    EXPECT_EQ(cache.info().path, "");
    EXPECT_EQ(warnings(GetCapturedStderr()), 1) << place;
    EXPECT_THROW(cache.list(), FileError);
    EXPECT_THROW(cache.verify(), FileError);
  }
  EXPECT_EQ(read_file(directory_ / "plain"), "a file");
}

TEST_F(KernelCacheFailure, DirectoryInPlaceOfTheFile) {
  fs::create_directories(file() / "inner");
  CaptureStderr();
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  EXPECT_EQ(find(cache, "a"), Found::nothing);
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
  EXPECT_THROW(cache.clear(), FileError);
  EXPECT_TRUE(fs::exists(file() / "inner"));
}

/** A user without rights to the folder: entries that are there are found, nothing is written, one warning a
 * process.
 */
bool reads_only(const fs::path& directory, const fs::path& log) {
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return false;
  redirect_stderr(log);
  KernelCache cache(directory, kLarge);
  if (find(cache, "a") != Found::right || find(cache, "b") != Found::nothing) return false;
  if (warnings(read_file(log)) != 0) return false;
  store(cache, "b");
  store(cache, "c");
  cache.forget("a");
  return find(cache, "b") == Found::nothing && find(cache, "a") == Found::right &&
         !cache.info().path.empty() && cache.info().entries == 1 && warnings(read_file(log)) == 1;
}

TEST_F(KernelCacheFailure, ReadOnlyDirectoryStillServesFinds) {
  write_file(directory_ / "log1", "");
  write_file(directory_ / "log2", "");
  write_file(directory_ / "log3", "");
  for (const char* log : {"log1", "log2", "log3"}) chmod((directory_ / log).c_str(), 0666);
  const fs::path folder = directory_ / "folder";
  fs::create_directory(folder);
  auto writer = std::make_unique<KernelCache>(folder, kLarge);
  store(*writer, "a");
  chmod(folder.c_str(), 0555);
  EXPECT_TRUE(in_child([&] { return reads_only(folder, directory_ / "log1"); }));
  EXPECT_EQ(find(*writer, "a"), Found::right);  // in use by another process: its WAL lies beside
  EXPECT_TRUE(fs::exists(folder / "kernels.sqlite3-wal"));
  chmod((folder / "kernels.sqlite3").c_str(), 0444);
  writer.reset();
  EXPECT_TRUE(in_child([&] { return reads_only(folder, directory_ / "log2"); }));
  ASSERT_EQ(chown(folder.c_str(), kNobody, kNobody), geteuid() == 0 ? 0 : -1);
  chmod(folder.c_str(), 0755);  // only the file is protected
  EXPECT_TRUE(in_child([&] { return reads_only(folder, directory_ / "log3"); }));
}

/** Whether a cache of that directory, which holds "a", is left alone after one warning that names `culprit`.
 */
void expect_refused(const fs::path& directory, const fs::path& culprit, const std::string& what) {
  CaptureStderr();
  KernelCache cache(directory, kLarge);
  EXPECT_EQ(find(cache, "a"), Found::nothing) << what;
  store(cache, "b");
  EXPECT_EQ(cache.info().path, "") << what;
  EXPECT_EQ(cache.info().entries, 0u) << what;
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(warnings(text), 1) << what << ": " << text;
  EXPECT_NE(text.find(culprit.string()), std::string::npos) << what << ": " << text;
}

TEST_F(KernelCacheFailure, WhatOthersMayWriteIsNotUsed) {
  const fs::path above = directory_ / "above", folder = above / "folder";
  const std::string database = (folder / "kernels.sqlite3").string();
  std::unique_ptr<KernelCache> user = std::make_unique<KernelCache>(folder, kLarge);
  store(*user, "a");  // its WAL and shared memory lie beside while it is open
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(above).permissions(), fs::perms::owner_all);
  for (const auto& [path, mode] : {std::pair<fs::path, mode_t>{above, 0777},
                                   {above, 0770},
                                   {folder, 0777},
                                   {folder, 01777},
                                   {folder, 0720},
                                   {database, 0666},
                                   {database, 0664},
                                   {database + "-wal", 0666},
                                   {database + "-shm", 0622}}) {
    const auto before = static_cast<mode_t>(fs::status(path).permissions());
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    expect_refused(folder, path, concat("mode ", std::oct, mode));
    chmod(path.c_str(), before);
  }
  chmod(above.c_str(), 01777);  // as /tmp is
  EXPECT_EQ(find(*user, "a"), Found::right);
  EXPECT_EQ(find(*std::make_unique<KernelCache>(folder, kLarge), "a"), Found::right);
}

TEST_F(KernelCacheFailure, WhatAnotherUserOwnsIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const fs::path folder = directory_ / "folder";
  store(*std::make_unique<KernelCache>(folder, kLarge), "a");
  for (const fs::path& path : {folder, folder / "kernels.sqlite3", directory_}) {
    ASSERT_EQ(chown(path.c_str(), kNobody, kNobody), 0);
    expect_refused(folder, path, "as root");
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(find(*std::make_unique<KernelCache>(folder, kLarge), "a"), Found::right);
}

TEST_F(KernelCacheFailure, SymbolicLinks) {
  const fs::path folder = directory_ / "folder", link = directory_ / "link";
  store(*std::make_unique<KernelCache>(folder, kLarge), "a");
  fs::create_symlink("folder", link);
  EXPECT_EQ(find(*std::make_unique<KernelCache>(link, kLarge), "a"), Found::right);
  EXPECT_EQ(find(*std::make_unique<KernelCache>(link / ".." / "link" / "", kLarge), "a"), Found::right);
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(link.c_str(), kNobody, kNobody), 0);  // its owner may let it lead elsewhere
    expect_refused(link, link, "a link of another user");
    ASSERT_EQ(lchown(link.c_str(), 0, 0), 0);
  }
  chmod(folder.c_str(), 0777);
  expect_refused(link, folder, "a link to what others may write");
  chmod(folder.c_str(), 0700);
  fs::rename(folder / "kernels.sqlite3", directory_ / "elsewhere");
  fs::create_symlink(directory_ / "elsewhere", folder / "kernels.sqlite3");
  expect_refused(folder, folder / "kernels.sqlite3", "a link in place of the file");
}

TEST_F(KernelCacheFailure, DirectoryRemovedWhileInUseIsMadeAgain) {
  KernelCache cache(directory_ / "folder", kLarge);
  store(cache, "a");
  fs::remove_all(directory_ / "folder");
  EXPECT_EQ(find(cache, "a"), Found::nothing);
  store(cache, "b");
  KernelCache other(directory_ / "folder", kLarge);
  EXPECT_EQ(find(other, "b"), Found::right);
}

TEST_F(KernelCacheFailure, FullDiskKeepsWhatIsThere) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  cache.limit_pages_for_testing(1);
  CaptureStderr();
  store(cache, "b", 200000);
  store(cache, "c", 200000);
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(warnings(text), 1);
  EXPECT_NE(text.find("no room left"), std::string::npos) << text;
  EXPECT_EQ(find(cache, "b", 200000), Found::nothing);
  EXPECT_EQ(find(cache, "a"), Found::right);
  cache.limit_pages_for_testing(0);
  store(cache, "b", 200000);
  EXPECT_EQ(find(cache, "b", 200000), Found::right);
  expect_sound();
}

TEST_F(KernelCacheFailure, LockedForLongGivesUpForThatCall) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  CaptureStderr();
  {
    sqlite::Database other(file(), sqlite::Database::Access::read_write);
    other.execute("BEGIN EXCLUSIVE");
    auto start = steady_clock::now();
    store(cache, "b");
    EXPECT_GT(steady_clock::now() - start, milliseconds(1000));
    EXPECT_LT(steady_clock::now() - start, milliseconds(6000));
    EXPECT_EQ(find(cache, "a"), Found::right);  // readers do not wait for a writer
    start = steady_clock::now();                // one long wait is enough
    for (int i = 0; i < 3; ++i) store(cache, "b");
    EXPECT_LT(steady_clock::now() - start, milliseconds(2000));
    other.execute("COMMIT");
  }
  EXPECT_EQ(find(cache, "b"), Found::nothing);
  store(cache, "b");
  EXPECT_EQ(find(cache, "b"), Found::right);
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
}

TEST_F(KernelCacheFailure, LockedDirectoryGivesUpToo) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  const int descriptor = open(directory_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
  CaptureStderr();
  const auto start = steady_clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(find(cache, "a"), Found::nothing);
  EXPECT_LT(steady_clock::now() - start, milliseconds(6000));
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
  close(descriptor);
  EXPECT_EQ(find(cache, "a"), Found::right);
}

TEST_F(KernelCacheFailure, AnotherVersionIsReplaced) {
  {
    KernelCache cache(directory_, kLarge);
    store(cache, "a");
  }
  sql("DROP TABLE entries; CREATE TABLE entries(key, other); PRAGMA user_version = 99");
  KernelCache cache(directory_, kLarge);
  EXPECT_EQ(find(cache, "a"), Found::nothing);
  store(cache, "a");
  EXPECT_EQ(find(cache, "a"), Found::right);
  expect_sound();
}

// ---- damage ----

TEST_F(KernelCacheDamage, DamagedFileIsStartedAnew) {
  {
    KernelCache cache(directory_, kLarge);
    for (int i = 0; i < 20; ++i) store(cache, concat("key", i));
  }
  const std::string good = read_file(file());
  const std::string damaged[] = {noise(50000),
                                 "not a database",
                                 good.substr(0, 10),
                                 good.substr(0, good.size() / 2),
                                 good.substr(0, 100) + noise(good.size() - 100),
                                 good.substr(0, 4096) + noise(good.size() - 4096)};
  int number = 0;
  for (const std::string& bytes : damaged) {
    const fs::path folder = directory_ / concat("damaged", number++);
    fs::create_directory(folder);
    write_file(folder / "kernels.sqlite3", bytes);
    CaptureStderr();
    KernelCache cache(folder, kLarge);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(find(cache, concat("key", i)), Found::nothing) << number;
    EXPECT_EQ(warnings(GetCapturedStderr()), 1) << number;
    store(cache, "key3");
    EXPECT_EQ(find(cache, "key3"), Found::right) << number;
    EXPECT_TRUE(cache.verify().empty()) << number;
  }
  const fs::path folder = directory_ / "empty";
  fs::create_directory(folder);
  write_file(folder / "kernels.sqlite3", "");
  KernelCache cache(folder, kLarge);
  store(cache, "key3");
  EXPECT_EQ(find(cache, "key3"), Found::right);
}

TEST_F(KernelCacheDamage, FoundMidwayIsStartedAnewToo) {
  KernelCache cache(directory_, kLarge);
  for (int i = 0; i < 60; ++i)
    store(cache, concat("key", i), 100000);  // more than the connection keeps in memory
  sql("PRAGMA wal_checkpoint(TRUNCATE)");
  overwrite(file(), 4096, noise(fs::file_size(file()) - 4096));
  CaptureStderr();
  for (int i = 0; i < 60; ++i) EXPECT_NE(find(cache, concat("key", i), 100000), Found::wrong);
  for (int i = 0; i < 60; ++i) store(cache, concat("key", i), 100000);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(find(cache, concat("key", i), 100000), Found::right);
  EXPECT_NE(GetCapturedStderr().find("damaged"), std::string::npos);
  expect_sound();
}

TEST_F(KernelCacheDamage, EditedBinaryIsAMissAndIsDropped) {
  KernelCache cache(directory_, kLarge);
  for (const char* key : {"a", "b", "c", "d", "e"}) store(cache, key);
  sql("UPDATE blobs SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE id ="
      " (SELECT id FROM entries WHERE key = 'a');"
      "UPDATE entries SET variants = 'others' WHERE key = 'b';"
      "DELETE FROM blobs WHERE id = (SELECT id FROM entries WHERE key = 'c');"
      "UPDATE entries SET key = 'x' WHERE key = 'd'");
  EXPECT_EQ(cache.verify(), (std::vector<std::string>{"a", "b", "c", "x"}));
  CaptureStderr();
  for (const char* key : {"a", "b", "c", "x"}) EXPECT_FALSE(cache.find(key)) << key;
  EXPECT_EQ(warnings(GetCapturedStderr()), 1);
  EXPECT_EQ(cache.info().misses, 4u);
  EXPECT_EQ(cache.info().entries, 1u);
  EXPECT_EQ(query("SELECT count(*) FROM blobs"), "1");
  EXPECT_EQ(find(cache, "e"), Found::right);
  expect_sound();
}

TEST_F(KernelCacheDamage, VerifyOnlyLooksAndRepairDrops) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  store(cache, "b");
  EXPECT_TRUE(cache.repair().empty());
  sql("UPDATE blobs SET bytes = x'0102' WHERE id = (SELECT id FROM entries WHERE key = 'a')");
  EXPECT_EQ(cache.verify(), std::vector<std::string>{"a"});
  EXPECT_EQ(cache.list().size(), 2u);
  EXPECT_EQ(cache.repair(), std::vector<std::string>{"a"});
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_TRUE(cache.verify().empty());

  sql("PRAGMA wal_checkpoint(TRUNCATE)");
  overwrite(file(), 0, noise(4096));
  const auto findings = cache.verify();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rfind("database: ", 0), 0u) << findings[0];
  EXPECT_THROW(cache.list(), FileError);
  EXPECT_EQ(cache.repair().size(), 1u);
  EXPECT_TRUE(cache.verify().empty());
  EXPECT_EQ(cache.info().entries, 0u);
}

TEST_F(KernelCacheDamage, NoFlippedByteEverGivesWrongBytes) {
  {
    KernelCache cache(directory_, kLarge);
    for (int i = 0; i < 12; ++i) store(cache, concat("key", i), 3000);
  }
  const std::string good = read_file(file());
  std::mt19937 random(1);
  int intact = 0;
  CaptureStderr();
  for (int round = 0; round < 200; ++round) {
    std::string bytes = good;
    const std::size_t range =
        round < 100 ? 8192 : bytes.size();  // the first pages hold SQLite's own structures
    for (int flip = 0; flip < 1 + round % 4; ++flip)
      bytes[random() % range] ^= static_cast<char>(1 + random() % 255);
    if (round % 10 == 9) bytes.resize(random() % bytes.size());
    write_file(file(), bytes);
    {
      KernelCache cache(directory_, kLarge);
      if (round % 3 == 0) static_cast<void>(cache.verify());
      for (int i = 0; i < 12; ++i) {
        const Found found = find(cache, concat("key", i), 3000);
        ASSERT_NE(found, Found::wrong) << "round " << round;
        intact += found == Found::right;
      }
      static_cast<void>(cache.info());
      for (int attempt = 0; attempt < 2; ++attempt) store(cache, "new", 5000);
      ASSERT_EQ(find(cache, "new", 5000), Found::right) << "round " << round;
    }
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file().string() + suffix);
  }
  static_cast<void>(GetCapturedStderr());
  EXPECT_GT(intact, 500);
  EXPECT_LT(intact, 2400);
}

// ---- many processes ----

TEST_F(KernelCacheProcesses, ManyOnAnEmptyDirectory) {
  for (int round = 0; round < 5; ++round) {
    const fs::path folder = directory_ / concat("round", round);
    const fs::path log = directory_ / concat("log", round);
    EXPECT_TRUE(all_at_once(8, [&](int index) {
      redirect_stderr(log);
      KernelCache cache(folder, kLarge, kMuchPatience);
      for (int i = 0; i < 10; ++i) {
        store(cache, concat("shared", i));
        store(cache, concat(index, "/", i));
        if (find(cache, concat("shared", i)) != Found::right) return false;
        if (find(cache, concat((index + 1) % 8, "/", i)) == Found::wrong) return false;
      }
      for (int i = 0; i < 10; ++i) {
        if (find(cache, concat(index, "/", i)) != Found::right) return false;
      }
      return true;
    }));
    EXPECT_EQ(read_file(log), "");
    EXPECT_EQ(KernelCache(folder, kLarge).info().entries, 90u);
    sqlite::Database database(folder / "kernels.sqlite3", sqlite::Database::Access::read_write);
    EXPECT_EQ(database.query_text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(database.query_text("PRAGMA journal_mode"), "wal");
  }
}

TEST_F(KernelCacheProcesses, ManyFindTheDamageAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const fs::path folder = directory_ / concat("round", round);
    fs::create_directory(folder);
    write_file(folder / "kernels.sqlite3", noise(100000));
    EXPECT_TRUE(all_at_once(8, [&](int index) {
      redirect_stderr(directory_ / "log");
      KernelCache cache(folder, kLarge, kMuchPatience);
      if (find(cache, concat("absent", index)) != Found::nothing) return false;
      for (int i = 0; i < 5; ++i) store(cache, concat(index, "/", i));
      return find(cache, concat(index, "/0")) == Found::right;
    }));
    KernelCache cache(folder, kLarge);
    EXPECT_EQ(cache.info().entries, 40u);  // no process removed what another had begun anew
    EXPECT_TRUE(cache.verify().empty());
  }
}

TEST_F(KernelCacheProcesses, KilledInTheMiddleOfStores) {
  for (int round = 0; round < 15; ++round) {
    int stored[2];
    ASSERT_EQ(pipe(stored), 0);
    const pid_t child = start_child([&] {
      KernelCache cache(directory_, kLarge, kMuchPatience);
      for (int i = 0;; ++i) {
        store(cache, concat("key", i % 7), 300000);
        if (i == 0 && write(stored[1], "x", 1) != 1) return false;
      }
      return true;
    });
    close(stored[1]);
    char byte = 0;
    if (round >= 5) {  // the first ones die at any time
      EXPECT_EQ(read(stored[0], &byte, 1), 1);
    }
    std::this_thread::sleep_for(milliseconds(10 + 7 * round));
    kill(child, SIGKILL);
    EXPECT_FALSE(succeeded(child));
    close(stored[0]);
    KernelCache cache(directory_, kLarge, kMuchPatience);
    CaptureStderr();
    for (int i = 0; i < 7; ++i) EXPECT_NE(find(cache, concat("key", i), 300000), Found::wrong);
    EXPECT_TRUE(round < 5 || find(cache, "key0", 300000) == Found::right);
    EXPECT_TRUE(cache.verify().empty());
    EXPECT_EQ(GetCapturedStderr(), "");
  }
}

TEST_F(KernelCacheProcesses, ForkedChildHasItsOwnConnection) {
  auto parent = std::make_unique<KernelCache>(directory_, kLarge);
  store(*parent, "a");
  int to_parent[2], to_child[2];
  ASSERT_EQ(pipe(to_parent), 0);
  ASSERT_EQ(pipe(to_child), 0);
  char byte = 0;
  const pid_t child = start_child([&] {
    if (find(*parent, "a") != Found::right || parent->info().hits != 1) return false;
    if (write(to_parent[1], "x", 1) != 1 || read(to_child[0], &byte, 1) != 1) return false;
    store(*parent,
          "child");  // the parent has closed: had this child no locks of its own, the WAL would be gone
    return true;
  });
  close(to_parent[1]);
  ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
  EXPECT_EQ(find(*parent, "a"), Found::right);
  parent.reset();
  KernelCache third(directory_, kLarge);
  store(third, "third");
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  EXPECT_TRUE(succeeded(child));
  EXPECT_EQ(find(third, "child"), Found::right);
  EXPECT_EQ(find(third, "third"), Found::right);
  expect_sound();
}

TEST_F(KernelCacheProcesses, ForkWhileThreadsAreAtWork) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own allocator is not safe across fork() in a process of several threads";
#endif
  KernelCache cache(directory_, kLarge, kMuchPatience);
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    for (int i = 0; !stop; ++i) {
      store(cache, concat("key", i % 5));
      EXPECT_EQ(find(cache, concat("key", i % 5)), Found::right);
    }
  });
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(in_child([&] {
      alarm(20);  // a child that hangs must fail
      store(cache, "child");
      return find(cache, "child") == Found::right;
    }));
  }
  stop = true;
  worker.join();
  expect_sound();
}

TEST_F(KernelCacheProcesses, ClonedWithoutForkHandlersKeepsItsHandsOff) {
  KernelCache cache(directory_, kLarge);
  store(cache, "a");
  const pid_t child = _Fork();
  if (child == 0) {
    redirect_stderr(directory_ / "log");
    store(cache, "b");
    const bool off = find(cache, "a") == Found::nothing && cache.info().path.empty();
    _exit(off && warnings(read_file(directory_ / "log")) == 1 ? 0 : 1);
  }
  EXPECT_TRUE(succeeded(child));
  EXPECT_EQ(find(cache, "a"), Found::right);
  EXPECT_EQ(find(cache, "b"), Found::nothing);
  expect_sound();
}

}  // namespace
}  // namespace dlprim
