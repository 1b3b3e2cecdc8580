#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dlprim/core/dtype.h"

namespace dlprim {

/** A number given by the caller beside tensors. It keeps its kind, which decides type promotion as in
 * PyTorch. An unsigned number that 64 bits with a sign do not hold throws ValueError. */
class Scalar {
 public:
  enum class Kind { boolean, integer, floating, complex };

  /** Explicit, so that {} is no number where another library takes it for "none". */
  explicit Scalar() : Scalar(0) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value)
      : kind_(std::is_same_v<T, bool> ? Kind::boolean
              : std::is_integral_v<T> ? Kind::integer
                                      : Kind::floating),
        real_(static_cast<double>(value)),
        integer_(to_integer(value)) {}
  Scalar(std::complex<double> value)
      : kind_(Kind::complex),
        real_(value.real()),
        imaginary_(value.imag()),
        integer_(to_integer(value.real())) {}

  Kind kind() const { return kind_; }
  double real() const { return real_; }
  /** 0 but for complex numbers. */
  double imaginary() const { return imaginary_; }
  /** The value as an integer; a floating one is truncated, and held at the ends of the range. */
  std::int64_t integer() const { return integer_; }
  /** The dtype of a tensor made of it: bool, int64, float32 or complex64. */
  DType dtype() const {
    return kind_ == Kind::boolean    ? DType::boolean
           : kind_ == Kind::integer  ? DType::int64
           : kind_ == Kind::floating ? DType::float32
                                     : DType::complex64;
  }

 private:
  template <class T>
  static std::int64_t to_integer(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (value != value) return 0;
      if (value >= T(0x1p63)) return INT64_MAX;
      if (value < T(-0x1p63)) return INT64_MIN;
    }
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) require_signed(value);
    return static_cast<std::int64_t>(value);
  }
  static void require_signed(std::uint64_t value);

  Kind kind_;
  double real_, imaginary_ = 0;
  std::int64_t integer_;
};

/** The least and the largest whole number that an integer dtype or bool holds. */
std::pair<std::int64_t, std::int64_t> integer_range(DType dtype);

/**
 * Throws ValueError naming `op` unless `dtype` holds the value: fractions may be cut off and precision lost,
 * but finite numbers stay finite, and integers are neither infinite nor NaN. Like PyTorch's, uint8 takes the
 * negatives of the whole numbers that it holds, which wrap around, and bool takes everything.
 */
void require_holds(const char* op, DType dtype, const Scalar& value);

/** The element of a tensor of `dtype` that is made of the value. Throws as require_holds, but
 * 16-bit floats round larger numbers to infinity, as in PyTorch. */
Scalar as_element(const char* op, DType dtype, const Scalar& value);

}  // namespace dlprim
