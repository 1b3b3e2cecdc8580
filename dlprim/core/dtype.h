#pragma once

#include <complex>
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
  boolean,
  complex64,
  complex128
};

constexpr int dtype_count = 12;

/** The description of one dtype: one row per dtype in dtype.cpp; a new dtype is a new row. */
struct DTypeInfo {
  const char* name;          // PyTorch's: "float32", "bool", …
  std::size_t bytes;         // of one element in memory
  const char* storage_type;  // the OpenCL C type a buffer of it is declared with
  const char* compute_type;  // the OpenCL C type kernels compute in
  const char* safetensors_name;
  const char* tensor_type_name;  // PyTorch's, as in torch.FloatTensor
  enum class Kind : std::uint8_t { boolean, integer, floating, complex } kind;
};

const DTypeInfo& info(DType dtype);
inline const char* name(DType dtype) {
  return info(dtype).name;
}
inline std::size_t size_of(DType dtype) {
  return info(dtype).bytes;
}
/** Whether its elements are real numbers with fractions. */
inline bool is_floating(DType dtype) {
  return info(dtype).kind == DTypeInfo::Kind::floating;
}
/** Whether its elements are two floating numbers side by side: the real part, then the imaginary one. */
inline bool is_complex(DType dtype) {
  return info(dtype).kind == DTypeInfo::Kind::complex;
}
/** Whether its elements are whole numbers or bools. */
inline bool is_integral(DType dtype) {
  return info(dtype).kind <= DTypeInfo::Kind::integer;
}
/** Whether tensors of it have gradients. */
inline bool is_differentiable(DType dtype) {
  return !is_integral(dtype);
}

/** The dtype of the parts of a complex one; any other as it is. */
inline DType real_dtype(DType dtype) {
  return !is_complex(dtype) ? dtype : dtype == DType::complex64 ? DType::float32 : DType::float64;
}
/** The complex dtype that holds numbers of `dtype`: complex128 for 64 bits, else complex64. */
DType complex_dtype(DType dtype);

/** The dtype of that name ("float32", "float", "int64", "long", "bool", "cfloat", …). Throws TypeError. */
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
 * std::uint8_t, bool, std::complex<float>, std::complex<double>. */
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
template <>
constexpr DType dtype_of<std::complex<float>>() {
  return DType::complex64;
}
template <>
constexpr DType dtype_of<std::complex<double>>() {
  return DType::complex128;
}

}  // namespace dlprim
