#include "dlprim/core/dtype.h"

#include <array>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

constexpr std::array<DTypeInfo, dtype_count> table{{
    {"float32", 4, "float", "float", true},
    {"float64", 8, "double", "double", true},
    {"float16", 2, "half", "float", true},
    {"bfloat16", 2, "ushort", "float", true},
    {"int64", 8, "long", "long", false},
    {"int32", 4, "int", "int", false},
    {"uint8", 1, "uchar", "int", false},
    {"bool", 1, "uchar", "int", false},
}};

// The order in which a wider integer absorbs a narrower one; floating types rank above all of them.
int integer_rank(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 0;
    case DType::uint8: return 1;
    case DType::int32: return 2;
    default: return 3;
  }
}

}  // namespace

const DTypeInfo& info(DType dtype) { return table[static_cast<std::size_t>(dtype)]; }

DType dtype_from_name(const std::string& name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name == table[static_cast<std::size_t>(i)].name) return static_cast<DType>(i);
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  if (name == "half") return DType::float16;
  if (name == "long") return DType::int64;
  if (name == "int") return DType::int32;
  throw TypeError(concat("unknown dtype '", name, "'; known: float32 float64 float16 bfloat16 int64 int32 uint8 bool"));
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (!is_floating(a)) return integer_rank(a) > integer_rank(b) ? a : b;
  if (a == DType::float64 || b == DType::float64) return DType::float64;
  return DType::float32;  // two different types of at most 32 bits: float16 with bfloat16 gives float32 too
}

}  // namespace dlprim
