#include "nn/stack_guard.h"

#include <pthread.h>

#include "nn/module.h"

namespace ocl::nn {
namespace {

// What a call below needs at most: a driver that builds a program among it.
constexpr std::size_t least_room = std::size_t{1} << 20;

/** The lowest address that calls of this thread may reach. */
const char* stack_limit() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<const char*>(lowest) + std::min(least_room, size / 4);
}

}  // namespace

StackGuard::StackGuard(const Module& module) {
  static thread_local const char* const limit = stack_limit();
  const char here = 0;
  if (&here < limit)
    throw RecursionError(dlprim::concat("calls of modules are nested too deep: ", module.name()));
}

}  // namespace ocl::nn
