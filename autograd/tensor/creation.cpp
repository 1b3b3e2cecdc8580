#include "autograd/tensor/creation.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/views.h"
#include "dlprim/ops/creation/arange.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void require_storable(DType dtype, const Device& device) {
  if (real_dtype(dtype) == DType::float64) dlprim::require_floating(DType::float64, *device, "tensor");
}

dlprim::Tensor allocate(const Dims& shape, DType dtype, const Device& device, const Dims& strides) {
  require_storable(dtype, device);
  return dlprim::Tensor::empty_strided(*device, shape, strides, dtype);
}

dlprim::Tensor allocate_for_upload(const Dims& shape, DType dtype, const Device& device) {
  require_storable(dtype, device);
  return dlprim::Tensor::empty_for_upload(*device, shape, dtype);
}

dlprim::Tensor allocate(const Dims& shape, DType dtype, const Device& device) {
  return allocate(shape, dtype, device, dlprim::contiguous_strides(shape));
}

dlprim::Tensor allocate_like(const Tensor& like, std::optional<DType> dtype,
                             const std::optional<Device>& device, MemoryFormat format) {
  return allocate(like.shape(), dtype.value_or(like.dtype()), device.value_or(like.device()),
                  dlprim::strides_like(like.data(), format));
}

Tensor filled(const dlprim::Tensor& data, const Scalar& value) {
  dlprim::fill(data.device().queue(), data, value);
  return Tensor(data);
}

template <class T>
Tensor upload(const std::vector<T>& values, const Shape& shape, const Device& device) {
  const std::int64_t expected = dlprim::product(shape);
  require(static_cast<std::int64_t>(values.size()) == expected, "tensor: ", values.size(),
          " values for shape ", Dims(shape), ", which takes ", expected);
  return from_bytes(values.data(), shape, dlprim::dtype_of<T>(), device);
}

/** A tensor of numbers of the host, which become elements of `dtype`. */
template <class T>
Tensor converted(const std::vector<T>& values, const Shape& shape, DType dtype, const Device& device) {
  require_storable(dtype, device);
  for (const T value : values) dlprim::require_holds("tensor", dtype, value);
  if (is_integral(dtype))
    return upload(std::vector<std::int64_t>(values.begin(), values.end()), shape, device).to(dtype);
  if (real_dtype(dtype) == DType::float64)
    return upload(std::vector<double>(values.begin(), values.end()), shape, device).to(dtype);
  return upload(std::vector<float>(values.begin(), values.end()), shape, device).to(dtype);
}

}  // namespace

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype, const Device& device) {
  return converted(values, shape, dtype, device);
}

Tensor tensor_of(const std::vector<std::int64_t>& values, const Shape& shape, DType dtype,
                 const Device& device) {
  return converted(values, shape, dtype, device);
}

Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, const Device& device,
                  bool non_blocking) {
  const dlprim::Tensor data = allocate_for_upload(shape, dtype, device);
  const std::size_t size = static_cast<std::size_t>(data.numel()) * size_of(dtype);
  dlprim::upload(device->queue(), {bytes, size, non_blocking}, data);
  return Tensor(data);
}

dlprim::Tensor row_major(const dlprim::Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  const dlprim::Tensor copied = dlprim::Tensor::empty(tensor.device(), tensor.shape, tensor.dtype);
  dlprim::copy(tensor.device().queue(), tensor, copied);
  return copied;
}

dlprim::Tensor copy_on(const Device& device, const dlprim::Tensor& tensor) {
  const dlprim::Tensor data = allocate_for_upload(tensor.shape, tensor.dtype, device);
  dlprim::copy_to_device(device->queue(), row_major(tensor), data);
  return data;
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

Tensor empty(const Shape& shape, DType dtype, const Device& device, MemoryFormat format) {
  ENTER_OPERATOR(empty, shape, dtype, device, format);
  return Tensor(allocate(shape, dtype, device, dlprim::strides_of(format, shape)));
}

Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> given, const Device& device) {
  const DType dtype = given.value_or(value.dtype());
  ENTER_OPERATOR(full, shape, value, dtype, device);
  return filled(allocate(shape, dtype, device), value);
}

Tensor zeros(const Shape& shape, DType dtype, const Device& device) {
  ENTER_OPERATOR(zeros, shape, dtype, device);
  return full(shape, 0, dtype, device);
}
Tensor ones(const Shape& shape, DType dtype, const Device& device) {
  ENTER_OPERATOR(ones, shape, dtype, device);
  return full(shape, 1, dtype, device);
}

Tensor empty_like(const Tensor& like, std::optional<DType> dtype, const std::optional<Device>& device,
                  MemoryFormat format) {
  ENTER_OPERATOR(empty_like, like, dtype, device, format);
  return Tensor(allocate_like(like, dtype, device, format));
}
Tensor full_like(const Tensor& like, const Scalar& value, std::optional<DType> dtype,
                 const std::optional<Device>& device, MemoryFormat format) {
  ENTER_OPERATOR(full_like, like, value, dtype, device, format);
  return filled(allocate_like(like, dtype, device, format), value);
}
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype, const std::optional<Device>& device,
                  MemoryFormat format) {
  ENTER_OPERATOR(zeros_like, like, dtype, device, format);
  return filled(allocate_like(like, dtype, device, format), 0);
}
Tensor ones_like(const Tensor& like, std::optional<DType> dtype, const std::optional<Device>& device,
                 MemoryFormat format) {
  ENTER_OPERATOR(ones_like, like, dtype, device, format);
  return filled(allocate_like(like, dtype, device, format), 1);
}

