#pragma once

namespace torch_ocl {

/** Makes the calling thread known to those that come to work for it: PyTorch's engine runs a backward pass in
 * threads of its own, with the thread-local objects of who called it. An error of its kernels, such as an
 * index out of range, belongs to the caller (dlprim/runtime/responsible_thread.h). To be called by whatever a
 * thread does before its first backward pass. */
void announce_thread();

/** Waits until the threads of PyTorch's engine have let go of all backward passes so far. A thread may hold
 * the last reference to a graph, and with it Python objects, for a while after `backward()` has returned.
 * Where Python ends in that while, the thread's wait for Python's lock ends the process with SIGABRT. To be
 * called before the interpreter ends, without Python's lock. */
void finish_backward_passes();

}  // namespace torch_ocl
