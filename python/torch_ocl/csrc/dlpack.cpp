#include "dlpack.h"

#include <ATen/DLConvertor.h>

#include "deferred.h"
#include "tensors.h"

namespace torch_ocl {

dlprim::dlpack::Elements elements_of(const at::Tensor& tensor) {
  const dlprim::Tensor bits = bits_of(tensor);  // checks what it is
  share_memory(tensor);
  const DLDataType type = at::getDLDataType(tensor);
  return {bits.storage,
          {type.code, type.bits, type.lanes},
          dims_of(tensor.sizes()),
          dims_of(tensor.strides()),
          tensor.storage_offset()};
}

at::Tensor tensor_over(const dlprim::dlpack::Elements& elements) {
  const c10::ScalarType type =
      at::toScalarType({elements.type.code, elements.type.bits, elements.type.lanes});
  return tensor_over(elements.storage, type, elements.shape, elements.strides, elements.offset, true);
}

}  // namespace torch_ocl
