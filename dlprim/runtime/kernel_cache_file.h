#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "dlprim/platform/files.h"
#include "dlprim/runtime/sqlite.h"

namespace dlprim {

/** A lock on a directory that processes hold shared while they use a file in it, alone while they swap it. */
class DirectoryLock {
 public:
  /** Takes the lock shared. Throws sqlite::Error (busy) after `patience`. Where locks do not work, goes
   * without. */
  DirectoryLock(const std::filesystem::path& directory, std::chrono::milliseconds patience);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /** Takes the lock alone; others may have had it in between. */
  void make_exclusive();

 private:
  void acquire(platform::Lock lock);

  std::chrono::milliseconds patience_;
  int descriptor_ = -1;
};

/**
 * The SQLite file behind a KernelCache: opened at first use, shared with other processes, replaced when
 * damaged, not used where others than this user and root may have written it.
 *
 * SQLite forbids removing a database that others have open, so each use holds a DirectoryLock: shared for a
 * use, exclusive to create or replace the file. A connection that finds its file replaced reopens at its next
 * use. Not thread safe. No connection may live across a fork(): SQLite in the child would believe to hold
 * locks that only the parent has. Call close_keeping_wal() from a fork handler.
 */
class KernelCacheFile {
 public:
  static constexpr const char* kName = "kernels.sqlite3";

  enum class OnDamage { replace, raise };

  /** patience: how long a call waits for other processes; after one wait in vain the next are short until a
   * call succeeds. */
  KernelCacheFile(const std::filesystem::path& directory, std::chrono::milliseconds patience);
  ~KernelCacheFile();

  const std::filesystem::path& path() const { return path_; }

  /** False once run() has found that this process cannot use the file at all. */
  bool usable() const { return !unusable_; }

  /**
   * Runs `work` on the open database. A damaged database is replaced by an empty one and `work` run once
   * more. False, after one warning, when this process cannot use the file at all. Throws sqlite::Error.
   */
  bool run(const std::function<void(sqlite::Database&)>& work, OnDamage on_damage = OnDamage::replace);

  /** Removes the file; the next run() creates an empty one. Throws sqlite::Error when it cannot. */
  void discard();

  /** Closes the connection, with the WAL written back where no one else uses the file. */
  void close();

  /** Closes the connection and leaves the WAL, which is fast, and right when the file has been replaced. */
  void close_keeping_wal();

  /** Test hook standing for a full disk: no more than `pages` pages, or those already in use; 0: no limit. */
  void limit_pages_for_testing(int pages);

 private:
  bool prepare();
  std::string distrust() const;
  void open(DirectoryLock& lock);
  void open_for_writing(DirectoryLock& lock);
  void open_immutable();
  bool write_protected() const;
  bool ready();
  void create(DirectoryLock& lock);
  void switch_to_wal();
  void replace(DirectoryLock& lock);
  void remove_files();
  void give_up(const std::string& reason);

  std::filesystem::path directory_;
  std::filesystem::path path_;
  std::unique_ptr<sqlite::Database> database_;
  std::int64_t opened_by_ = 0;
  bool immutable_ = false;
  bool unusable_ = false;
  std::chrono::milliseconds whole_patience_, patience_;
  int page_limit_ = 0;
};

}  // namespace dlprim
