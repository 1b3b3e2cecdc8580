#include "dlprim/runtime/kernel_cache_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "dlprim/platform/files.h"
#include "dlprim/platform/process.h"
#include "dlprim/platform/trusted_path.h"

namespace dlprim {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/** After a wait in vain. */
constexpr milliseconds kShortPatience{100};

/** Counted up with every change of kSchema; a file of another version is replaced. */
constexpr int kSchemaVersion = 2;

/** Blobs apart from their descriptions, so that listing, evicting and touching read and write no blob. */
constexpr const char* kSchema = R"(
  CREATE TABLE entries(
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, label TEXT NOT NULL, device TEXT NOT NULL,
    variants TEXT NOT NULL, size INTEGER NOT NULL CHECK (size >= 0), digest TEXT NOT NULL,
    last_used INTEGER NOT NULL);
  CREATE TABLE blobs(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE choices(
    device TEXT NOT NULL, family TEXT NOT NULL, problem TEXT NOT NULL, implementation TEXT NOT NULL,
    nanoseconds INTEGER NOT NULL, expected TEXT NOT NULL, expected_nanoseconds INTEGER NOT NULL,
    PRIMARY KEY(device, family, problem)) WITHOUT ROWID;
  CREATE TRIGGER entry_deleted AFTER DELETE ON entries BEGIN DELETE FROM blobs WHERE id = old.id; END;
)";

/** NORMAL: a power cut may lose the last entries, never tears the file. A short WAL keeps opening fast. */
constexpr const char* kConnectionSettings =
    "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576";

/** Suffixes of the database and of SQLite's files beside it, in the order to remove them. */
constexpr const char* kSuffixes[] = {"-wal", "-shm", "-journal", ""};

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) {
  return path += suffix;
}

/** Makes what is missing of a path, for this user alone. Others may do so at the same time. */
std::error_code create_private_directories(const std::filesystem::path& directory) {
  const auto parent = directory.parent_path();
  std::error_code ignored;
  if (parent != directory && !std::filesystem::exists(parent, ignored)) create_private_directories(parent);
  return platform::make_private_folder(directory) ? std::error_code()
                                                  : std::error_code(errno, std::generic_category());
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory, milliseconds patience)
    : patience_(patience), descriptor_(platform::open_lock_of_folder(directory)) {
  try {
    acquire(platform::Lock::shared);
  } catch (...) {
    if (descriptor_ >= 0) platform::close_file(descriptor_);
    throw;
  }
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ < 0) return;
  // A vfork child between fork and exec shares the descriptor: closing is not enough.
  platform::unlock(descriptor_);
  platform::close_file(descriptor_);
}

void DirectoryLock::make_exclusive() {
  acquire(platform::Lock::exclusive);
}

void DirectoryLock::acquire(platform::Lock lock) {
  if (descriptor_ < 0) return;
  const auto deadline = steady_clock::now() + patience_;
  while (!platform::try_lock(descriptor_, lock)) {
    if (errno != EWOULDBLOCK) return;
    if (steady_clock::now() >= deadline) throw sqlite::Error(SQLITE_BUSY, "the cache directory is locked");
    std::this_thread::sleep_for(milliseconds(1));
  }
}

KernelCacheFile::KernelCacheFile(const std::filesystem::path& directory, milliseconds patience)
    : whole_patience_(patience), patience_(patience) {
  std::error_code no_working_directory;
  directory_ = std::filesystem::absolute(directory, no_working_directory);
  if (no_working_directory) directory_ = directory;
  path_ = directory_ / kName;
}

KernelCacheFile::~KernelCacheFile() {
  close();
}

bool KernelCacheFile::run(const std::function<void(sqlite::Database&)>& work, OnDamage on_damage) {
  if (!prepare()) return false;
  for (bool replaced = false;;) {
    try {
      DirectoryLock lock(directory_, patience_);
      if (replaced) replace(lock);
      open(lock);
      if (!database_) return false;
      database_->set_busy_timeout(patience_);
      work(*database_);
      patience_ = std::min(whole_patience_, 2 * patience_);
      return true;
    } catch (const sqlite::Error& error) {
      if (error.busy()) patience_ = kShortPatience;
      if (database_ && database_->in_transaction()) close_keeping_wal();
      if (!error.damaged() || on_damage == OnDamage::raise) throw;
      if (replaced || immutable_) {
        give_up(concat("damaged, and not to be replaced: ", error.what()));
        return false;
      }
      warn_once(concat("the kernel cache ", path_.u8string(), " is damaged; starting an empty one"));
      replaced = true;
    }
  }
}

void KernelCacheFile::discard() {
  DirectoryLock lock(directory_, patience_);
  lock.make_exclusive();
  close_keeping_wal();
  remove_files();
  if (std::error_code ignored; std::filesystem::exists(path_, ignored)) {
    throw sqlite::Error(SQLITE_READONLY, "the file cannot be removed");
  }
  unusable_ = false;
}

void KernelCacheFile::close() {
  if (!database_ || opened_by_ != platform::process_id()) return close_keeping_wal();
  try {
    DirectoryLock lock(directory_, milliseconds(0));
    if (database_->moved()) database_->keep_wal_on_close();
    database_.reset();
  } catch (const sqlite::Error&) {
    close_keeping_wal();
  }
}

void KernelCacheFile::close_keeping_wal() {
  if (!database_) return;
  if (opened_by_ != platform::process_id()) {
    static_cast<void>(database_.release());  // inherited: even closing it would break the parent's locks
    return;
  }
  database_->keep_wal_on_close();
  database_.reset();
}

