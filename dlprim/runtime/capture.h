#pragma once

#include <atomic>

#include "dlprim/core/error.h"

/** \file Whether what the calling thread enqueues is kept for a CommandGraph (command_graph.h). */

namespace dlprim {

class CommandGraph;
class Device;

namespace capture {

/** Captures that have begun and not ended, of all threads. */
extern std::atomic<int> under_way;

/** Set by a framework whose threads work for one another (PyTorch's backward passes): the graph that the
 * calling thread, which captures nothing itself, works for; null for none. */
extern std::atomic<CommandGraph* (*)()> of_who_is_served;

CommandGraph* of_this_thread(const Device& device);

}  // namespace capture

/** The graph that the calling thread's commands for that device are kept in; null where they run. */
inline CommandGraph* capturing(const Device& device) {
  return capture::under_way.load(std::memory_order_acquire) == 0 ? nullptr : capture::of_this_thread(device);
}

/** Throws Error where the calling thread captures: `what` cannot be kept. */
inline void refuse_in_capture(const Device& device, const char* what) {
  require<Error>(!capturing(device), what,
                 " while commands are captured: nothing has run yet, and a replay would not do it again");
}

}  // namespace dlprim
