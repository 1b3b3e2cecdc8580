#pragma once

#include <atomic>
#include <cstdint>

namespace dlprim {

/** Set by a caller that has threads which work for others, as PyTorch's engine runs backward passes in
 * threads of its own: gives the number (thread_number) of the thread that the calling one works for, 0 for
 * itself. */
extern std::atomic<std::uint32_t (*)()> find_served_thread;

/** The number of the thread that the calling thread's kernels belong to: it gets their failures. */
std::uint32_t responsible_thread();

/** The system's number of a thread that lives; 0 once it has ended. */
std::int64_t native_id_of(std::uint32_t thread);

}  // namespace dlprim
