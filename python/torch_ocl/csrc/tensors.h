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

/** Throws TypeError for a dtype that there is not (complex, int8, …). */
dlprim::DType dtype_of(c10::ScalarType type);
c10::ScalarType type_of(dlprim::DType dtype);

/** A strided tensor of an ocl device. Throws where it is none. */
dlprim::Tensor raw(const at::Tensor& tensor);
/** Fresh memory, contents undefined. */
at::Tensor empty(const dlprim::Device& device, const dlprim::Dims& shape, const dlprim::Dims& strides,
                 dlprim::DType dtype);

dlprim::Scalar scalar_of(const c10::Scalar& value);
dlprim::Dims dims_of(c10::IntArrayRef sizes);
inline c10::IntArrayRef sizes_of(const dlprim::Dims& dims) {
  return {dims.begin(), static_cast<std::size_t>(dims.size())};
}

}  // namespace torch_ocl
