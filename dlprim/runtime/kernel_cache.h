#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlprim {

class KernelCacheFile;
struct BarredImplementation;
struct MeasuredChoice;
namespace sqlite {
class Database;
}

/** A compiled program as the driver gave it out. */
struct CachedBinary {
  std::vector<unsigned char> bytes;
  std::string variants;  ///< the program builder's note of the launch variants that `bytes` already contains
};

/** The contents of the cache, and its work for this process. */
struct KernelCacheInfo {
  std::string path;  ///< of the database file; empty when the cache is off
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  ///< of all binaries
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t built = 0;     ///< programs compiled from source
  double build_seconds = 0.0;  ///< spent compiling them
};

/** One binary of the cache, described. */
struct KernelCacheEntry {
  std::string key;
  std::string label;
  std::string device;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point last_used;  ///< exact to an hour
};

/** Where the cache lies and how large it may grow. */
struct KernelCacheConfig {
  std::optional<std::filesystem::path> directory;  ///< nothing: off
  std::uint64_t max_bytes = 0;

  /**
   * From OCL_KERNEL_CACHE (a directory, or "off"; default $XDG_CACHE_HOME/tapecl, then $HOME/.cache/tapecl)
   * and OCL_KERNEL_CACHE_MAX_MB (units of 2^20 bytes, default 512; a malformed value costs a warning).
   */
  static KernelCacheConfig from_environment();

  /** The database file; empty when off. */
  std::filesystem::path file() const;
};

/**
 * Compiled programs on disk, shared by all processes of a user, in one SQLite database.
 *
 *     auto& cache = KernelCache::global();
 *     if (auto binary = cache.find(key)) return load(*binary);
 *     cache.store(key, "conv/winograd.cl", device_name, compile());
 *
 * The cache saves time and promises nothing else. A fault of the directory, the file or a binary costs a
 * rebuild and one warning. It is never an exception out of find, store, forget, note_built or info, and never
 * bytes that were not stored under that key. All members are thread safe, and may be used on both sides of a
 * fork().
 */
class KernelCache {
 public:
  /** How long a call waits for other processes that use the file, before it does without. */
  static constexpr std::chrono::milliseconds kPatience{3000};

  /** No directory: off, every find() misses. The file is opened (created) at first use. */
  KernelCache(const std::optional<std::filesystem::path>& directory, std::uint64_t max_bytes,
              std::chrono::milliseconds patience = kPatience);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  /** The process's cache, configured from the environment at first use; lives until the process ends. */
  static KernelCache& global();

  /** Whether it has a directory, so that storing may keep something. */
  bool is_on() const { return file_ != nullptr; }

  /** The binary stored under `key`, and counts a hit; or nothing, and counts a miss. */
  std::optional<CachedBinary> find(const std::string& key);

  /**
   * Stores or replaces, atomically even if the process is killed; removes the least recently used binaries
   * until all fit the limit. A binary larger than the limit is not stored. `label` and `device` are for
   * list().
   */
  void store(const std::string& key, const std::string& label, const std::string& device,
             const CachedBinary& binary);

  /** Removes a binary, as one that the driver refused. */
  void forget(const std::string& key);

  /** The fastest implementations on that device (MeasuredChoices); nothing where the cache is off. */
  std::vector<MeasuredChoice> choices(const std::string& device);
  /** Stores or replaces what measured best for a problem. Choices are not counted in the cache's size. */
  void store_choice(const std::string& device, const MeasuredChoice& choice);
  void forget_choices(const std::string& device);

  /** The implementations barred on that device with that driver (BarredImplementations). Empty where the
   * cache is off. */
  std::vector<BarredImplementation> barred(const std::string& device, const std::string& driver);
  /** Stores or replaces one. Unlike the other entries it must not get lost: throws FileError where it cannot
   * be kept. Not counted in the cache's size. */
  void store_barred(const std::string& device, const std::string& driver, const BarredImplementation& barred);
  /** Throws FileError where the file cannot be written. */
  void forget_barred(const std::string& device, const std::string& driver);

  /** Counts a program compiled from source in `seconds`. */
  void note_built(double seconds);

  KernelCacheInfo info();

  /** All entries, the most recently used first. Throws FileError when the file cannot be read. */
  std::vector<KernelCacheEntry> list();

  /**
   * Reads everything and changes nothing: the keys whose binary is not what was stored, and a line
   * "database: ..." for each thing SQLite finds wrong with the file. Empty when all is well.
   * Throws FileError when the file cannot be read.
   */
  std::vector<std::string> verify();

  /** Drops what verify() finds: single binaries, or all where the file itself is damaged. Returns the
   * findings. */
  std::vector<std::string> repair();

  /** Removes every entry and the file. Throws FileError when it cannot. */
  void clear();

  /** Test hook standing for a full disk: the file grows no further than `pages` pages; 0: no limit. */
  void limit_pages_for_testing(int pages);

 private:
  struct Registry;
  struct Damage;
  using Work = std::function<void(sqlite::Database&)>;

  static Registry& registry();
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  static void at_exit();

  void attempt(const Work& work);
  void inspect(const Work& work);
  [[noreturn]] void fail(const std::string& reason) const;
  std::optional<CachedBinary> read(sqlite::Database& database, const std::string& key);
  Damage look_for_damage();

  const std::unique_ptr<KernelCacheFile> file_;  ///< null when off
  const std::uint64_t max_bytes_;
  KernelCacheInfo counts_;  ///< hits, misses, built, build_seconds
};

}  // namespace dlprim
