#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlprim/runtime/problem_key.h"

namespace dlprim {

struct DeviceInfo;
class ImplementationFamily;
class Queue;

/** The measurements of a problem. */
struct MeasuredChoice {
  std::string family;
  std::string problem;  // ProblemKey::text
  std::string implementation;
  double seconds = 0;
  std::string expected;  // what expected costs alone would have chosen
  double expected_seconds = 0;
};

/**
 * Which implementations measured best on a device, by family and problem. They go before expected costs where
 * an ImplementationList chooses. They come from the table that the library is shipped with
 * (shipped_choices.def), and from this process (measures_choices). The kernel cache's database has those that
 * were measured on this machine, which win.
 *
 * Thread safe.
 */
class MeasuredChoices {
 public:
  explicit MeasuredChoices(const DeviceInfo& device) : device_(device) {}

  /** Whether nothing was measured of any problem, so that none need be looked up. */
  bool are_none();
  /** The number of the best implementation in its family; -1 where none was measured, or none of that name is
   * there. */
  int find(const ImplementationFamily& family, const ProblemKey& key);
  /** From now on, and in later processes. */
  void keep(const ProblemKey& key, const MeasuredChoice& choice);
  /** Those of the database. */
  std::vector<MeasuredChoice> measured() const;
  /** Empties the database's table; what was shipped counts again. */
  void forget();

 private:
  struct Entry {
    ProblemKey key;
    std::string family, implementation;
  };

  void load();
  void add(Entry entry);

  const DeviceInfo& device_;
  std::once_flag loaded_;
  std::atomic<bool> is_empty_{true};
  std::shared_mutex mutex_;
  std::unordered_multimap<std::size_t, Entry> entries_;  // by the key's hash
};

/** While set, a list measures each problem that it meets and that has no measured choice yet: what can take
 * it and is not expected to take many times as long as the cheapest, each several times. */
inline std::atomic<bool> measures_choices{false};

/** Seconds of one run: `run` is called once to build its programs, then as often as the clock needs. Waits.
 */
double measured_seconds(Queue& queue, const std::function<void()>& run);

}  // namespace dlprim
