#pragma once

#include <c10/util/Exception.h>

#include <type_traits>

#include "dlprim/core/error.h"

namespace torch_ocl {

/** What `run` returns. Memory that a device does not have is PyTorch's error: torch.OutOfMemoryError in
 * Python. */
template <class Run>
std::invoke_result_t<Run> with_memory_errors_of_torch(const Run& run) {
  try {
    return run();
  } catch (const dlprim::OutOfMemoryError& e) {
    C10_THROW_ERROR(OutOfMemoryError, e.what());
  }
}

}  // namespace torch_ocl
