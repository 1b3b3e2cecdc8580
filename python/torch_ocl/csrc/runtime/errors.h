#pragma once

#include <c10/util/Exception.h>

#include <type_traits>

#include "dlprim/core/error.h"

namespace torch_ocl {

/** The result of `run`. Errors that have a name of their own in Python come as PyTorch's: memory that a
 * device does not have (torch.OutOfMemoryError), and an index that is found out of range (IndexError). */
template <class Run>
std::invoke_result_t<Run> with_errors_of_torch(const Run& run) {
  try {
    return run();
  } catch (const dlprim::OutOfMemoryError& e) {
    C10_THROW_ERROR(OutOfMemoryError, e.what());
  } catch (const dlprim::IndexError& e) {
    C10_THROW_ERROR(IndexError, e.what());
  }
}

}  // namespace torch_ocl
