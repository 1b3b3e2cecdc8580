#pragma once

#include <c10/core/Allocator.h>

#include <memory>

#include "dlprim/core/tensor.h"

namespace torch_ocl {

using Memory = std::shared_ptr<dlprim::Storage>;

/** The memory behind a storage's pointer; none where it is not of this back end's allocator. */
const Memory* memory_behind(const c10::DataPtr& pointer);
/** A storage's pointer to that memory. */
c10::DataPtr pointer_to(Memory memory, c10::Device device);

}  // namespace torch_ocl
