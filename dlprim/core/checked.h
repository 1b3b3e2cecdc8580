#pragma once

#include <climits>
#include <cstdint>

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"

/** \file What operators check before they launch anything: sizes that a type must hold, tensors that kernels
 * walk without strides. */

namespace dlprim {

/** Puts a * b, or a + b, into `result`; false, with nothing of use in it, where 64 bits do not hold it. */
inline bool try_multiply(std::int64_t a, std::int64_t b, std::int64_t& result) {
  return !__builtin_mul_overflow(a, b, &result);
}
inline bool try_add(std::int64_t a, std::int64_t b, std::int64_t& result) {
  return !__builtin_add_overflow(a, b, &result);
}

/** a / b for positive b, rounded up. */
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
/** The next multiple of b. */
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}

/** The largest size that kernels count in 32 bits, with room for what they add before they compare: whole
 * vectors, groups and chunks. */
constexpr std::int64_t max_kernel_int = INT_MAX - (1 << 24);

/** A size as the int that a kernel takes. Throws ValueError naming `op` and `what` it is. */
inline int kernel_int(std::int64_t size, const char* op, const char* what) {
  require(size >= -max_kernel_int && size <= max_kernel_int, op, ": ", what, " of ", size,
          " is too large, at most ", max_kernel_int, " is supported");
  return static_cast<int>(size);
}

struct Tensor;

// Tensors that kernels index without strides. All name `op` and `what` the tensor is; a pointer may be
// nullptr.

/** Throws ValueError unless `tensor` is contiguous. */
void require_contiguous(const char* op, const char* what, const Tensor& tensor);
/** Throws ValueError or TypeError unless `tensor` is contiguous, of that dtype, and has `count` elements. */
void require_elements(const char* op, const char* what, const Tensor& tensor, std::int64_t count,
                      DType dtype);
void require_elements(const char* op, const char* what, const Tensor* tensor, std::int64_t count,
                      DType dtype);
/** Throws ValueError or TypeError unless `tensor` is contiguous, of that shape and dtype. */
void require_like(const char* op, const char* what, const Tensor& tensor, const Dims& shape, DType dtype);
void require_like(const char* op, const char* what, const Tensor* tensor, const Dims& shape, DType dtype);

}  // namespace dlprim
