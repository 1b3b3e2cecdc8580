#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Views: the same memory under other shapes and strides (torch functions of the same names). Writing through
// one writes the other. Sizes of -1 are worked out from the rest. Throw ValueError for shapes that do not
// fit, IndexError for dimensions.

#include "autograd/ops/declare.def"

#include "autograd/ops/views.def"

#include "autograd/ops/declare_end.def"

/** Every `step`-th entry of `dim` from `start` (inclusive) to `end` (exclusive), as Python slices; step > 0.
 */
Tensor slice(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);

// Copies.

// The formats of copies: `preserve` keeps strides that are dense, and the order of others. Throw ValueError
// where the format has another rank.

/** The tensor itself where it has that dtype and format, else a converted copy. */
Tensor to(const Tensor& a, DType dtype, MemoryFormat format = MemoryFormat::preserve);
/** The tensor itself where its strides suggest that format, else a copy in it. */
Tensor to(const Tensor& a, MemoryFormat format);
/** The tensor itself where it is on that device, else a copy there (through host memory: waits). */
Tensor to(const Tensor& a, const Device& device);
}  // namespace ocl
