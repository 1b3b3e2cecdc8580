#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

using Shape = std::vector<std::int64_t>;

/** Uploads `values` (row-major) as a tensor of that shape. Throws ValueError when their number does not fit.
 */
Tensor tensor(const std::vector<float>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<double>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int64_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::int32_t>& values, const Shape& shape, const Device& device = {});
Tensor tensor(const std::vector<std::uint8_t>& values, const Shape& shape, const Device& device = {});

template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<T>>;

/** A tensor of what stands in `values`, as libtorch makes it: float32 of fractions, int64 of whole numbers,
 * bool of bools, or `dtype`. Throws ValueError for numbers that `dtype` does not hold. */
Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype, const Device& device);
Tensor tensor_of(const std::vector<std::int64_t>& values, const Shape& shape, DType dtype,
                 const Device& device);

/** `tensor(3.5)`: of no dimensions. */
template <class T, class = IfNumber<T>>
Tensor tensor(T value, std::optional<DType> dtype = std::nullopt, const Device& device = {}) {
  using Element = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  return tensor_of(std::vector<Element>{static_cast<Element>(value)}, {},
                   dtype.value_or(Scalar(value).dtype()), device);
}
/** `tensor(values)`: a vector, of a std::vector. */
template <class T, class = IfNumber<T>>
Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt,
              const Device& device = {}) {
  using Element = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  return tensor_of(std::vector<Element>(values.begin(), values.end()),
                   {static_cast<std::int64_t>(values.size())}, dtype.value_or(Scalar(T()).dtype()), device);
}
/** `tensor({1, 2, 3})` */
template <class T, class = IfNumber<T>>
Tensor tensor(std::initializer_list<T> values, std::optional<DType> dtype = std::nullopt,
              const Device& device = {}) {
  return tensor(std::vector<T>(values), dtype, device);
}
/** `tensor({{1, 2}, {3, 4}})`. Throws ValueError for rows of several lengths. */
template <class T, class = IfNumber<T>>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, std::optional<DType> dtype = std::nullopt,
              const Device& device = {}) {
  std::vector<T> values;
  const std::size_t columns = rows.begin()->size();
  for (const auto& row : rows) {
    dlprim::require(row.size() == columns, "tensor: expected rows of ", columns, " numbers, got one of ",
                    row.size());
    values.insert(values.end(), row);
  }
  return tensor(values, dtype, device)
      .view({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)});
}

/** Uploads the bytes of a contiguous row-major array of that shape and dtype. `non_blocking`: as
 * dlprim::HostBytes has it. */
Tensor from_bytes(const void* bytes, const Shape& shape, DType dtype, const Device& device = {},
                  bool non_blocking = false);
/** A copy of a contiguous row-major array on the device. libtorch's shares the array's memory. */
inline Tensor from_blob(const void* data, const Shape& shape, DType dtype = DType::float32,
                        const Device& device = {}) {
  return from_bytes(data, shape, dtype, device);
}
/** The tensor itself where it is contiguous, else a contiguous copy. */
dlprim::Tensor row_major(const dlprim::Tensor& tensor);
/** A contiguous copy on another device. Waits for the tensor, not for the copy. */
dlprim::Tensor copy_on(const Device& device, const dlprim::Tensor& tensor);

#include "autograd/ops/declare.def"

#include "autograd/tensor/creation.def"

#include "autograd/ops/declare_end.def"

/** 0, 1, … below `end`. */
inline Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt,
                     const Device& device = {}) {
  return arange(0, end, 1, dtype, device);
}
// A vector of so many elements.
template <class Int, class = IfWhole<Int>>
Tensor zeros(Int size, DType dtype = DType::float32, const Device& device = {}) {
  return zeros(Shape{static_cast<std::int64_t>(size)}, dtype, device);
}
template <class Int, class = IfWhole<Int>>
Tensor empty(Int size, DType dtype = DType::float32, const Device& device = {}) {
  return empty(Shape{static_cast<std::int64_t>(size)}, dtype, device);
}
template <class Int, class = IfWhole<Int>>
Tensor ones(Int size, DType dtype = DType::float32, const Device& device = {}) {
  return ones(Shape{static_cast<std::int64_t>(size)}, dtype, device);
}

// In the shape, dtype and on the device of `like`, and in its order of memory; what is given replaces its
// own.

}  // namespace ocl
