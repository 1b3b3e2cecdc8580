#include "dlprim/ops/int8/int8_checks.h"

#include <cmath>

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"

namespace dlprim {

void require_int8(const char* op, const char* what, const Tensor& tensor, const Dims& shape) {
  require_like(op, what, tensor, shape, DType::int8);
}

void check_format(const char* op, const char* what, const Int8Format& format) {
  require(std::isfinite(format.scale) && format.scale > 0, op, ": expected a positive scale of ", what,
          ", got ", format.scale);
  require(format.zero >= -128 && format.zero <= 127, op, ": expected a zero of ", what,
          " from -128 to 127, got ", format.zero);
}

Int8Finish finish_of(const char* op, const Int8Format& x, const Int8Result& result, bool has_bias,
                     const Int8Format* addend) {
  check_format(op, "x", x);
  check_format(op, "the result", result.format);
  if (addend) check_format(op, "the addend", *addend);
  require(result.low >= -128 && result.low <= result.high && result.high <= 127, op,
          ": expected bounds -128 <= low <= high <= 127, got ", result.low, " and ", result.high);
  const double scale = result.format.scale;
  return {static_cast<float>(x.scale / scale),
          static_cast<float>(1 / scale),
          addend ? static_cast<float>(addend->scale / scale) : 0.0f,
          x.zero,
          addend ? addend->zero : 0,
          result.format.zero,
          result.low,
          result.high,
          has_bias,
          addend != nullptr};
}

}  // namespace dlprim
