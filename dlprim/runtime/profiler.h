#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dlprim/runtime/opencl.h"

namespace dlprim {

/** One launch as the device timed it; times in nanoseconds of the device's clock. */
struct KernelRecord {
  std::string name;
  std::uint64_t queued, start, end;
  /** When the host had enqueued it, in nanoseconds of its steady clock. */
  std::int64_t noted = 0;
  /** The operator (or backward step) and the module (CallState::module) that launched it; empty outside of
   * any. */
  std::string operation, module;
  /** "family: name" of the implementation that it is part of; empty for none. */
  std::string implementation;
  /** CallState::numbered. */
  std::uint64_t call = 0;
};

/** Collects the events of launches while a queue profiles. */
class Profiler {
 public:
  /** Notes what the calling thread is in (CallState). */
  void record(const std::string& name, const cl::Event& event);
  /** The records so far; waits for the events. */
  std::vector<KernelRecord> take();

 private:
  struct Pending {
    std::string name;
    cl::Event event;
    std::string operation, module, implementation;
    std::uint64_t call;
    std::int64_t noted;
  };
  std::vector<Pending> pending_;
};

}  // namespace dlprim
