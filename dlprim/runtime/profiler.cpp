#include "dlprim/runtime/profiler.h"

#include <chrono>

#include "dlprim/core/call_state.h"
#include "dlprim/core/error.h"

namespace dlprim {

void Profiler::record(const std::string& name, const cl::Event& event) {
  const auto text = [](const char* given) { return std::string(given ? given : ""); };
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  const ChosenImplementation* chosen = call_state.implementation;
  pending_.push_back({name, event, text(call_state.operation), text(call_state.module),
                      chosen ? concat(chosen->family, ": ", chosen->name) : std::string(),
                      call_state.numbered, now.count()});
}

std::vector<KernelRecord> Profiler::take() {
  std::vector<KernelRecord> records;
  records.reserve(pending_.size());
  for (Pending& p : pending_) {
    p.event.wait();
    records.push_back({p.name, p.event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>(),
                       p.event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                       p.event.getProfilingInfo<CL_PROFILING_COMMAND_END>(), p.noted, std::move(p.operation),
                       std::move(p.module), std::move(p.implementation), p.call});
  }
  pending_.clear();
  return records;
}

}  // namespace dlprim
