#include "dlprim/core/tensor.h"

#include "dlprim/runtime/device.h"

namespace dlprim {

Tensor Tensor::empty(Device& device, const Dims& shape, DType dtype) {
  for (std::int64_t size : shape) require(size >= 0, "empty: negative size in shape ", shape);
  Tensor t;
  t.dtype = dtype;
  t.shape = shape;
  t.strides = contiguous_strides(shape);
  t.storage = device.allocator().allocate(static_cast<std::size_t>(t.numel()) * size_of(dtype));
  return t;
}

Device& Tensor::device() const { return storage->device(); }

bool Tensor::is_contiguous() const {
  std::int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (shape[i] == 0) return true;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Tensor Tensor::reshaped(const Dims& new_shape) const {
  Tensor t = *this;
  t.shape = new_shape;
  t.strides = contiguous_strides(new_shape);
  return t;
}

Tensor Tensor::expanded(const Dims& new_shape) const {
  Tensor t = *this;
  t.shape = new_shape;
  t.strides = Dims::filled(new_shape.size(), 0);
  for (int i = 1; i <= rank(); ++i)
    if (size(-i) == new_shape[new_shape.size() - i] && size(-i) != 1)
      t.strides[new_shape.size() - i] = strides[rank() - i];
  return t;
}

std::pair<std::int64_t, std::int64_t> Tensor::reach() const {
  if (numel() == 0) return {offset, offset};
  std::int64_t low = offset, high = offset + 1;
  for (int i = 0; i < rank(); ++i) (strides[i] < 0 ? low : high) += strides[i] * (shape[i] - 1);
  return {low, high};
}

bool Tensor::overlaps(const Tensor& other) const {
  if (storage != other.storage || numel() == 0 || other.numel() == 0) return false;
  const auto [low, high] = reach();
  const auto [other_low, other_high] = other.reach();
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const auto other_bytes = static_cast<std::int64_t>(size_of(other.dtype));
  return low * bytes < other_high * other_bytes && other_low * other_bytes < high * bytes;
}

}  // namespace dlprim
