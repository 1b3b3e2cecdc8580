#pragma once

#include <c10/core/Allocator.h>

#include <memory>

#include "dlprim/core/tensor.h"

namespace torch_ocl {

using Memory = std::shared_ptr<dlprim::Storage>;
struct Place;

/** The object that a storage's pointer points to: its memory, which whoever takes it settles before
 * (place.h); none where it is not of this back end's allocator. */
Place* place_behind(const c10::DataPtr& pointer);
/** A storage's pointer to memory that is there; `is_shared`: somebody else has it too. */
c10::DataPtr pointer_to(Memory memory, c10::Device device, bool is_shared);

}  // namespace torch_ocl
