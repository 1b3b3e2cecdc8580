#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/fields.h"
#include "dlprim/runtime/opencl.h"
#include "dlprim/runtime/suspicion.h"

namespace dlprim {

class Device;
class Storage;
struct Tensor;

/**
 * Kernel argument of a kernel that can meet bad data (an index out of range, a divisor of zero). It becomes
 * two kernel arguments, the calling thread's error word and a code (`CHECK_ARGS` in kernels). The first
 * kernel to fail leaves its code and the offending value there, and a waiting point throws the check's error
 * with the message.
 */
struct DeviceCheck {
  int code;
  Storage* spoiled = nullptr;

  /** This check for a launch whose failure leaves `result` wrong. */
  DeviceCheck spoiling(const Tensor& result) const;
  FIELDS(code)
};

/** The error that a failed check becomes: IndexError or ZeroDivisionError. */
enum class CheckError { index, division };

/** A check whose failure reads `message` followed by the offending value. Call once per place: `static const
 * auto check = …`. */
DeviceCheck register_check(const std::string& message, CheckError error = CheckError::index);
/** The check of that message and error, registered now if there is none yet. */
DeviceCheck find_or_register_check(const std::string& message, CheckError error);

/** A check as an argument: its message, and the error's number. */
ArgumentValue argument_value(const DeviceCheck& check);

/** That of the calling thread while it has launched kernels with checks on that device and not waited since:
 * what it computes now may be wrong. */
Suspicion suspicion_of_this_thread(int device_index);

/**
 * The error words of one queue, one for each host thread that launches kernels with checks. A thread that
 * waits gets the failures
 *  - of its own launches,
 *  - of threads whose results it reads or computes with (Storage::suspect), each once: these get theirs as
 * well,
 *  - of threads that have ended without waiting,
 * and no others. The message names the operator and, where it was not the waiting one, the thread. Not thread
 * safe: the queue's lock is held.
 */
class ErrorWords {
 public:
  ErrorWords(const Device& device);

  /** The calling thread's word, for a launch that may write it. */
  const cl::Buffer& use(const DeviceCheck& check, const cl::CommandQueue& queue);

  /** Notes that the calling thread goes on with what another thread's kernels may have spoiled. */
  void follow(Suspicion suspicion);

  /** To be called with the device at rest. Throws IndexError and ZeroDivisionError. */
  void raise_failures(const cl::CommandQueue& queue);

 private:
  struct Word {
    cl::Buffer buffer;
    std::uint32_t thread;
    std::int64_t native_id;
    bool in_use = false;
    std::string failure;                   // seen, not yet raised by this thread
    CheckError error = CheckError::index;  // its kind
    std::uint32_t moment = 0;              // when it was seen
    std::vector<std::uint32_t> told;  // threads that follow this one, which may never wait itself, once each
  };
  struct Followed {
    std::uint32_t follower;
    Suspicion whom;
  };

  Word& word_of_this_thread(const cl::CommandQueue& queue);
  void look_at_words(const cl::CommandQueue& queue);

  const Device& device_;
  std::vector<std::unique_ptr<Word>> words_;
  std::vector<Followed> followed_;  // once for each follower and thread, since the earliest moment
};

}  // namespace dlprim
