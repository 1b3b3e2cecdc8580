#include "dlprim/runtime/kernel_cache.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string_view>

#include "dlprim/core/error.h"
#include "dlprim/platform/process.h"
#include "dlprim/runtime/barred_implementations.h"
#include "dlprim/runtime/kernel_cache_file.h"
#include "dlprim/runtime/measured_choices.h"
#include "dlprim/runtime/sha256.h"
#include "dlprim/runtime/sqlite.h"

namespace dlprim {
namespace {

using Microseconds = std::chrono::microseconds;

constexpr std::uint64_t kDefaultMaxMegabytes = 512;

/** A hit writes the time of use only when the one on disk is older than this. */
constexpr Microseconds kTouchInterval = std::chrono::hours(1);

std::int64_t now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Microseconds>(since_epoch).count();
}

std::string_view as_text(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/** Covers the key too: a torn index must not hand out another program's binary. */
std::string entry_digest(std::string_view key, std::string_view variants, std::string_view bytes) {
  Sha256 hash;
  hash.update(concat(key.size(), ' ', variants.size(), ' '));
  hash.update(key);
  hash.update(variants);
  hash.update(bytes);
  return hash.hex();
}

/** A write that nothing depends on: skipped when others are writing or nothing can be written. */
template <class Write>
void write_if_easy(sqlite::Database& database, Write write) {
  database.set_busy_timeout(std::chrono::milliseconds(0));
  try {
    write();
  } catch (const sqlite::Error& error) {
    if (error.damaged()) throw;
  }
}

void delete_entry(sqlite::Database& database, std::int64_t id, std::string_view digest) {
  sqlite::Statement(database, "DELETE FROM entries WHERE id = ?1 AND digest = ?2")
      .bind(1, id)
      .bind(2, digest)
      .step();
}

void evict_least_recently_used(sqlite::Database& database, std::int64_t bytes_allowed) {
  std::int64_t bytes = database.query_int("SELECT sum(size) FROM entries");
  std::vector<std::int64_t> evicted;
  sqlite::Statement oldest(database, "SELECT id, size FROM entries ORDER BY last_used, id");
  while (bytes > bytes_allowed && oldest.step()) {
    evicted.push_back(oldest.integer(0));
    bytes -= std::max<std::int64_t>(0, oldest.integer(1));
  }
  for (const std::int64_t id : evicted) {
    sqlite::Statement(database, "DELETE FROM entries WHERE id = ?1").bind(1, id).step();
  }
}

/** Made when it is first needed. The file's version stays, so that earlier releases, which replace files of
 * another version, keep what is in it. */
constexpr const char* kTableOfBarred = R"(
  CREATE TABLE IF NOT EXISTS barred(
    device TEXT NOT NULL, driver TEXT NOT NULL, family TEXT NOT NULL, implementation TEXT NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY(device, driver, family, implementation)) WITHOUT ROWID;
)";

bool has_table_of_barred(sqlite::Database& database) {
  return database.query_int("SELECT count(*) FROM sqlite_master WHERE name = 'barred'") > 0;
}

std::string explain(const sqlite::Error& error) {
  if (error.busy()) return "is locked by another process for long; some kernels are compiled again";
  switch (error.code()) {
    case SQLITE_FULL:
      return "has no room left on its disk; new kernels are not saved";
    case SQLITE_READONLY:
      return "is read-only; new kernels are not saved";
    default:
      return concat("failed (", sqlite3_errstr(error.code()), "); some kernels are compiled again");
  }
}

std::optional<std::filesystem::path> directory_from_environment() {
  if (const auto chosen = platform::environment("OCL_KERNEL_CACHE")) {
    if (*chosen == "off") return std::nullopt;
    return std::filesystem::u8path(*chosen);
  }
  if (const auto folder = platform::cache_folder()) return *folder / "tapecl";
  warn_once(concat("no kernel cache: neither OCL_KERNEL_CACHE nor ", platform::variables_of_cache_folder,
                   " names a directory"));
  return std::nullopt;
}

std::uint64_t max_bytes_from_environment() {
  constexpr std::uint64_t megabyte = 1 << 20;
  const auto text = platform::environment("OCL_KERNEL_CACHE_MAX_MB");
  if (!text) return kDefaultMaxMegabytes * megabyte;
  std::uint64_t megabytes = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, megabytes);
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max() / megabyte;
  if (error == std::errc() && rest == end && megabytes <= largest) return megabytes * megabyte;
  warn_once(concat("OCL_KERNEL_CACHE_MAX_MB=", *text, " is not a whole number of megabytes; using ",
                   kDefaultMaxMegabytes));
  return kDefaultMaxMegabytes * megabyte;
}

}  // namespace

