#pragma once

#include <chrono>
#include <cstdint>
#include <future>

#include "dlprim/runtime/opencl.h"

namespace dlprim {

/** A place among the commands of a queue (Queue::mark): the device reaches it when all that was enqueued
 * before, uploads too, is over. */
struct Mark {
  using Clock = std::chrono::steady_clock;

  cl::Event reached;
  std::uint64_t commands = 0;  // of the queue, up to here
  /** When the device reached it, by the host's clock, as the driver told; only of a mark that was asked for
   * with the time. */
  std::shared_future<Clock::time_point> time;
};

}  // namespace dlprim
