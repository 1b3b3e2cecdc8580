#include "tensors.h"

#include <ATen/ops/empty_strided.h>

#include "runtime/devices.h"

namespace torch_ocl {

dlprim::Device& device_of(c10::DeviceIndex index) {
  return dlprim::Device::get(static_cast<int>(index < 0 ? current_device() : index));
}

dlprim::Device& device_under(const at::Tensor& tensor) {
  return device_of(tensor.device().index());
}

dlprim::DType dtype_of(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Float:
      return dlprim::DType::float32;
    case c10::ScalarType::Double:
      return dlprim::DType::float64;
    case c10::ScalarType::Half:
      return dlprim::DType::float16;
    case c10::ScalarType::BFloat16:
      return dlprim::DType::bfloat16;
    case c10::ScalarType::Long:
      return dlprim::DType::int64;
    case c10::ScalarType::Int:
      return dlprim::DType::int32;
    case c10::ScalarType::Byte:
      return dlprim::DType::uint8;
    case c10::ScalarType::Bool:
      return dlprim::DType::boolean;
    default:
      TORCH_CHECK_TYPE(false, "ocl devices have no dtype ", type);
  }
}

c10::ScalarType type_of(dlprim::DType dtype) {
  switch (dtype) {
    case dlprim::DType::float32:
      return c10::ScalarType::Float;
    case dlprim::DType::float64:
      return c10::ScalarType::Double;
    case dlprim::DType::float16:
      return c10::ScalarType::Half;
    case dlprim::DType::bfloat16:
      return c10::ScalarType::BFloat16;
    case dlprim::DType::int64:
      return c10::ScalarType::Long;
    case dlprim::DType::int32:
      return c10::ScalarType::Int;
    case dlprim::DType::uint8:
      return c10::ScalarType::Byte;
    case dlprim::DType::boolean:
      return c10::ScalarType::Bool;
  }
  TORCH_CHECK(false, "no dtype of PyTorch's for ", dlprim::name(dtype));
}

dlprim::Dims dims_of(c10::IntArrayRef sizes) {
  return dlprim::Dims(sizes.begin(), sizes.end());
}

dlprim::Tensor raw(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_privateuseone(), "expected a tensor of an ocl device, got one of ", tensor.device());
  TORCH_CHECK(tensor.layout() == c10::kStrided, "expected a strided tensor, got one of layout ",
              tensor.layout());
  const auto* memory =
      static_cast<const std::shared_ptr<dlprim::Storage>*>(tensor.storage().data_ptr().get_context());
  TORCH_CHECK(memory, "a tensor of ", tensor.device(), " has no memory");
  dlprim::Tensor result;
  result.storage = *memory;
  result.dtype = dtype_of(tensor.scalar_type());
  result.shape = dims_of(tensor.sizes());
  result.strides = dims_of(tensor.strides());
  result.offset = tensor.storage_offset();
  return result;
}

at::Tensor empty(const dlprim::Device& device, const dlprim::Dims& shape, const dlprim::Dims& strides,
                 dlprim::DType dtype) {
  return at::empty_strided(
      sizes_of(shape), sizes_of(strides),
      at::TensorOptions()
          .dtype(type_of(dtype))
          .device(c10::Device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(device.index()))));
}

dlprim::Scalar scalar_of(const c10::Scalar& value) {
  if (value.isBoolean()) return value.toBool();
  if (value.isIntegral(false)) return value.toLong();
  TORCH_CHECK_TYPE(!value.isComplex(), "ocl devices have no complex numbers");
  return value.toDouble();
}

}  // namespace torch_ocl
