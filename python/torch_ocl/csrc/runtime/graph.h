#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "dlprim/runtime/command_graph.h"

namespace torch_ocl {

/** Operators of a thread, and of the backward passes that it runs, captured to be repeated (torch.cuda's
 * CUDAGraph). dlprim::CommandGraph says what is captured, and what cannot be. */
class Graph {
 public:
  ~Graph();

  /** With the memory of the pool of that id, where graphs have one, or of one of its own; {0, 0} is none. */
  void capture_begin(c10::MempoolId_t pool);
  void capture_end();
  void replay();
  void reset();
  /** The pool of the last capture. */
  c10::MempoolId_t pool() const;
  /** A line for each command. */
  std::string description() const;

 private:
  dlprim::CommandGraph& captured() const;

  std::unique_ptr<dlprim::CommandGraph> graph_;
  c10::MempoolId_t pool_{0, 0};
};

/** The id of a pool that several graphs may be given. */
c10::MempoolId_t new_graph_pool();
/** The graph that the calling thread's work on that device (-1: its current one) is captured in, null for
 * none. Opens no device, which seeding, say, need not do. */
dlprim::CommandGraph* capturing(c10::DeviceIndex device);

}  // namespace torch_ocl
