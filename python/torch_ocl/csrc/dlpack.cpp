#include "dlpack.h"

#include <ATen/DLConvertor.h>
#include <ATen/EmptyTensor.h>

#include "deferred.h"
#include "runtime/allocator.h"
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
  const c10::Device device(c10::kPrivateUse1,
                           static_cast<c10::DeviceIndex>(elements.storage->device().index()));
  c10::Storage storage(c10::Storage::use_byte_size_t(), elements.storage->bytes(),
                       pointer_to_shared(elements.storage, device), c10::GetAllocator(c10::kPrivateUse1),
                       false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_of(elements.shape), sizes_of(elements.strides),
                                                      elements.offset);
  return tensor;
}

}  // namespace torch_ocl