void KernelCacheFile::limit_pages_for_testing(int pages) {
  page_limit_ = pages;
  close();
}

/** Everything before the first lock: false when the file is of no use to this process. */
bool KernelCacheFile::prepare() {
  if (unusable_) return false;
  if (database_ && opened_by_ != platform::process_id()) {
    close_keeping_wal();
    give_up("this process was cloned from one that had it open, without fork handlers");
    return false;
  }
  std::error_code error;
  if (!std::filesystem::is_directory(directory_, error)) {
    close_keeping_wal();
    error = create_private_directories(directory_);
    if (std::error_code ignored; !std::filesystem::is_directory(directory_, ignored)) {
      give_up(concat("cannot create the directory: ", error.message()));
      return false;
    }
  }
  const std::string reason = database_ ? std::string() : distrust();
  if (!reason.empty()) give_up(concat("what it holds is run by your processes, and ", reason));
  return reason.empty();
}

/** Why what is in the files may be of others. */
std::string KernelCacheFile::distrust() const {
  std::string reason = distrust_of_directory(directory_);
  for (const char* suffix : kSuffixes)
    if (reason.empty()) reason = distrust_of_file(with_suffix(path_, suffix));
  return reason;
}

void KernelCacheFile::open(DirectoryLock& lock) {
  if (database_ && (immutable_ || database_->moved())) close_keeping_wal();
  if (database_) return;
  try {
    open_for_writing(lock);
  } catch (const sqlite::Error& error) {
    if (error.damaged()) throw;
    close_keeping_wal();
    if (!write_protected()) throw;
    open_immutable();
  }
}

void KernelCacheFile::open_for_writing(DirectoryLock& lock) {
  immutable_ = false;
  opened_by_ = platform::process_id();
  database_ = std::make_unique<sqlite::Database>(path_, sqlite::Database::Access::read_write);
  database_->set_busy_timeout(patience_);
  if (!ready()) create(lock);
  if (database_->read_only() && !write_protected()) {
    throw sqlite::Error(SQLITE_NOTADB, "the header forbids writing");
  }
  database_->execute(kConnectionSettings);
  if (page_limit_ > 0) database_->execute(concat("PRAGMA max_page_count = ", page_limit_).c_str());
}

bool KernelCacheFile::write_protected() const {
  if (!platform::is_writable(directory_)) return true;
  platform::FileStatus status;
  return platform::status_of(path_, status) && !platform::is_writable(path_);
}

/**
 * The last resort where nothing may be written, not even SQLite's shared memory: reads the file alone. Such a
 * connection does not see what others write, so it serves one run() only.
 */
void KernelCacheFile::open_immutable() {
  try {
    immutable_ = true;
    database_ = std::make_unique<sqlite::Database>(path_, sqlite::Database::Access::immutable);
    if (database_->query_int("PRAGMA user_version") == kSchemaVersion) return;
    give_up("it cannot be written and has another version");
  } catch (const sqlite::Error& error) {
    give_up(error.what());
  }
}

bool KernelCacheFile::ready() {
  return database_->query_int("PRAGMA user_version") == kSchemaVersion &&
         database_->query_text("PRAGMA journal_mode") == "wal";
}

/** Fills an empty file, or one of another version, unless another process did so while we waited for the
 * lock. */
void KernelCacheFile::create(DirectoryLock& lock) {
  lock.make_exclusive();
  const bool other_version = database_->query_int("PRAGMA user_version") != kSchemaVersion &&
                             database_->query_int("SELECT count(*) FROM sqlite_master") > 0;
  if (other_version && !database_->read_only()) replace(lock);
  if (!database_ || database_->moved()) {
    close_keeping_wal();
    database_ = std::make_unique<sqlite::Database>(path_, sqlite::Database::Access::read_write);
    database_->set_busy_timeout(patience_);
  }
  if (ready()) return;
  database_->execute("PRAGMA synchronous = OFF");  // nothing to lose yet
  switch_to_wal();
  sqlite::Transaction transaction(*database_);
  if (database_->query_int("PRAGMA user_version") == kSchemaVersion) return;
  database_->execute(kSchema);
  database_->execute(concat("PRAGMA user_version = ", kSchemaVersion).c_str());
  transaction.commit();
}

/** SQLite does not apply its busy timeout to this switch. */
void KernelCacheFile::switch_to_wal() {
  const auto deadline = steady_clock::now() + patience_;
  for (;;) {
    try {
      return database_->execute("PRAGMA journal_mode = WAL");
    } catch (const sqlite::Error& error) {
      if (!error.busy() || steady_clock::now() >= deadline) throw;
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
}

/** Removes the file this connection has open, unless another process has put a new one in its place. */
void KernelCacheFile::replace(DirectoryLock& lock) {
  lock.make_exclusive();
  const bool ours = database_ && !database_->moved();
  close_keeping_wal();
  if (ours) remove_files();
}

void KernelCacheFile::remove_files() {
  std::error_code ignored;
  for (const char* suffix : kSuffixes) {
    std::filesystem::remove(with_suffix(path_, suffix), ignored);
  }
}

void KernelCacheFile::give_up(const std::string& reason) {
  unusable_ = true;
  database_.reset();
  warn_once(concat("the kernel cache ", path_.u8string(), " cannot be used (", reason,
                   "); kernels are compiled in every process"));
}

}  // namespace dlprim
