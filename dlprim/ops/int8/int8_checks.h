#pragma once

#include "dlprim/ops/int8/int8.h"
#include "dlprim/ops/int8/int8_shared.h"

/** \file What calls of int8 check, and how their formats become arguments of kernels. */

namespace dlprim {

/** Throws TypeError or ValueError unless `tensor` is contiguous int8 of that shape. */
void require_int8(const char* op, const char* what, const Tensor& tensor, const Dims& shape);
/** Throws ValueError for a scale that is not positive and finite, and a zero that int8 does not hold. */
void check_format(const char* op, const char* what, const Int8Format& format);
/** The finish of results, with its formats checked. */
Int8Finish finish_of(const char* op, const Int8Format& x, const Int8Result& result, bool has_bias = false,
                     const Int8Format* addend = nullptr);

}  // namespace dlprim
