#include "dlprim/core/checked.h"

#include "dlprim/core/tensor.h"

namespace dlprim {
namespace {

void require_dtype(const char* op, const char* what, const Tensor& tensor, DType dtype) {
  require<TypeError>(tensor.dtype == dtype, op, ": expected ", what, " of dtype ", name(dtype), ", got ",
                     name(tensor.dtype));
}

}  // namespace

void require_contiguous(const char* op, const char* what, const Tensor& tensor) {
  require(tensor.is_contiguous(), op, ": expected ", what, " to be contiguous, got shape ", tensor.shape,
          " with strides ", tensor.strides);
}

void require_elements(const char* op, const char* what, const Tensor& tensor, std::int64_t count,
                      DType dtype) {
  require(tensor.numel() == count, op, ": expected ", what, " of ", count, " elements, got shape ",
          tensor.shape);
  require_dtype(op, what, tensor, dtype);
  require_contiguous(op, what, tensor);
}

void require_elements(const char* op, const char* what, const Tensor* tensor, std::int64_t count,
                      DType dtype) {
  if (tensor) require_elements(op, what, *tensor, count, dtype);
}

void require_like(const char* op, const char* what, const Tensor& tensor, const Dims& shape, DType dtype) {
  require(tensor.shape == shape, op, ": expected ", what, " of shape ", shape, ", got ", tensor.shape);
  require_dtype(op, what, tensor, dtype);
  require_contiguous(op, what, tensor);
}

void require_like(const char* op, const char* what, const Tensor* tensor, const Dims& shape, DType dtype) {
  if (tensor) require_like(op, what, *tensor, shape, dtype);
}

}  // namespace dlprim
