#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

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
/** Without those of `dims` that have size 1. */
Tensor squeeze(const Tensor& a, const std::vector<std::int64_t>& dims);
Tensor unsqueeze(const Tensor& a, std::int64_t dim);
/** Broadcasts dimensions of size 1; -1 keeps a size. */
Tensor expand(const Tensor& a, const std::vector<std::int64_t>& shape);
/** Dimension `dim` as several; one of their sizes may be -1. */
Tensor unflatten(const Tensor& a, std::int64_t dim, const std::vector<std::int64_t>& sizes);
/** The dimensions `source` moved to the places `destination`; the others keep their order. */
Tensor movedim(const Tensor& a, const std::vector<std::int64_t>& source,
               const std::vector<std::int64_t>& destination);
/** Entries (i, i + offset) of dimensions dim1 and dim2, as a last dimension. */
Tensor diagonal(const Tensor& a, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
/** The memory of `a` under any sizes and strides, from element `storage_offset` of the memory on (that of `a`
 * where left out). The view may show an element several times. Throws ValueError where it leaves the memory.
 */
Tensor as_strided(const Tensor& a, const std::vector<std::int64_t>& size,
                  const std::vector<std::int64_t>& stride,
                  std::optional<std::int64_t> storage_offset = std::nullopt);
/** `length` entries of `dim` from `start` on. */
Tensor narrow(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t length);
/** Every `step`-th entry of `dim` from `start` (inclusive) to `end` (exclusive), as Python slices; step > 0.
 */
Tensor slice(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
/** Entry `index` of `dim`, which goes away. */
Tensor select(const Tensor& a, std::int64_t dim, std::int64_t index);

// Copies.

// The formats of copies: `preserve` keeps strides that are dense, and the order of others. Throw ValueError
// where the format has another rank.

/** The tensor itself where it is contiguous in that format, else a copy that is. */
Tensor contiguous(const Tensor& a, MemoryFormat format = MemoryFormat::contiguous);
Tensor clone(const Tensor& a, MemoryFormat format = MemoryFormat::preserve);
/** The tensor itself where it has that dtype and format, else a converted copy. */
Tensor to(const Tensor& a, DType dtype, MemoryFormat format = MemoryFormat::preserve);
/** The tensor itself where its strides suggest that format, else a copy in it. */
Tensor to(const Tensor& a, MemoryFormat format);
/** The tensor itself where it is on that device, else a copy there (through host memory: waits). */
Tensor to(const Tensor& a, const Device& device);
}  // namespace ocl