KernelCacheConfig KernelCacheConfig::from_environment() {
  return {directory_from_environment(), max_bytes_from_environment()};
}

std::filesystem::path KernelCacheConfig::file() const {
  return directory ? *directory / KernelCacheFile::kName : std::filesystem::path();
}

/**
 * All caches of the process and the one lock over them, never destroyed. One lock, since fork() must find no
 * thread inside SQLite and no connection open: a child would inherit held locks, and SQLite's wrong belief to
 * hold others.
 */
struct KernelCache::Registry {
  std::mutex mutex;
  std::vector<KernelCache*> caches;
};

struct KernelCache::Damage {
  std::vector<std::string> findings;
  std::vector<std::pair<std::int64_t, std::string>> entries;  ///< id and digest
  bool file = false;
};

KernelCache::Registry& KernelCache::registry() {
  static Registry* const registry = [] {
    platform::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
    return new Registry;
  }();
  return *registry;
}

void KernelCache::before_fork() {
  registry().mutex.lock();
  for (KernelCache* cache : registry().caches) {
    if (cache->file_) cache->file_->close_keeping_wal();
  }
}

void KernelCache::after_fork_in_parent() {
  registry().mutex.unlock();
}

void KernelCache::after_fork_in_child() {
  for (KernelCache* cache : registry().caches) cache->counts_ = {};
  registry().mutex.unlock();
}

/** Leaves a tidy file; a thread still at work keeps it, which costs the next process a few milliseconds. */
void KernelCache::at_exit() {
  std::unique_lock<std::mutex> lock(registry().mutex, std::try_to_lock);
  if (!lock) return;
  for (KernelCache* cache : registry().caches) {
    if (cache->file_) cache->file_->close();
  }
}

KernelCache::KernelCache(const std::optional<std::filesystem::path>& directory, std::uint64_t max_bytes,
                         std::chrono::milliseconds patience)
    : file_(directory ? std::make_unique<KernelCacheFile>(*directory, patience) : nullptr),
      max_bytes_(std::min<std::uint64_t>(max_bytes, std::numeric_limits<std::int64_t>::max())) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().caches.push_back(this);
}

KernelCache::~KernelCache() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto& caches = registry().caches;
  caches.erase(std::remove(caches.begin(), caches.end(), this), caches.end());
  if (file_) file_->close();
}

KernelCache& KernelCache::global() {
  static KernelCache* const cache = [] {
    const auto config = KernelCacheConfig::from_environment();
    auto* created = new KernelCache(config.directory, config.max_bytes);
    std::atexit(at_exit);
    return created;
  }();
  return *cache;
}

std::optional<CachedBinary> KernelCache::find(const std::string& key) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::optional<CachedBinary> found;
  attempt([&](sqlite::Database& database) { found = read(database, key); });
  ++(found ? counts_.hits : counts_.misses);
  return found;
}

void KernelCache::store(const std::string& key, const std::string& label, const std::string& device,
                        const CachedBinary& binary) {
  const auto size = static_cast<std::int64_t>(binary.bytes.size());
  if (binary.bytes.size() > max_bytes_) {
    warn_once(
        "a compiled program is larger than the kernel cache (OCL_KERNEL_CACHE_MAX_MB) and is not saved");
    return;
  }
  std::lock_guard<std::mutex> lock(registry().mutex);
  attempt([&](sqlite::Database& database) {
    const std::string digest = entry_digest(key, binary.variants, as_text(binary.bytes));
    sqlite::Transaction transaction(database);
    sqlite::Statement(database, "DELETE FROM entries WHERE key = ?1").bind(1, key).step();
    evict_least_recently_used(database, static_cast<std::int64_t>(max_bytes_) - size);
    sqlite::Statement(database,
                      "INSERT INTO entries(key, label, device, variants, size, digest, last_used)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        .bind(1, key)
        .bind(2, label)
        .bind(3, device)
        .bind(4, binary.variants)
        .bind(5, size)
        .bind(6, digest)
        .bind(7, now())
        .step();
    sqlite::Statement(database, "INSERT OR REPLACE INTO blobs(id, bytes) VALUES (last_insert_rowid(), ?1)")
        .bind_blob(1, as_text(binary.bytes))
        .step();
    transaction.commit();
  });
}

void KernelCache::forget(const std::string& key) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  attempt([&](sqlite::Database& database) {
    sqlite::Statement(database, "DELETE FROM entries WHERE key = ?1").bind(1, key).step();
  });
}

