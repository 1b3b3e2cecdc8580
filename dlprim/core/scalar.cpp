#include "dlprim/core/scalar.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "dlprim/core/error.h"
#include "dlprim/core/real.h"

namespace dlprim {
namespace {

bool holds(DType dtype, const Scalar& value) {
  if (dtype == DType::boolean) return true;
  if (is_complex(dtype)) {
    const DType part = real_dtype(dtype);
    return holds(part, value.real()) && holds(part, value.imaginary());
  }
  if (value.imaginary() != 0) return false;
  if (is_floating(dtype))
    return !std::isfinite(value.real()) || std::abs(value.real()) <= largest_floating(dtype);
  const auto [least, largest] = integer_range(dtype);
  if (value.kind() >= Scalar::Kind::floating)  // both ends are whole, so the fraction does not count
    return dtype == DType::int64
               ? value.real() >= -0x1p63 && value.real() < 0x1p63
               : value.real() >= static_cast<double>(least) && value.real() <= static_cast<double>(largest);
  const std::int64_t lowest = least == 0 ? -largest : least;
  return value.integer() >= lowest && value.integer() <= largest;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> integer_range(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return {0, 1};
    case DType::uint8:
      return {0, UINT8_MAX};
    case DType::int8:
      return {INT8_MIN, INT8_MAX};
    case DType::int16:
      return {INT16_MIN, INT16_MAX};
    case DType::int32:
      return {INT32_MIN, INT32_MAX};
    case DType::int64:
      return {INT64_MIN, INT64_MAX};
    case DType::float32:
    case DType::float64:
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  throw TypeError(concat(name(dtype), " is no dtype of integers"));
}

void Scalar::require_signed(std::uint64_t value) {
  require(value <= INT64_MAX, "expected a number of 64 bits with a sign, got ", value);
}

void require_holds(const char* op, DType dtype, const Scalar& value) {
  if (holds(dtype, value)) return;
  std::string text =
      value.kind() >= Scalar::Kind::floating ? concat(value.real()) : std::to_string(value.integer());
  if (value.imaginary() != 0) text = concat(text, value.imaginary() < 0 ? "" : "+", value.imaginary(), "j");
  throw ValueError(
      concat(op, ": value ", text, " cannot be converted to ", name(dtype), " without overflow"));
}

Scalar as_element(const char* op, DType dtype, const Scalar& value) {
  if (dtype == DType::boolean) return value.real() != 0 || value.imaginary() != 0;
  const bool has_16_bits = dtype == DType::float16 || dtype == DType::bfloat16;
  if (!has_16_bits || value.imaginary() != 0 || holds(dtype, value)) {
    require_holds(op, dtype, value);
    return value;
  }
  const double largest = largest_floating(dtype);
  const double half_a_step = dtype == DType::float16 ? 16 : 0x1p119;
  const double magnitude = std::min(std::abs(value.real()), double{FLT_MAX});
  const bool rounds_down = static_cast<float>(magnitude) < largest + half_a_step;
  return std::copysign(rounds_down ? largest : std::numeric_limits<double>::infinity(), value.real());
}

}  // namespace dlprim
