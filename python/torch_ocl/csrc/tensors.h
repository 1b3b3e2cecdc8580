#pragma once

#include <ATen/core/Tensor.h>

#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/device.h"

/** \file PyTorch's tensors as dlprim sees them: the same memory, no copy. */

namespace torch_ocl {

/** The device of an index; -1: the thread's current one. */
dlprim::Device& device_of(c10::DeviceIndex index);
dlprim::Device& device_under(const at::Tensor& tensor);

/** Whether all of dlprim computes with that dtype: not with float8, …, which are memory to it, nor with
 * complex numbers, which its pointwise rows alone take. */
constexpr bool has_kernels(c10::ScalarType type) {
  constexpr auto bit = [](c10::ScalarType t) { return std::uint64_t{1} << static_cast<int>(t); };
  constexpr std::uint64_t all = bit(c10::ScalarType::Float) | bit(c10::ScalarType::Double) |
                                bit(c10::ScalarType::Half) | bit(c10::ScalarType::BFloat16) |
                                bit(c10::ScalarType::Long) | bit(c10::ScalarType::Int) |
                                bit(c10::ScalarType::Short) | bit(c10::ScalarType::Char) |
                                bit(c10::ScalarType::Byte) | bit(c10::ScalarType::Bool);
  return (all & bit(type)) != 0;
}

/** Throws TypeError for a dtype without kernels. */
dlprim::DType dtype_of(c10::ScalarType type);
c10::ScalarType type_of(dlprim::DType dtype);

/** A strided tensor of an ocl device. Throws where it is none. */
dlprim::Tensor raw(const at::Tensor& tensor);
/** The tensor for readers: work put off that reads it (deferred.h) stays so. */
dlprim::Tensor raw_to_read(const at::Tensor& tensor);
/** The tensor for code that overwrites all of it, and calls note_overwritten (deferred.h) then: work that was
 * put off into it is not done. */
dlprim::Tensor raw_to_overwrite(const at::Tensor& tensor);
/** The tensor of any dtype, for code that only moves memory: the elements as integers of their size, or, as
 * there are none of 2 and of 16 bytes, as pairs along one more dimension, the last. */
dlprim::Tensor bits_of(const at::Tensor& tensor);
/** Fresh memory, contents undefined. */
at::Tensor empty(const dlprim::Device& device, const dlprim::Dims& shape, const dlprim::Dims& strides,
                 dlprim::DType dtype);

/** A tensor over memory that is there; `is_shared`: somebody else has it too. */
at::Tensor tensor_over(const std::shared_ptr<dlprim::Storage>& memory, c10::ScalarType type,
                       const dlprim::Dims& shape, const dlprim::Dims& strides, std::int64_t offset,
                       bool is_shared);
/** A tensor of PyTorch's over an operator's result, which nobody else has. */
at::Tensor tensor_over(const dlprim::Tensor& made);

dlprim::Scalar scalar_of(const c10::Scalar& value);
dlprim::Dims dims_of(c10::IntArrayRef sizes);
inline c10::IntArrayRef sizes_of(const dlprim::Dims& dims) {
  return {dims.begin(), static_cast<std::size_t>(dims.size())};
}

}  // namespace torch_ocl
