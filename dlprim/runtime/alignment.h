#pragma once

#include <cstddef>

#include "dlprim/core/dtype.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {

/** Whether a tensor's data begins at a multiple of `elements` elements in its buffer: kernels may then read
 * vectors of so many. */
inline bool is_aligned_to(std::size_t elements, const Tensor& t) {
  return (t.storage->byte_offset() / size_of(t.dtype) + static_cast<std::size_t>(t.offset)) % elements == 0;
}

}  // namespace dlprim
