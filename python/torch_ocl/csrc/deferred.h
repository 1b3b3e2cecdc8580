#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <mutex>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/capture.h"

/**
 * \file Work that is put off until somebody looks at its result, so that the operator behind it can take it
 * along in a kernel of its own: a batch norm and the activation behind it, the activation's gradient and the
 * norm's.
 *
 * A result that is put off has its memory, but nothing has been written there. Every way to memory
 * (runtime/allocator.h) first runs what was put off into it, and also what was put off and reads it, as that
 * may be about to be overwritten. A result that dies unread is never made. Nobody sees a difference but in
 * time.
 */

namespace torch_ocl {

/** Work on tensors that it keeps alive. */
class Deferred {
 public:
  Deferred() = default;
  virtual ~Deferred() = default;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  /** Enqueues it; the result is contiguous. */
  virtual void run(const dlprim::Tensor& result) const = 0;
};

/**
 * Puts off what `work` makes in all of `result`, which fills_its_memory. `inputs` are the tensors whose
 * memory it reads; where one's contents are put off themselves, it does not read them but stands on that
 * work. Runs it now where memory is seen from outside (DLPack).
 */
void defer(const at::Tensor& result, std::shared_ptr<const Deferred> work,
           std::initializer_list<std::reference_wrapper<const at::Tensor>> inputs);

/** Whether a tensor is contiguous and has its memory, which is ocl's, for itself. */
bool fills_its_memory(const at::Tensor& tensor);

/** Puts a copy of `source` off where that is put off itself, and the copy can be. */
bool defer_copy(const at::Tensor& source, const at::Tensor& copy);

/** Work found put off. While this lives no other thread makes or overwrites what it stands on. */
template <class Work>
struct FoundDeferred {
  std::unique_lock<std::recursive_mutex> lock;
  std::shared_ptr<const Work> work;

  explicit operator bool() const { return work != nullptr; }
  const Work* operator->() const { return work.get(); }
};

/** The work that was put off into all of that tensor, as it is; none where it has run. */
FoundDeferred<Deferred> deferred_work(const at::Tensor& tensor);

/** That work where it is of that kind. */
template <class Work>
FoundDeferred<Work> deferred(const at::Tensor& tensor) {
  FoundDeferred<Deferred> found = deferred_work(tensor);
  auto work = std::dynamic_pointer_cast<const Work>(found.work);
  return {work ? std::move(found.lock) : std::unique_lock<std::recursive_mutex>(), std::move(work)};
}

/** After all of a tensor was overwritten (raw_to_overwrite): what was put off into it will not be made. */
void note_overwritten(const at::Tensor& tensor);

/** Makes all that was put off: within a capture of that graph, or, for null, in none. */
void run_deferred(const dlprim::CommandGraph* graph);

/** From now on somebody else has the tensor's memory too, and may look at any time. */
void share_memory(const at::Tensor& tensor);

}  // namespace torch_ocl