std::vector<MeasuredChoice> KernelCache::choices(const std::string& device) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::vector<MeasuredChoice> choices;
  attempt([&](sqlite::Database& database) {
    choices.clear();
    sqlite::Statement rows(
        database,
        "SELECT family, problem, implementation, nanoseconds, expected, expected_nanoseconds"
        " FROM choices WHERE device = ?1 ORDER BY family, problem");
    rows.bind(1, device);
    const auto seconds = [&](int column) { return 1e-9 * static_cast<double>(rows.integer(column)); };
    while (rows.step())
      choices.push_back({rows.text(0), rows.text(1), rows.text(2), seconds(3), rows.text(4), seconds(5)});
  });
  return choices;
}

void KernelCache::store_choice(const std::string& device, const MeasuredChoice& choice) {
  const auto nanoseconds = [](double seconds) { return static_cast<std::int64_t>(1e9 * seconds); };
  std::lock_guard<std::mutex> lock(registry().mutex);
  attempt([&](sqlite::Database& database) {
    sqlite::Statement(database,
                      "INSERT OR REPLACE INTO choices(device, family, problem, implementation, nanoseconds,"
                      " expected, expected_nanoseconds) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        .bind(1, device)
        .bind(2, choice.family)
        .bind(3, choice.problem)
        .bind(4, choice.implementation)
        .bind(5, nanoseconds(choice.seconds))
        .bind(6, choice.expected)
        .bind(7, nanoseconds(choice.expected_seconds))
        .step();
  });
}

void KernelCache::forget_choices(const std::string& device) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  attempt([&](sqlite::Database& database) {
    sqlite::Statement(database, "DELETE FROM choices WHERE device = ?1").bind(1, device).step();
  });
}

std::vector<BarredImplementation> KernelCache::barred(const std::string& device, const std::string& driver) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::vector<BarredImplementation> barred;
  attempt([&](sqlite::Database& database) {
    barred.clear();
    if (!has_table_of_barred(database)) return;
    sqlite::Statement rows(database,
                           "SELECT family, implementation, reason FROM barred"
                           " WHERE device = ?1 AND driver = ?2 ORDER BY family, implementation");
    rows.bind(1, device).bind(2, driver);
    while (rows.step()) barred.push_back({rows.text(0), rows.text(1), rows.text(2)});
  });
  return barred;
}

void KernelCache::store_barred(const std::string& device, const std::string& driver,
                               const BarredImplementation& barred) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (!file_) throw FileError("the kernel cache, which keeps what is barred, is off (OCL_KERNEL_CACHE)");
  inspect([&](sqlite::Database& database) {
    database.execute(kTableOfBarred);
    sqlite::Statement(database,
                      "INSERT OR REPLACE INTO barred(device, driver, family, implementation, reason)"
                      " VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind(1, device)
        .bind(2, driver)
        .bind(3, barred.family)
        .bind(4, barred.implementation)
        .bind(5, barred.reason)
        .step();
  });
}

void KernelCache::forget_barred(const std::string& device, const std::string& driver) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  inspect([&](sqlite::Database& database) {
    if (!has_table_of_barred(database)) return;
    sqlite::Statement(database, "DELETE FROM barred WHERE device = ?1 AND driver = ?2")
        .bind(1, device)
        .bind(2, driver)
        .step();
  });
}

void KernelCache::note_built(double seconds) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  ++counts_.built;
  counts_.build_seconds += seconds;
}

KernelCacheInfo KernelCache::info() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  KernelCacheInfo info = counts_;
  attempt([&](sqlite::Database& database) {
    sqlite::Statement totals(database, "SELECT count(*), coalesce(sum(size), 0) FROM entries");
    totals.step();

    info.entries = static_cast<std::uint64_t>(totals.integer(0));
    info.bytes = static_cast<std::uint64_t>(totals.integer(1));
  });
  if (file_ && file_->usable()) info.path = file_->path().u8string();
  return info;
}

std::vector<KernelCacheEntry> KernelCache::list() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::vector<KernelCacheEntry> entries;
  inspect([&](sqlite::Database& database) {
    sqlite::Statement rows(database,
                           "SELECT key, label, device, size, last_used FROM entries"
                           " ORDER BY last_used DESC, id DESC");
    while (rows.step()) {
      const Microseconds last_used(std::clamp<std::int64_t>(rows.integer(4), 0, now()));
      entries.push_back({rows.text(0), rows.text(1), rows.text(2),
                         static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows.integer(3))),
                         std::chrono::system_clock::time_point(last_used)});
    }
  });
  return entries;
}

std::vector<std::string> KernelCache::verify() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  return look_for_damage().findings;
}

