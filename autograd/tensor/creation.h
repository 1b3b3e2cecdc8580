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

/** Contents undefined. Throws ValueError for a format of another rank than the shape's. */
Tensor empty(const Shape& shape, DType dtype = DType::float32, const Device& device = {},
             MemoryFormat format = MemoryFormat::contiguous);
/** Without a dtype that of the value: int64, bool or float32. */
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt,
            const Device& device = {});
Tensor zeros(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
Tensor ones(const Shape& shape, DType dtype = DType::float32, const Device& device = {});
// In the shape, dtype and on the device of `like`, and in its order of memory; what is given replaces its
// own.
Tensor empty_like(const Tensor& like, std::optional<DType> dtype = std::nullopt,
                  const std::optional<Device>& device = std::nullopt,
                  MemoryFormat format = MemoryFormat::preserve);
Tensor full_like(const Tensor& like, const Scalar& value, std::optional<DType> dtype = std::nullopt,
                 const std::optional<Device>& device = std::nullopt,
                 MemoryFormat format = MemoryFormat::preserve);
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt,
                  const std::optional<Device>& device = std::nullopt,
                  MemoryFormat format = MemoryFormat::preserve);
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt,
                 const std::optional<Device>& device = std::nullopt,
                 MemoryFormat format = MemoryFormat::preserve);

/**
 * start, start + step, … below `end` (above it for a negative step). int64 where all three are whole numbers
 * by kind and no dtype is given, else float32. Throws ValueError for a step of 0 or of the wrong sign.
 */
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt, const Device& device = {});
/** `steps` numbers evenly spaced from `start` to `end`, both included. */
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype = DType::float32,
                const Device& device = {});
/** Ones on the diagonal of an n x m matrix (m = n where left out). */
Tensor eye(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, DType dtype = DType::float32,
           const Device& device = {});

}  // namespace ocl
