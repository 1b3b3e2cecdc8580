#include "dlprim/core/scalar.h"

#include <cfloat>
#include <cmath>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

double largest_floating(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 65504;
    case DType::bfloat16:
      return 0x1.fep127;
    case DType::float32:
      return FLT_MAX;
    case DType::float64:
      return DBL_MAX;
    case DType::int64:
    case DType::int32:
    case DType::uint8:
    case DType::boolean:
      break;
  }
  throw TypeError(concat(name(dtype), " is no floating dtype"));
}

bool holds(DType dtype, const Scalar& value) {
  if (dtype == DType::boolean) return true;
  if (is_floating(dtype))
    return !std::isfinite(value.real()) || std::abs(value.real()) <= largest_floating(dtype);
  const auto [least, largest] = integer_range(dtype);
  const std::int64_t lowest = least == 0 ? -largest : least;
  if (value.kind() != Scalar::Kind::floating) return value.integer() >= lowest && value.integer() <= largest;
  if (dtype == DType::int64) return value.real() >= -0x1p63 && value.real() < 0x1p63;
  return value.real() >= static_cast<double>(lowest) && value.real() <= static_cast<double>(largest);
}

}  // namespace

std::pair<std::int64_t, std::int64_t> integer_range(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return {0, 1};
    case DType::uint8:
      return {0, UINT8_MAX};
    case DType::int32:
      return {INT32_MIN, INT32_MAX};
    case DType::int64:
      return {INT64_MIN, INT64_MAX};
    case DType::float32:
    case DType::float64:
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  throw TypeError(concat(name(dtype), " is no dtype of integers"));
}

void require_holds(const char* op, DType dtype, const Scalar& value) {
  if (holds(dtype, value)) return;
  const std::string text =
      value.kind() == Scalar::Kind::floating ? concat(value.real()) : std::to_string(value.integer());
  throw ValueError(
      concat(op, ": value ", text, " cannot be converted to ", name(dtype), " without overflow"));
}

}  // namespace dlprim
