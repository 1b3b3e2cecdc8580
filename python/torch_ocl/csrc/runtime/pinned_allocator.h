#pragma once

#include <c10/core/Allocator.h>

namespace torch_ocl {

/** Page-locked memory of the host, for `pin_memory()`, of the current device. */
c10::Allocator* pinned_allocator();

}  // namespace torch_ocl