namespace {

/** Elements of a sequence of whole numbers from `start` up or down to `end`, which it does not meet. */
std::int64_t count_whole(std::int64_t start, std::int64_t end, std::int64_t step) {
  require(step > 0 ? end >= start : end <= start,
          "arange: upper bound and lower bound inconsistent with step sign, got ", start, " -> ", end, " by ",
          step);
  // Unsigned, since the way may be longer than half of what 64 bits count.
  const auto word = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t way = step > 0 ? word(end) - word(start) : word(start) - word(end);
  const std::uint64_t stride = step > 0 ? word(step) : 0 - word(step);
  const std::uint64_t count = way == 0 ? 0 : (way - 1) / stride + 1;
  require(count <= INT64_MAX, "arange: more elements than 64 bits count: ", start, " -> ", end);
  return static_cast<std::int64_t>(count);
}

std::int64_t count_real(double start, double end, double step) {
  require((end - start) * step >= 0, "arange: upper bound and lower bound inconsistent with step sign, got ",
          start, " -> ", end, " by ", step);
  const double count = std::ceil((end - start) / step);
  require(count < 0x1p63, "arange: more elements than 64 bits count: ", start, " -> ", end, " by ", step);
  return static_cast<std::int64_t>(count);
}

}  // namespace

// A sequence of whole numbers drops the fractions of its start and its step, as PyTorch's does. Only int64
// drops them before it counts the elements, too.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
              const Device& device) {
  ENTER_OPERATOR(arange, start, end, step, dtype, device);
  if (dtype && is_complex(*dtype)) return arange(start, end, step, real_dtype(*dtype), device).to(*dtype);
  for (const Scalar& bound : {start, end, step})
    require<TypeError>(bound.kind() != Scalar::Kind::complex, "arange: not implemented for complex numbers");
  constexpr auto floating = Scalar::Kind::floating;
  const bool whole = start.kind() != floating && end.kind() != floating && step.kind() != floating;
  const DType result = dtype.value_or(whole ? DType::int64 : DType::float32);
  const bool counts_whole = result == DType::int64;
  const bool has_step = counts_whole ? step.integer() != 0 : step.real() != 0 && !std::isnan(step.real());
  require(has_step, "arange: step must be nonzero");
  require(std::isfinite(start.real()) && std::isfinite(end.real()),
          "arange: unsupported range: ", start.real(), " -> ", end.real());
  const std::int64_t n = counts_whole ? count_whole(start.integer(), end.integer(), step.integer())
                                      : count_real(start.real(), end.real(), step.real());
  const dlprim::Tensor data = allocate({n}, result, device);
  dlprim::arange(device->queue(), data, start, step);
  return Tensor(data);
}

Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype,
                const Device& device) {
  ENTER_OPERATOR(linspace, start, end, steps, dtype, device);
  require(steps >= 0, "linspace: number of steps must be non-negative, got ", steps);
  require<TypeError>(dtype != DType::boolean, "linspace: bool is not supported");
  for (const Scalar& bound : {start, end}) dlprim::require_holds("linspace", dtype, bound);
  if (is_complex(dtype)) {
    const DType part = real_dtype(dtype);
    return complex(linspace(start.real(), end.real(), steps, part, device),
                   linspace(start.imaginary(), end.imaginary(), steps, part, device));
  }
  const Tensor result = empty({steps}, dtype, device);  // before as much is asked of the host
  const bool is_real = is_floating(dtype);
  const double first = is_real ? start.real() : static_cast<double>(start.integer());
  const double last = is_real ? end.real() : static_cast<double>(end.integer());
  const double step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  std::vector<double> values(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i)  // from both ends, so that both are met
    values[static_cast<std::size_t>(i)] = i < (steps + 1) / 2
                                              ? first + step * static_cast<double>(i)
                                              : last - step * static_cast<double>(steps - 1 - i);
  const Tensor uploaded = [&] {
    if (dtype == DType::float64) return tensor(values, {steps}, device);
    if (is_real) return tensor(std::vector<float>(values.begin(), values.end()), {steps}, device);
    std::vector<std::int64_t> whole(values.size());  // the largest of them round to 2^63, which is none
    std::transform(values.begin(), values.end(), whole.begin(), [](double v) { return Scalar(v).integer(); });
    return tensor(whole, {steps}, device);
  }();
  dlprim::copy(device->queue(), uploaded.data(), result.data());
  return result;
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, DType dtype, const Device& device) {
  ENTER_OPERATOR(eye, n, m, dtype, device);
  require(n >= 0 && m.value_or(n) >= 0, "eye: n and m must be greater or equal to 0, got ", n, " and ",
          m.value_or(n));
  const Tensor result = zeros({n, m.value_or(n)}, dtype, device);
  dlprim::fill(device->queue(), diagonal(result).data(), 1);
  return result;
}

}  // namespace ocl
