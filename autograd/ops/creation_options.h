#pragma once

#include "autograd/ops/random.h"
#include "autograd/tensor/creation.h"

/** \file Creation with libtorch's TensorOptions, or a device alone, in the place of dtype and device. */

namespace ocl {

/** `make(dtype, device)` with the dtype of `given`, or else `dtype`, which asks for gradients if `given`
 * does. */
template <class Dtype, class Make>
Tensor made_with(const TensorOptions& given, Dtype dtype, const Make& make) {
  if (given.has_dtype()) dtype = given.dtype();
  Tensor result = make(dtype, given.device());
  if (given.requires_grad()) result.requires_grad_();
  return result;
}

// WITH_OPTIONS(function, what it makes without a dtype, (its parameters), the arguments before dtype and
// device)
#define WITH_OPTIONS(function, initial, parameters, ...)                                                     \
  template <class Options, class = IfOptions<Options>>                                                       \
  Tensor function(WITH_OPTIONS_EACH parameters, const Options& given) {                                      \
    return made_with(given, initial,                                                                         \
                     [&](const auto& dtype, const Device& on) { return function(__VA_ARGS__, dtype, on); }); \
  }
#define WITH_OPTIONS_EACH(...) __VA_ARGS__
// `function(size, options)`: a vector of so many elements.
#define VECTOR_WITH_OPTIONS(function)                                                   \
  template <class Int, class Options, class = IfWhole<Int>, class = IfOptions<Options>> \
  Tensor function(Int size, const Options& given) {                                     \
    return function(Shape{static_cast<std::int64_t>(size)}, given);                     \
  }

inline constexpr std::optional<DType> its_own_dtype = std::nullopt;

WITH_OPTIONS(empty, DType::float32, (const Shape& shape), shape)
WITH_OPTIONS(zeros, DType::float32, (const Shape& shape), shape)
WITH_OPTIONS(ones, DType::float32, (const Shape& shape), shape)
WITH_OPTIONS(rand, DType::float32, (const Shape& shape), shape)
WITH_OPTIONS(randn, DType::float32, (const Shape& shape), shape)
VECTOR_WITH_OPTIONS(empty)
VECTOR_WITH_OPTIONS(zeros)
VECTOR_WITH_OPTIONS(ones)
VECTOR_WITH_OPTIONS(rand)
VECTOR_WITH_OPTIONS(randn)
WITH_OPTIONS(full, its_own_dtype, (const Shape& shape, const Scalar& value), shape, value)
WITH_OPTIONS(arange, its_own_dtype, (const Scalar& end), end)
WITH_OPTIONS(arange, its_own_dtype, (const Scalar& start, const Scalar& end), start, end, 1)
WITH_OPTIONS(arange, its_own_dtype, (const Scalar& start, const Scalar& end, const Scalar& step), start, end,
             step)
WITH_OPTIONS(linspace, DType::float32, (const Scalar& start, const Scalar& end, std::int64_t steps), start,
             end, steps)
WITH_OPTIONS(eye, DType::float32, (std::int64_t n), n, std::nullopt)
WITH_OPTIONS(eye, DType::float32, (std::int64_t n, std::int64_t m), n, m)
WITH_OPTIONS(randint, DType::int64, (std::int64_t low, std::int64_t high, const Shape& shape), low, high,
             shape)
WITH_OPTIONS(randint, DType::int64, (std::int64_t high, const Shape& shape), 0, high, shape)
WITH_OPTIONS(randperm, DType::int64, (std::int64_t n), n)
WITH_OPTIONS(from_blob, DType::float32, (const void* data, const Shape& shape), data, shape)

template <class T, class Options, class = IfNumber<T>, class = IfOptions<Options>>
Tensor tensor(T value, const Options& given) {
  return made_with(given, its_own_dtype,
                   [&](auto dtype, const Device& on) { return tensor(value, dtype, on); });
}
template <class T, class Options, class = IfNumber<T>, class = IfOptions<Options>>
Tensor tensor(const std::vector<T>& values, const Options& given) {
  return made_with(given, its_own_dtype,
                   [&](auto dtype, const Device& on) { return tensor(values, dtype, on); });
}
template <class T, class Options, class = IfNumber<T>, class = IfOptions<Options>>
Tensor tensor(std::initializer_list<T> values, const Options& given) {
  return tensor(std::vector<T>(values), given);
}
template <class T, class Options, class = IfNumber<T>, class = IfOptions<Options>>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const Options& given) {
  return made_with(given, its_own_dtype,
                   [&](auto dtype, const Device& on) { return tensor(rows, dtype, on); });
}

// Like `input`, whose dtype and device count where the options name none.
#define LIKE_WITH_OPTIONS(function, parameters, ...)                                  \
  template <class Options, class = IfOptions<Options>>                                \
  Tensor function(WITH_OPTIONS_EACH parameters, const Options& given) {               \
    const TensorOptions options(given);                                               \
    Tensor result = function(__VA_ARGS__, options.dtype_opt(), options.device_opt()); \
    if (options.requires_grad()) result.requires_grad_();                             \
    return result;                                                                    \
  }
LIKE_WITH_OPTIONS(empty_like, (const Tensor& input), input)
LIKE_WITH_OPTIONS(zeros_like, (const Tensor& input), input)
LIKE_WITH_OPTIONS(ones_like, (const Tensor& input), input)
LIKE_WITH_OPTIONS(full_like, (const Tensor& input, const Scalar& value), input, value)
#undef WITH_OPTIONS
#undef VECTOR_WITH_OPTIONS
#undef LIKE_WITH_OPTIONS
#undef WITH_OPTIONS_EACH

/** A vector of `size` random numbers. */
template <class Int, class = IfWhole<Int>>
Tensor rand(Int size, DType dtype = DType::float32, const Device& device = {}) {
  return rand(Shape{static_cast<std::int64_t>(size)}, dtype, device);
}
template <class Int, class = IfWhole<Int>>
Tensor randn(Int size, DType dtype = DType::float32, const Device& device = {}) {
  return randn(Shape{static_cast<std::int64_t>(size)}, dtype, device);
}

/** Whole numbers in [0, high). */
inline Tensor randint(std::int64_t high, const Shape& shape, DType dtype = DType::int64,
                      const Device& device = {}) {
  return randint(0, high, shape, dtype, device);
}

}  // namespace ocl
