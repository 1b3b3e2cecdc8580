#include "tensors.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/DeviceGuard.h>

#include "runtime/allocator.h"
#include "runtime/devices.h"
#include "runtime/place.h"

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
    case c10::ScalarType::Short:
      return dlprim::DType::int16;
    case c10::ScalarType::Char:
      return dlprim::DType::int8;
    case c10::ScalarType::Byte:
      return dlprim::DType::uint8;
    case c10::ScalarType::Bool:
      return dlprim::DType::boolean;
    case c10::ScalarType::ComplexFloat:
      return dlprim::DType::complex64;
    case c10::ScalarType::ComplexDouble:
      return dlprim::DType::complex128;
    default:
      TORCH_CHECK_TYPE(false, "ocl devices have no kernels for dtype ", type);
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
    case dlprim::DType::int16:
      return c10::ScalarType::Short;
    case dlprim::DType::int8:
      return c10::ScalarType::Char;
    case dlprim::DType::uint8:
      return c10::ScalarType::Byte;
    case dlprim::DType::boolean:
      return c10::ScalarType::Bool;
    case dlprim::DType::complex64:
      return c10::ScalarType::ComplexFloat;
    case dlprim::DType::complex128:
      return c10::ScalarType::ComplexDouble;
  }
  TORCH_CHECK(false, "no dtype of PyTorch's for ", dlprim::name(dtype));
}

dlprim::Dims dims_of(c10::IntArrayRef sizes) {
  return dlprim::Dims(sizes.begin(), sizes.end());
}

namespace {

enum class Use { read, overwrite, any };

dlprim::Tensor elements_of(const at::Tensor& tensor, dlprim::DType dtype, Use use = Use::any) {
  TORCH_CHECK(tensor.is_privateuseone(), "expected a tensor of an ocl device, got one of ", tensor.device());
  TORCH_CHECK(tensor.layout() == c10::kStrided, "expected a strided tensor, got one of layout ",
              tensor.layout());
  Place* place = place_behind(tensor.storage().data_ptr());
  TORCH_CHECK(
      place,
      "a tensor of an ocl device lies in memory that is not of ocl's allocator (ocl devices take none "
      "from pointers)");
  if (use == Use::read)
    place->settle_contents();
  else if (use == Use::overwrite)
    place->settle_readers();
  else
    place->settle();
  dlprim::Tensor result;
  result.storage = place->memory;
  result.dtype = dtype;
  result.shape = dims_of(tensor.sizes());
  result.strides = dims_of(tensor.strides());
  result.offset = tensor.storage_offset();
  return result;
}

}  // namespace

dlprim::Tensor raw(const at::Tensor& tensor) {
  return elements_of(tensor, dtype_of(tensor.scalar_type()));
}

dlprim::Tensor raw_to_read(const at::Tensor& tensor) {
  return elements_of(tensor, dtype_of(tensor.scalar_type()), Use::read);
}

dlprim::Tensor raw_to_overwrite(const at::Tensor& tensor) {
  return elements_of(tensor, dtype_of(tensor.scalar_type()), Use::overwrite);
}

dlprim::Tensor bits_of(const at::Tensor& tensor) {
  if (has_kernels(tensor.scalar_type())) return raw(tensor);
  const std::size_t size = tensor.dtype().itemsize();
  TORCH_CHECK_TYPE(size == 1 || size == 2 || size == 4 || size == 8 || size == 16,
                   "ocl devices have no elements of ", size, " bytes");
  const bool is_small = size <= 2;
  dlprim::Tensor bits = elements_of(tensor, is_small    ? dlprim::DType::uint8
                                            : size == 4 ? dlprim::DType::int32
                                                        : dlprim::DType::int64);
  if (size != 2 && size != 16) return bits;
  for (int d = 0; d < bits.rank(); ++d) bits.strides[d] *= 2;
  bits.offset *= 2;
  bits.shape.push_back(2);
  bits.strides.push_back(1);
  return bits;
}

at::Tensor empty(const dlprim::Device& device, const dlprim::Dims& shape, const dlprim::Dims& strides,
                 dlprim::DType dtype) {
  // Not by at::empty_strided, whose way through PyTorch's dispatcher takes as long as a launch.
  const c10::DeviceGuard on(c10::Device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(device.index())));
  return at::detail::empty_strided_generic(
      sizes_of(shape), sizes_of(strides), c10::GetAllocator(c10::kPrivateUse1),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type_of(dtype));
}

at::Tensor tensor_over(const std::shared_ptr<dlprim::Storage>& memory, c10::ScalarType type,
                       const dlprim::Dims& shape, const dlprim::Dims& strides, std::int64_t offset,
                       bool is_shared) {
  const c10::Device device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(memory->device().index()));
  c10::Storage storage(c10::Storage::use_byte_size_t(), memory->bytes(),
                       pointer_to(memory, device, is_shared), c10::GetAllocator(c10::kPrivateUse1),
                       !is_shared);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_of(shape), sizes_of(strides), offset);
  return tensor;
}

at::Tensor tensor_over(const dlprim::Tensor& made) {
  return tensor_over(made.storage, type_of(made.dtype), made.shape, made.strides, made.offset, false);
}

dlprim::Scalar scalar_of(const c10::Scalar& value) {
  if (value.isBoolean()) return value.toBool();
  if (value.isIntegral(false)) return value.toLong();
  if (value.isComplex()) return static_cast<std::complex<double>>(value.toComplexDouble());
  return value.toDouble();
}

}  // namespace torch_ocl
