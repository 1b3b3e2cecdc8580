#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "tensors.h"

namespace torch_ocl {
namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

c10::ScalarType checked_type(std::optional<c10::ScalarType> given, std::optional<c10::Layout> layout,
                             std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::layout_or_default(layout) == c10::Layout::Strided,
                              "ocl devices have strided tensors only, got layout ", *layout);
  TORCH_CHECK(!c10::pinned_memory_or_default(pinned), "only tensors of the CPU can be pinned");
  const c10::ScalarType type = c10::dtype_or_default(given);
  TORCH_CHECK_TYPE(!c10::isQIntType(type), "ocl devices have no quantized dtype ", type);
  return type;
}

at::Tensor empty_memory_format(c10::IntArrayRef size, std::optional<c10::ScalarType> type,
                               std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                               std::optional<bool> pinned, std::optional<c10::MemoryFormat> format) {
  const c10::ScalarType checked = checked_type(type, layout, pinned);
  const c10::DeviceGuard on(c10::device_or_default(device));
  return at::detail::empty_generic(size, c10::GetAllocator(c10::kPrivateUse1), keys, checked, format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> type,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                         std::optional<bool> pinned) {
  const c10::ScalarType checked = checked_type(type, layout, pinned);
  const c10::DeviceGuard on(c10::device_or_default(device));
  return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(c10::kPrivateUse1), keys, checked);
}

at::Tensor& set_storage(at::Tensor& self, c10::Storage storage, std::int64_t offset, c10::IntArrayRef size,
                        c10::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(storage), offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(offset);
  at::native::resize_impl_cpu_(self.unsafeGetTensorImpl(), size, stride, false);
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, c10::Storage storage) {
  const auto count = static_cast<std::int64_t>(storage.nbytes() / self.dtype().itemsize());
  return set_storage(self, std::move(storage), 0, {count}, {1});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_nothing(at::Tensor& self) {
  return set_tensor(self, at::empty({0}, self.options()));
}

const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef size,
                         std::optional<c10::MemoryFormat> format) {
  TORCH_CHECK(!format || *format != c10::MemoryFormat::Preserve, "Unsupported memory format ", *format);
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (self.sizes() == size) {  // strides stay
    if (format) impl->empty_tensor_restride(*format);
    return self;
  }
  impl->set_sizes_contiguous(size);
  if (format) impl->empty_tensor_restride(*format);
  const std::size_t bytes = at::detail::computeStorageNbytes(self.sizes(), self.strides(),
                                                             self.dtype().itemsize(), self.storage_offset());
  if (bytes > self.storage().nbytes())
    at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(self.storage(), bytes);
  return self;
}

/** Whether `self.data = from` may be: tensors of any devices, as PyTorch has it among those that it knows,
 * but not sparse ones of two. `Module.to` asks so too, and gives parameters other memory then. */
bool has_compatible_type(const at::Tensor& self, const at::Tensor& from) {
  const auto is_dense = [](const at::Tensor& t) {
    return t.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Dense)) && !t.is_meta();
  };
  return self.key_set() == from.key_set() || (is_dense(self) && is_dense(from));
}

/** Nothing: memory that is let go is given out again only to what is enqueued later. */
void record_stream(at::Tensor& /*self*/, c10::Stream /*stream*/) {}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("record_stream", &record_stream);
  m.impl("empty.memory_format", &empty_memory_format);
  m.impl("empty_strided", &empty_strided);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  // A view that ran on the CPU would be none: writing to it would change nothing.
  m.impl("unfold", &at::native::unfold);
  m.impl("is_set_to", &at::native::is_set_to);
  m.impl("resize_", &resize);
  m.impl("_has_compatible_shallow_copy_type", &has_compatible_type);
  m.impl("set_", &set_nothing);
  m.impl("set_.source_Tensor", &set_tensor);
  m.impl("set_.source_Storage", &set_whole_storage);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
}

}  // namespace
}  // namespace torch_ocl
