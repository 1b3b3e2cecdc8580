#pragma once

namespace torch_ocl {

/** Makes the calling thread known to those that come to work for it: PyTorch's engine runs a backward pass in
 * threads of its own, with the thread-local objects of who called it. What its kernels meet, an index out of
 * range, belongs to the caller (dlprim/runtime/responsible_thread.h). To be called by whatever a thread does
 * before its first backward pass. */
void announce_thread();

}  // namespace torch_ocl
