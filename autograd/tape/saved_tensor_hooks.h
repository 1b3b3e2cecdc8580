#pragma once

#include "autograd/tape/tape.h"

namespace ocl {

/**
 * Keeps something else in the place of each tensor that operators save for backward
 * (torch.autograd.graph.saved_tensors_hooks). Both functions run with the tape and these hooks off.
 */
class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  /** The object that is kept. `tensor` is the caller's own where it is a leaf, and has no history. */
  virtual Foreign pack(const Tensor& tensor) const = 0;
  /** The tensor of that object: of the shape, dtype and device that were saved. Asked at every use. */
  virtual Tensor unpack(const Foreign& packed) const = 0;
};

/** From here on tensors that this thread saves go through `hooks`; null ones save them as they are. */
void push_saved_tensor_hooks(std::shared_ptr<const SavedTensorHooks> hooks);
/** Ends the hooks that were pushed last. */
void pop_saved_tensor_hooks();
/** Whether this thread has hooks on. */
bool packs_saved_tensors();

}  // namespace ocl
