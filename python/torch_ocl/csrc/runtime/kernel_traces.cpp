#if __has_include(<kineto/libkineto.h>)  // a PyTorch built without Kineto has no traces to be in

#include <kineto/libkineto.h>
#include <kineto/output_base.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "dlprim/core/call_state.h"
#include "dlprim/runtime/device.h"

/** \file The kernels of ocl in torch.profiler's traces, below the operators that launched them. */

namespace torch_ocl {
namespace {

using libkineto::ActivityType;

/** The offset from nanoseconds of a device's clock to those of the host's steady clock: a kernel is
 * enqueued just before the host notes it. */
std::int64_t host_minus_device(const std::vector<dlprim::KernelRecord>& records) {
  std::int64_t difference = std::numeric_limits<std::int64_t>::max();
  for (const dlprim::KernelRecord& record : records)
    difference = std::min(difference, record.noted - static_cast<std::int64_t>(record.queued));
  return difference;
}

/** The offset from the steady clock's nanoseconds to Kineto's, which count from 1970. */
std::int64_t kineto_minus_host() {
  const auto nanoseconds = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  return nanoseconds(std::chrono::system_clock::now()) - nanoseconds(std::chrono::steady_clock::now());
}

class KernelSession final : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    dlprim::Device::start_profiling();
    status_ = libkineto::TraceStatus::RECORDING;
  }
  void stop() override {
    records_ = dlprim::Device::stop_profiling();
    status_ = libkineto::TraceStatus::PROCESSING;
  }
  std::vector<std::string> errors() override { return {}; }

  /** The thread is in the operator of that number until it is popped. */
  void pushCorrelationId(std::uint64_t id) override {
    outer_.push_back(std::exchange(dlprim::call_state.numbered, id));
  }
  void popCorrelationId() override {
    if (outer_.empty()) return;  // began before the session
    dlprim::call_state.numbered = outer_.back();
    outer_.pop_back();
  }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(logger, {}, 0, std::numeric_limits<std::int64_t>::max());
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback operator_of,
                    std::int64_t from, std::int64_t to) override {
    buffer_->span = libkineto::TraceSpan(from, to, "ocl");
    for (const auto& [device, records] : records_) {
      const std::int64_t clock = host_minus_device(records) + kineto_minus_host();
      for (const dlprim::KernelRecord& record : records) {
        buffer_->emplace_activity(buffer_->span, ActivityType::CONCURRENT_KERNEL, record.name);
        libkineto::GenericTraceActivity& kernel = *buffer_->activities.back();
        kernel.startTime = static_cast<std::int64_t>(record.start) + clock;
        kernel.endTime = static_cast<std::int64_t>(record.end) + clock;
        kernel.device = device->index();
        kernel.id = static_cast<std::int32_t>(record.call);
        kernel.threadId = 0;
        kernel.flow.id = static_cast<std::uint32_t>(record.call);
        kernel.flow.type = libkineto::kLinkAsyncCpuGpu;
        if (operator_of && record.call) kernel.linked = operator_of(kernel.id);
        kernel.log(logger);
      }
      buffer_->gpuOpCount += static_cast<int>(records.size());
    }
    status_ = libkineto::TraceStatus::READY;
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    if (records_.empty()) return nullptr;
    const dlprim::Device& device = *records_.front().first;
    return std::make_unique<libkineto::DeviceInfo>(
        libkineto::DeviceInfo{device.index(), libkineto::kExceedMaxPid + device.index(), "python",
                              device.name() + " " + device.info().name});
  }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<libkineto::ResourceInfo> queues;
    for (const auto& [device, records] : records_)
      queues.push_back({0, 0, device->index(), "queue of " + device->name()});
    return queues;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

 private:
  std::vector<std::pair<dlprim::Device*, std::vector<dlprim::KernelRecord>>> records_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
  static thread_local std::vector<std::uint64_t> outer_;  // numbers of the operators around the innermost
};

thread_local std::vector<std::uint64_t> KernelSession::outer_;

class KernelProfiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return kinds_; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config&) override {
    if (!wanted.count(ActivityType::CONCURRENT_KERNEL)) return nullptr;
    return std::make_unique<KernelSession>();
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(std::int64_t, std::int64_t,
                                                                 const std::set<ActivityType>& wanted,
                                                                 const libkineto::Config& config) override {
    return configure(wanted, config);
  }

 private:
  const std::string name_ = "ocl";
  const std::set<ActivityType> kinds_{ActivityType::CONCURRENT_KERNEL};
};

const bool is_registered = [] {
  libkineto::api().registerProfilerFactory([] { return std::make_unique<KernelProfiler>(); });
  return true;
}();

}  // namespace
}  // namespace torch_ocl

#endif
