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
};

/** Collects the events of launches while a queue profiles. */
class Profiler {
 public:
  void record(const std::string& name, const cl::Event& event) { pending_.push_back({name, event}); }
  /** The records so far; waits for the events. */
  std::vector<KernelRecord> take();

 private:
  struct Pending {
    std::string name;
    cl::Event event;
  };
  std::vector<Pending> pending_;
};

}  // namespace dlprim
