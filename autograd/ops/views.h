#pragma once

#include <optional>

#include "autograd/tensor.h"

namespace ocl {

// Views: the same memory under other shapes and strides (torch functions of the same names). Writing through
// one writes the other. Sizes of -1 are worked out from the rest. Throw ValueError for shapes that do not
// fit, IndexError for dimensions.

Tensor view(const Tensor& a, const std::vector<std::int64_t>& shape);
/** A view where the strides allow one, else a copy. */
Tensor reshape(const Tensor& a, const std::vector<std::int64_t>& shape);
Tensor flatten(const Tensor& a, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
Tensor transpose(const Tensor& a, std::int64_t dim0, std::int64_t dim1);
Tensor permute(const Tensor& a, const std::vector<std::int64_t>& dims);
/** The transpose of a matrix; anything of fewer dimensions as it is. */
Tensor t(const Tensor& a);
Tensor squeeze(const Tensor& a, std::optional<std::int64_t> dim = std::nullopt);
Tensor unsqueeze(const Tensor& a, std::int64_t dim);
/** Broadcasts dimensions of size 1; -1 keeps a size. */
Tensor expand(const Tensor& a, const std::vector<std::int64_t>& shape);
/** `length` entries of `dim` from `start` on. */
Tensor narrow(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t length);
/** Every `step`-th entry of `dim` from `start` (inclusive) to `end` (exclusive), as Python slices; step > 0.
 */
Tensor slice(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
/** Entry `index` of `dim`, which goes away. */
Tensor select(const Tensor& a, std::int64_t dim, std::int64_t index);

// Copies.

/** The tensor itself where it is contiguous, else a contiguous copy. */
Tensor contiguous(const Tensor& a);
Tensor clone(const Tensor& a);
/** The tensor itself where it has that dtype, else a converted copy. */
Tensor to(const Tensor& a, DType dtype);
/** The tensor itself where it is on that device, else a copy there (through host memory: waits). */
Tensor to(const Tensor& a, const Device& device);
/** The tensors joined along `dim`; the other sizes agree. */
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace ocl
