#include "nn/stack_guard.h"

#include <pthread.h>
#include <algorithm>

#include "nn/module.h"

namespace ocl::nn {
namespace {

// How deep a stack is used, whatever its limit: not all of a larger one may be there.
constexpr std::size_t largest_stack = std::size_t{8} << 20;
// The share of the stack that a call below needs at most, a driver's build of a program included.
constexpr std::size_t share_left = 4;

/** The lowest address that calls of this thread may reach. */
const char* stack_limit() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const std::size_t used = std::min(size, largest_stack);
  return static_cast<const char*>(lowest) + size - used + used / share_left;
}

}  // namespace

StackGuard::StackGuard(const Module& module) {
  static thread_local const char* const limit = stack_limit();
  // Not a variable's address: sanitizers keep those elsewhere.
  if (static_cast<const char*>(__builtin_frame_address(0)) < limit)
    throw RecursionError(dlprim::concat("modules are nested too deep: ", module.name()));
}

}  // namespace ocl::nn
