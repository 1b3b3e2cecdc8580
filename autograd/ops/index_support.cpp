#include "autograd/ops/index_support.h"

namespace ocl {

using dlprim::require;

dlprim::Tensor checked_index(const char* op, const Tensor& index) {
  // An empty index may have any dtype, as in PyTorch.
  require<TypeError>(index.dtype() == DType::int64 || index.dtype() == DType::int32 || index.numel() == 0, op,
                     ": expected an index of dtype int64 or int32, got ", name(index.dtype()));
  return contiguous(to(index.detach(), DType::int64)).data();
}

void require_one_device(const char* op, const TensorList& tensors) {
  for (const Tensor& t : tensors)
    require(t.device() == tensors.front().device(), op, ": expected all tensors on one device, got ",
            tensors.front().data().device().name(), " and ", t.data().device().name());
}

}  // namespace ocl
