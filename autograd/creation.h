#pragma once

#include <vector>

#include "autograd/tensor.h"

namespace ocl {

using Shape = std::vector<std::int64_t>;

/** Uploads `values` (row-major) as a tensor of that shape. Throws ValueError when their number does not fit.
 */
Tensor tensor(const std::vector<float>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<double>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int64_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int32_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::uint8_t>& values, const Shape& shape, const Device& device = {});
/** Uploads the bytes of a contiguous row-major array of that shape and dtype. */
Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, const Device& device = {});

/** Contents undefined. */
Tensor empty(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
Tensor full(const Shape& shape, const Scalar& value, DType dtype = DType::float32, const Device& device = {});
Tensor zeros(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
Tensor ones(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
Tensor zeros_like(const Tensor& like);
Tensor ones_like(const Tensor& like);

/** Uniform in [0, 1), from the device's default generator. */
Tensor rand(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
/** Standard normal. */
Tensor randn(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
/** Integers in [low, high). */
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype = DType::int64,
               const Device& device = {});

}  // namespace ocl
