#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "dlprim/runtime/opencl.h"

/**
 * \file Several copies of this library in one process, as two Python modules that link it have, whose tensors
 * may share memory (core/dlpack.h).
 *
 * Copies that have met use one OpenCL context a device, the first one's, so that a buffer of the one is a
 * buffer of the other. Each keeps a queue of its own. Before a command that touches shared memory, a queue
 * waits for all that the other copies have enqueued so far on that device (Queue::await_upload).
 */

namespace dlprim {
class Device;
}

namespace dlprim::copies {

/** The functions that one copy offers to the others. The layout of these two is the same in all builds of a
 * version. */
struct Copy {
  /** An event, flushed and the caller's to release, after all commands of this copy on that device; null
   * where there are none beyond the number in `*seen`, which it moves on. */
  cl_event (*position)(cl_device_id device, std::uint64_t* seen);
};

/** Where the copies of a process find each other; the first of them makes it, and it stays. */
struct Meeting {
  static constexpr std::uint32_t current_version = 1, room = 8;

  std::uint32_t version = current_version;
  std::atomic<std::uint32_t> count{0};
  const Copy* copies[room] = {};
  /** The context of a device, the caller's to release; null where it cannot be made. */
  cl_context (*context)(cl_device_id device) = nullptr;
};

/** Joins those who have met there, or none: then the result is a new meeting for those who come later. To be
 * called before this copy opens a device. Copies of another version, and those for whom there is no room,
 * stay by themselves. */
Meeting* join(Meeting* met);

/** The context for a device that opens. */
cl::Context context_of(const cl::Device& device);
/** Tells the others of a device that is open from now on. */
void note_opened(Device& device);

/** This copy's knowledge of the others' commands on a device. */
using Seen = std::array<std::uint64_t, Meeting::room>;
/** The others' positions on that device, of those that have moved on since. */
std::vector<cl::Event> positions(const cl::Device& device, Seen& seen);

}  // namespace dlprim::copies
