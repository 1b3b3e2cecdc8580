#include "autograd/creation.h"

#include "autograd/generator.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

dlprim::Tensor allocate(const Shape& shape, DType dtype, const Device& device) {
  if (dtype == DType::float64) dlprim::require_floating(dtype, *device, "tensor");
  return dlprim::Tensor::empty(*device, shape, dtype);
}

template <class T>
Tensor upload(const std::vector<T>& values, const Shape& shape, const Device& device) {
  const std::int64_t expected = dlprim::product(shape);
  require(static_cast<std::int64_t>(values.size()) == expected, "tensor: ", values.size(),
          " values for shape ", Dims(shape), ", which takes ", expected);
  return from_bytes(values.data(), shape, dlprim::dtype_of<T>(), device);
}

}  // namespace

Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, const Device& device) {
  const dlprim::Tensor data = allocate(shape, dtype, device);
  device->queue().write(data, bytes, static_cast<std::size_t>(data.numel()) * size_of(dtype));
  return Tensor(data);
}

Tensor tensor(const std::vector<float>& values, const Shape& shape, const Device& device) {
  return upload(values, shape, device);
}
Tensor tensor(const std::vector<double>& values, const Shape& shape, const Device& device) {
  return upload(values, shape, device);
}
Tensor tensor(const std::vector<std::int64_t>& values, const Shape& shape, const Device& device) {
  return upload(values, shape, device);
}
Tensor tensor(const std::vector<std::int32_t>& values, const Shape& shape, const Device& device) {
  return upload(values, shape, device);
}
Tensor tensor(const std::vector<std::uint8_t>& values, const Shape& shape, const Device& device) {
  return upload(values, shape, device);
}

Tensor empty(const Shape& shape, DType dtype, const Device& device) {
  return Tensor(allocate(shape, dtype, device));
}

Tensor full(const Shape& shape, const Scalar& value, DType dtype, const Device& device) {
  const dlprim::Tensor data = allocate(shape, dtype, device);
  dlprim::fill(device->queue(), data, value);
  return Tensor(data);
}

Tensor zeros(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 0, dtype, device);
}
Tensor ones(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 1, dtype, device);
}
Tensor zeros_like(const Tensor& like) {
  return zeros(like.shape().vector(), like.dtype(), like.device());
}
Tensor ones_like(const Tensor& like) {
  return ones(like.shape().vector(), like.dtype(), like.device());
}

Tensor rand(const Shape& shape, DType dtype, const Device& device) {
  const dlprim::Tensor data = allocate(shape, dtype, device);
  dlprim::random_uniform(device->queue(), data, 0, 1, default_generator(device).next(data.numel()));
  return Tensor(data);
}

Tensor randn(const Shape& shape, DType dtype, const Device& device) {
  const dlprim::Tensor data = allocate(shape, dtype, device);
  dlprim::random_normal(device->queue(), data, 0, 1, default_generator(device).next(data.numel()));
  return Tensor(data);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, const Device& device) {
  const dlprim::Tensor data = allocate(shape, dtype, device);
  dlprim::random_integers(device->queue(), data, low, high, default_generator(device).next(data.numel()));
  return Tensor(data);
}

}  // namespace ocl
