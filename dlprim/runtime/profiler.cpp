#include "dlprim/runtime/profiler.h"

namespace dlprim {

std::vector<KernelRecord> Profiler::take() {
  std::vector<KernelRecord> records;
  records.reserve(pending_.size());
  for (const Pending& p : pending_) {
    p.event.wait();
    records.push_back({p.name, p.event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>(),
                       p.event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                       p.event.getProfilingInfo<CL_PROFILING_COMMAND_END>()});
  }
  pending_.clear();
  return records;
}

}  // namespace dlprim