std::vector<std::string> KernelCache::repair() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  const Damage damage = look_for_damage();
  try {
    if (damage.file) file_->discard();
  } catch (const sqlite::Error& error) {
    fail(error.what());
  }
  if (damage.file || damage.entries.empty()) return damage.findings;
  inspect([&](sqlite::Database& database) {
    for (const auto& [id, digest] : damage.entries) delete_entry(database, id, digest);
  });
  return damage.findings;
}

void KernelCache::clear() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  try {
    if (file_) file_->discard();
  } catch (const sqlite::Error& error) {
    fail(error.what());
  }
}

void KernelCache::limit_pages_for_testing(int pages) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (file_) file_->limit_pages_for_testing(pages);
}

/** Runs `work` on the file if there is one; whatever goes wrong becomes one warning. */
void KernelCache::attempt(const Work& work) {
  if (!file_) return;
  try {
    file_->run(work);
  } catch (const sqlite::Error& error) {
    warn_once(concat("the kernel cache ", file_->path().u8string(), " ", explain(error)));
  } catch (const std::exception& error) {
    warn_once(concat("the kernel cache ", file_->path().u8string(), " failed: ", error.what()));
  }
}

/** Runs `work` for a caller who wants to know: damage and failure are raised as FileError. */
void KernelCache::inspect(const Work& work) {
  if (!file_) return;
  try {
    if (!file_->run(work, KernelCacheFile::OnDamage::raise)) fail("cannot be used");
  } catch (const sqlite::Error& error) {
    fail(error.what());
  }
}

void KernelCache::fail(const std::string& reason) const {
  throw FileError(concat("kernel cache ", file_->path().u8string(), ": ", reason));
}

std::optional<CachedBinary> KernelCache::read(sqlite::Database& database, const std::string& key) {
  std::int64_t id = 0, last_used = 0;
  std::string digest;
  CachedBinary binary;
  bool intact = false;
  {
    sqlite::Statement row(database,
                          "SELECT entries.id, digest, last_used, variants, bytes"
                          " FROM entries LEFT JOIN blobs USING (id) WHERE key = ?1");
    if (!row.bind(1, key).step()) return std::nullopt;
    id = row.integer(0);
    digest = row.text(1);
    last_used = std::max<std::int64_t>(0, row.integer(2));
    binary.variants = row.text(3);
    const std::string_view bytes = row.blob(4);
    intact = !row.is_null(4) && digest == entry_digest(key, binary.variants, bytes);
    if (intact) binary.bytes.assign(bytes.begin(), bytes.end());
  }
  if (!intact) {
    warn_once(
        concat("the kernel cache ", file_->path().u8string(), " had a damaged binary; it is compiled again"));
    write_if_easy(database, [&] { delete_entry(database, id, digest); });
    return std::nullopt;
  }
  const std::int64_t time = now();
  if (std::max(last_used, time) - std::min(last_used, time) > kTouchInterval.count()) {
    write_if_easy(database, [&] {
      sqlite::Statement(database, "UPDATE entries SET last_used = ?1 WHERE id = ?2")
          .bind(1, time)
          .bind(2, id)
          .step();
    });
  }
  return binary;
}

/** On a fresh connection: what an open one holds in memory is not what lies on disk. */
KernelCache::Damage KernelCache::look_for_damage() {
  Damage damage;
  if (!file_) return damage;
  file_->close();
  const auto check = [&](sqlite::Database& database) {
    sqlite::Statement integrity(database, "PRAGMA integrity_check");
    while (integrity.step()) {
      if (integrity.text(0) == "ok") continue;
      damage.findings.push_back(concat("database: ", integrity.text(0)));
      damage.file = true;
    }
    sqlite::Statement rows(database,
                           "SELECT entries.id, key, digest, variants, bytes, size"
                           " FROM entries LEFT JOIN blobs USING (id) ORDER BY key");
    while (rows.step()) {
      const std::string_view bytes = rows.blob(4);
      const bool intact = !rows.is_null(4) && rows.integer(5) == static_cast<std::int64_t>(bytes.size()) &&
                          rows.text(2) == entry_digest(rows.text(1), rows.text(3), bytes);
      if (intact) continue;
      damage.findings.push_back(rows.text(1));
      damage.entries.emplace_back(rows.integer(0), rows.text(2));
    }
  };
  try {
    if (!file_->run(check, KernelCacheFile::OnDamage::raise)) fail("cannot be used");
  } catch (const sqlite::Error& error) {
    if (!error.damaged()) fail(error.what());
    damage.findings.push_back(concat("database: ", error.what()));
    damage.file = true;
  }
  return damage;
}

}  // namespace dlprim
