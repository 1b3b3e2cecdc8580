#pragma once

#include <ATen/core/Tensor.h>

#include "dlprim/core/dlpack.h"

/** \file PyTorch's tensors as DLPack's, and back, over the same memory. */

namespace torch_ocl {

/** The elements of an ocl device's tensor. */
dlprim::dlpack::Elements elements_of(const at::Tensor& tensor);
at::Tensor tensor_over(const dlprim::dlpack::Elements& elements);

}  // namespace torch_ocl
