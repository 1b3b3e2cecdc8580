#include "dlprim/runtime/ceilings.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr std::int64_t CHAINS = 8, STEPS = 4;

/** Floats in the kernels' VECTOR. */
std::int64_t copy_width(const DeviceInfo& device) {
  return device.runs_cpu_kernels() ? 16 : 4;
}
std::int64_t compute_width(const DeviceInfo& device) {
  return device.runs_cpu_kernels() ? 16 : 1;
}

Kernel& ceiling_kernel(Queue& queue, const char* name, std::int64_t width) {
  Defines defines;
  defines.set("VECTOR", width == 1 ? "float" : interned(concat("float", width)));
  return queue.kernel("runtime/ceilings.cl", name, defines);
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/** The time of one launch among many, the best of several measurements: others use the device too. */
template <class Launch>
double seconds_of(Queue& queue, const Launch& launch) {
  constexpr double long_enough = 5e-3;  // for what the host adds to be small
  constexpr double too_long = 1;        // a simulator is as slow every time
  launch();                             // some drivers compile at the first launch
  queue.finish();
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  int measured = 0, count = 1;
  do {
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) launch();
    queue.finish();
    const double seconds = seconds_since(start);
    best = std::min(best, seconds / count);
    if (seconds < long_enough)
      count *= 2;
    else
      ++measured;
  } while (measured < 5 && seconds_since(begin) < too_long);
  return best;
}

double measured_bytes(Queue& queue) {
  const DeviceInfo& info = queue.device().info();
  const std::uint64_t most = std::min(info.max_allocation / 2, info.global_memory / 16);
  const std::int64_t width = copy_width(info), bytes_of_vector = width * 4;
  const std::int64_t count =  // beyond what caches hold
      static_cast<std::int64_t>(std::min<std::uint64_t>(most, 128 << 20)) / bytes_of_vector;
  const Tensor source = queue.scratch({count * width}), target = queue.scratch({count * width});
  queue.zero(source);
  Kernel& kernel = ceiling_kernel(queue, "copy_ceiling", width);
  const Range range = share_range(queue, count, width);
  const double seconds =
      seconds_of(queue, [&] { queue.launch(kernel, range, source, target, static_cast<cl_ulong>(count)); });
  return 2.0 * static_cast<double>(count * bytes_of_vector) / seconds;
}

double measured_operations(Queue& queue) {
  const DeviceInfo& info = queue.device().info();
  const std::int64_t width = compute_width(info);
  const bool is_cpu = info.runs_cpu_kernels();
  const std::int64_t items = static_cast<std::int64_t>(info.compute_units) * (is_cpu ? 8 : 8192);
  const Range range = Range::linear(items, is_cpu ? 1 : work_group(info));
  const auto in_groups = static_cast<std::int64_t>(range.local[0]);
  const std::int64_t run = (items + in_groups - 1) / in_groups * in_groups;
  const Tensor out = queue.scratch({run * width});
  Kernel& kernel = ceiling_kernel(queue, "multiply_add_ceiling", width);
  const cl_int rounds = is_cpu ? 16384 : 1024;
  const double seconds = seconds_of(queue, [&] { queue.launch(kernel, range, out, rounds, 0.5F, 1.0F); });
  return 2.0 * static_cast<double>(run * width * CHAINS * STEPS) * rounds / seconds;
}

}  // namespace

Ceilings ceilings(Device& device) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<int, Ceilings>;
  {
    const std::lock_guard locked(mutex);
    if (const auto found = known.find(device.index()); found != known.end()) return found->second;
  }
  const Ceilings measured{measured_operations(device.queue()), measured_bytes(device.queue())};
  const std::lock_guard locked(mutex);
  return known.emplace(device.index(), measured).first->second;
}

}  // namespace dlprim
