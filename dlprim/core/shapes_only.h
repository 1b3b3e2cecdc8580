#pragma once

#include <utility>

#include "dlprim/core/call_state.h"

namespace dlprim {

/**
 * Until it ends, the calling thread's operators give shapes, dtypes and strides, and no device runs a
 * command. New tensors have no memory, whatever their size. Queues (Queue) take launches, copies and uploads
 * and do nothing, and no program is built. Everything else is as ever: calls are announced, arguments are
 * checked. An operation that needs elements (a download, the number of elements that are not 0) throws Error,
 * then and later. So does work on a device with a tensor that was made here. Elements of other tensors stay
 * as they are, also where they are written in place. PyTorch: FakeTensorMode, the device "meta".
 */
class ShapesOnly {
 public:
  ShapesOnly() : had_elements_(std::exchange(call_state.has_elements, false)) {}
  ~ShapesOnly() { call_state.has_elements = had_elements_; }
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;

 private:
  bool had_elements_;
};

}  // namespace dlprim
