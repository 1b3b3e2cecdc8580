#pragma once

namespace ocl::nn {

class Module;

/** A call of a module, or a level of a walk, within others: throws RecursionError before the thread's stack
 * overflows. */
class StackGuard {
 public:
  explicit StackGuard(const Module& module);
};

}  // namespace ocl::nn
