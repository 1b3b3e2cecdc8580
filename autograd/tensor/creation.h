#pragma once

#include <optional>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

using Shape = std::vector<std::int64_t>;

/** Uploads `values` (row-major) as a tensor of that shape. Throws ValueError when their number does not fit.
 */
Tensor tensor(const std::vector<float>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<double>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int64_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int32_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::uint8_t>& values, const Shape& shape, const Device& device = {});
/** Uploads the bytes of a contiguous row-major array of that shape and dtype. `non_blocking`: as
 * dlprim::HostBytes has it. */
Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, const Device& device = {},
                  bool non_blocking = false);
/** The tensor itself where it is contiguous, else a contiguous copy. */
dlprim::Tensor row_major(const dlprim::Tensor& tensor);
/** A contiguous copy on another device. Waits for the tensor, not for the copy. */
dlprim::Tensor copy_on(const Device& device, const dlprim::Tensor& tensor);

#include "autograd/ops/declare.def"

#include "autograd/tensor/creation.def"

#include "autograd/ops/declare_end.def"

// In the shape, dtype and on the device of `like`, and in its order of memory; what is given replaces its
// own.

}  // namespace ocl
