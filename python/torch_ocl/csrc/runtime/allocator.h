#pragma once

#include <c10/core/Allocator.h>

#include <memory>

#include "dlprim/core/tensor.h"

namespace torch_ocl {

using Memory = std::shared_ptr<dlprim::Storage>;

/** The memory behind a storage's pointer; none where it is not of this back end's allocator. */
const Memory* memory_behind(const c10::DataPtr& pointer);

}  // namespace torch_ocl
