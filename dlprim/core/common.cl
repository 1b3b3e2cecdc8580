// The common part of all kernels of the library. Include it first.
#include "core/shared.h"
#include "runtime/error_word_shared.h"

#if defined(HAS_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// A row of the pointwise table has the same bits alone, within a chain and behind a norm. Compilers for CPUs contract
// products and sums of one expression; those for GPUs contract whatever meets. They do not in a function that begins
// with NOT_CONTRACTED: there expressions say what is contracted. FUSED(a, b, c): a * b + c.
#if SHAPE_CPU
#define NOT_CONTRACTED
#define FUSED(a, b, c) ((a) * (b) + (c))
#else
#define NOT_CONTRACTED _Pragma("OPENCL FP_CONTRACT OFF")
#define FUSED(a, b, c) mad(a, b, c)
#endif

// A tensor argument: a buffer and the element its data starts at. BIND gives a plain pointer to that element.
#define BUFFER(type, name) __global type *restrict name##_buffer, const ulong name##_start
#define BIND(type, name) __global type *restrict name = name##_buffer + name##_start

// The host thread's error word: the first failing kernel leaves its code and the offending value.
#define CHECK_ARGS __global ErrorWord *error_word, const int error_code
#define FAIL(offending)                                                               \
  if (atomic_cmpxchg((volatile __global int *)&error_word->code, 0, error_code) == 0) \
  error_word->value = (long)(offending)

// Reading and writing of each dtype's storage, in its compute type.
#define LOAD_float32(p, i) ((p)[i])
#define LOAD_float64(p, i) ((p)[i])
#define LOAD_float16(p, i) vload_half(i, p)
#define LOAD_bfloat16(p, i) as_float((uint)((p)[i]) << 16)
#define LOAD_int64(p, i) ((p)[i])
#define LOAD_int32(p, i) ((p)[i])
#define LOAD_int16(p, i) ((int)((p)[i]))
#define LOAD_int8(p, i) ((int)((p)[i]))
#define LOAD_uint8(p, i) ((int)((p)[i]))
#define LOAD_bool(p, i) ((int)((p)[i]))
#define LOAD_complex64(p, i) ((p)[i])
#define LOAD_complex128(p, i) ((p)[i])

#define STORE_float32(p, i, v) (p)[i] = (float)(v)
#define STORE_float64(p, i, v) (p)[i] = (double)(v)
#define STORE_float16(p, i, v) vstore_half_rte((float)(v), i, p)
#define STORE_bfloat16(p, i, v) (p)[i] = to_bfloat16((float)(v))
#define STORE_int64(p, i, v) (p)[i] = (long)(v)
#define STORE_int32(p, i, v) (p)[i] = (int)(v)
#define STORE_int16(p, i, v) (p)[i] = (short)(int)(v)  // Numbers outside of a narrow range wrap by way of int
#define STORE_int8(p, i, v) (p)[i] = (char)(int)(v)
#define STORE_uint8(p, i, v) (p)[i] = (uchar)(int)(v)
#define STORE_bool(p, i, v) (p)[i] = (uchar)((v) != 0)
#define STORE_complex64(p, i, v) (p)[i] = (v)
#define STORE_complex128(p, i, v) (p)[i] = (v)

// Round to nearest even; a NaN stays one.
static ushort to_bfloat16(float value) {
  const uint bits = as_uint(value);
  return (ushort)(isnan(value) ? 0x7fc0u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
// to_bfloat16_n, of vectors of n.
#define VECTORS_TO_BFLOAT16(n)                                                      \
  inline ushort##n to_bfloat16_##n(float##n value) {                                \
    const uint##n bits = as_uint##n(value);                                         \
    const uint##n rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;           \
    return convert_ushort##n(isnan(value) ? (uint##n)(0x7fc0u) : rounded);          \
  }
