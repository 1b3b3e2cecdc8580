#pragma once

#include "dlprim/runtime/opencl.h"

namespace dlprim {

class Device;

/**
 * Kernel argument of a kernel that can meet bad data (an index out of range). It becomes two kernel
 * arguments, the device's error word and a code (`CHECK_ARGS` in kernels); the first kernel to fail leaves
 * its code and the offending value there, and the next waiting point throws IndexError with the message.
 */
struct DeviceCheck {
  int code;
};

/** A check whose failure reads `message` followed by the offending value. Call once per place: `static const
 * auto check = …`. */
DeviceCheck register_check(const char* message);

/** The error word of one queue: two ints on the device, code (0 = none) and value. */
class ErrorWord {
 public:
  ErrorWord(const cl::Context& context, const cl::CommandQueue& queue);
  /** The buffer, for a launch that may write it. */
  const cl::Buffer& use() {
    in_use_ = true;
    return buffer_;
  }
  /** Waits when a kernel since the last call could have failed; clears the word and throws IndexError if one
   * did. */
  void raise_if_set(const cl::CommandQueue& queue);

 private:
  cl::Buffer buffer_;
  bool in_use_ = false;
};

}  // namespace dlprim
