#include "autograd/creation.h"

#include <cmath>

#include "autograd/ops/views.h"
#include "dlprim/ops/creation/arange.h"
#include "dlprim/ops/pointwise/pointwise.h"
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

Tensor empty_like(const Tensor& like, std::optional<DType> dtype) {
  return empty(like.shape().vector(), dtype.value_or(like.dtype()), like.device());
}
Tensor full_like(const Tensor& like, const Scalar& value, std::optional<DType> dtype) {
  return full(like.shape().vector(), value, dtype.value_or(like.dtype()), like.device());
}
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype) {
  return full_like(like, 0, dtype);
}
Tensor ones_like(const Tensor& like, std::optional<DType> dtype) {
  return full_like(like, 1, dtype);
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
              const Device& device) {
  constexpr auto floating = Scalar::Kind::floating;
  const bool whole = start.kind() != floating && end.kind() != floating && step.kind() != floating;
  require(step.real() != 0, "arange: step must be nonzero");
  require(std::isfinite(start.real()) && std::isfinite(end.real()),
          "arange: unsupported range: ", start.real(), " -> ", end.real());
  require((end.real() - start.real()) * step.real() >= 0,
          "arange: upper bound and lower bound inconsistent with step sign, got ", start.real(), " -> ",
          end.real(), " by ", step.real());
  std::int64_t n = 0;
  if (whole) {
    const std::int64_t by = step.integer(), way = end.integer() - start.integer();
    n = (way + by - (by > 0 ? 1 : -1)) / by;
  } else {
    n = static_cast<std::int64_t>(std::ceil((end.real() - start.real()) / step.real()));
  }
  const dlprim::Tensor data = allocate({n}, dtype.value_or(whole ? DType::int64 : DType::float32), device);
  dlprim::arange(device->queue(), data, start, step);
  return Tensor(data);
}

Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype,
                const Device& device) {
  require(steps >= 0, "linspace: number of steps must be non-negative, got ", steps);
  const bool is_real = is_floating(dtype);
  const double first = is_real ? start.real() : static_cast<double>(start.integer());
  const double last = is_real ? end.real() : static_cast<double>(end.integer());
  const double step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  std::vector<double> values(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i)  // from both ends, so that both are met
    values[static_cast<std::size_t>(i)] = i < (steps + 1) / 2
                                              ? first + step * static_cast<double>(i)
                                              : last - step * static_cast<double>(steps - 1 - i);
  if (dtype == DType::float64) return tensor(values, {steps}, device);
  if (is_real) return tensor(std::vector<float>(values.begin(), values.end()), {steps}, device).to(dtype);
  return tensor(std::vector<std::int64_t>(values.begin(), values.end()), {steps}, device).to(dtype);
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, DType dtype, const Device& device) {
  require(n >= 0 && m.value_or(n) >= 0, "eye: n and m must be greater or equal to 0, got ", n, " and ",
          m.value_or(n));
  const Tensor result = zeros({n, m.value_or(n)}, dtype, device);
  dlprim::fill(device->queue(), diagonal(result).data(), 1);
  return result;
}

}  // namespace ocl
