#include "dlprim/core/dtype.h"

#include <iterator>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

constexpr DTypeInfo table[] = {
    {"float32", 4, "float", "float", "F32", "Float", DTypeInfo::Kind::floating},
    {"float64", 8, "double", "double", "F64", "Double", DTypeInfo::Kind::floating},
    {"float16", 2, "half", "float", "F16", "Half", DTypeInfo::Kind::floating},
    {"bfloat16", 2, "ushort", "float", "BF16", "BFloat16", DTypeInfo::Kind::floating},
    {"int64", 8, "long", "long", "I64", "Long", DTypeInfo::Kind::integer},
    {"int32", 4, "int", "int", "I32", "Int", DTypeInfo::Kind::integer},
    {"int16", 2, "short", "int", "I16", "Short", DTypeInfo::Kind::integer},
    {"int8", 1, "char", "int", "I8", "Char", DTypeInfo::Kind::integer},
    {"uint8", 1, "uchar", "int", "U8", "Byte", DTypeInfo::Kind::integer},
    {"bool", 1, "uchar", "int", "BOOL", "Bool", DTypeInfo::Kind::boolean},
    {"complex64", 8, "float2", "float2", "C64", "ComplexFloat", DTypeInfo::Kind::complex},
    {"complex128", 16, "double2", "double2", "C128", "ComplexDouble", DTypeInfo::Kind::complex},
};
static_assert(std::size(table) == dtype_count, "a row for every DType");

// The order in which a wider integer absorbs a narrower one; bool is the narrowest.
std::size_t integer_rank(DType dtype) {
  return dtype == DType::boolean ? 0 : size_of(dtype);
}

}  // namespace

const DTypeInfo& info(DType dtype) {
  return table[static_cast<std::size_t>(dtype)];
}

DType dtype_from_name(const std::string& name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name == table[static_cast<std::size_t>(i)].name) return static_cast<DType>(i);
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  if (name == "half") return DType::float16;
  if (name == "long") return DType::int64;
  if (name == "int") return DType::int32;
  if (name == "short") return DType::int16;
  if (name == "cfloat") return DType::complex64;
  if (name == "cdouble") return DType::complex128;
  std::string known;
  for (const DTypeInfo& row : table) known.append(" ").append(row.name);
  throw TypeError(concat("unknown dtype '", name, "'; known:", known));
}

DType compute_dtype(DType dtype) {
  if (size_of(dtype) >= 4) return dtype;
  return is_floating(dtype) ? DType::float32 : DType::int32;
}

DType complex_dtype(DType dtype) {
  return real_dtype(dtype) == DType::float64 ? DType::complex128 : DType::complex64;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) return complex_dtype(real_dtype(a) == DType::float64 ? a : b);
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (!is_floating(a)) {
    if (integer_rank(a) == integer_rank(b)) return DType::int16;  // int8 with uint8
    return integer_rank(a) > integer_rank(b) ? a : b;
  }
  if (a == DType::float64 || b == DType::float64) return DType::float64;
  return DType::float32;  // two different types of at most 32 bits: float16 with bfloat16 gives float32 too
}

}  // namespace dlprim
