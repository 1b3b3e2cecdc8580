#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlprim {

/** Element types of a tensor, by PyTorch's names. */
enum class DType : std::uint8_t {
  float32,
  float64,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean
};

constexpr int dtype_count = 10;

/** The description of one dtype: one row per dtype in dtype.cpp; a new dtype is a new row. */
struct DTypeInfo {
  const char* name;          // PyTorch's: "float32", "bool", …
  std::size_t bytes;         // of one element in memory
  const char* storage_type;  // the OpenCL C type a buffer of it is declared with
  const char* compute_type;  // the OpenCL C type kernels compute in
  const char* safetensors_name;
  const char* tensor_type_name;  // PyTorch's, as in torch.FloatTensor
  bool is_floating;
};

const DTypeInfo& info(DType dtype);
inline const char* name(DType dtype) {
  return info(dtype).name;
}
inline std::size_t size_of(DType dtype) {
  return info(dtype).bytes;
}
inline bool is_floating(DType dtype) {
  return info(dtype).is_floating;
}

/** The dtype of that name ("float32", "float", "int64", "long", "bool", …). Throws TypeError. */
DType dtype_from_name(const std::string& name);

/** The dtype in which kernels compute, sum up and keep statistics of `dtype`: at least 32 bits wide, of the
 * same kind.
 */
DType compute_dtype(DType dtype);

/** Whether that is `dtype` itself, so that kernels read and write it without converting. */
inline bool is_compute_dtype(DType dtype) {
  return compute_dtype(dtype) == dtype;
}

/** The dtype that both promote to, by PyTorch's table (torch.promote_types). */
DType promote_types(DType a, DType b);

/** The DType of a C++ element type: float, double, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
 * std::uint8_t, bool. */
template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::float32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::float64;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::int64;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::int32;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::int16;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::int8;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::uint8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

}  // namespace dlprim
