#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/ops/int8/int8_checks.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* pointwise_file = "ops/int8/int8_pointwise.cl";

}  // namespace

void int8_quantize(Queue& queue, const Tensor& x, const Int8Format& format, const Tensor& y) {
  ENTER(int8_quantize, queue, x, format, y);
  constexpr const char* op = "int8_quantize";
  require_like(op, "x", x, x.shape, DType::float32);
  require_int8(op, "y", y, x.shape);
  const Int8Finish finish = finish_of(op, {}, {format});
  if (y.numel() == 0) return;
  queue.launch(queue.kernel(pointwise_file, "quantize"), share_range(queue, y.numel()), x, finish.inverse,
               finish, y.numel(), y);
}

void int8_dequantize(Queue& queue, const Tensor& x, const Int8Format& format, const Tensor& y) {
  ENTER(int8_dequantize, queue, x, format, y);
  constexpr const char* op = "int8_dequantize";
  require_int8(op, "x", x, x.shape);
  require_like(op, "y", y, x.shape, DType::float32);
  check_format(op, "x", format);
  if (y.numel() == 0) return;
  queue.launch(queue.kernel(pointwise_file, "dequantize"), share_range(queue, y.numel()), x, format.scale,
               format.zero, y.numel(), y);
}

void int8_add(Queue& queue, const Tensor& a, const Int8Format& a_format, const Tensor* b,
              const Int8Format& b_format, const Int8Result& result, const Tensor& y) {
  ENTER(int8_add, queue, a, a_format, b, b_format, result, y);
  constexpr const char* op = "int8_add";
  require_int8(op, "a", a, y.shape);
  require_like(op, "b", b, y.shape, DType::int8);
  require_int8(op, "y", y, y.shape);
  const Int8Finish finish = finish_of(op, a_format, result, false, b ? &b_format : nullptr);
  if (y.numel() == 0) return;
  queue.launch(queue.kernel(pointwise_file, "add"), share_range(queue, y.numel()), a, Optional{b}, finish,
               y.numel(), y);
}

}  // namespace dlprim
