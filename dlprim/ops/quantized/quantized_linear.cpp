#include "dlprim/ops/quantized/quantized_linear.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/quantized/quantized_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr int least_group_shift = 5, most_group_shift = 8;

/** Throws what the header says of a stored weight. */
QuantizedWeight checked_weight(const char* op, const Tensor& weight, const Tensor& scales,
                               const Tensor* zeros) {
  const std::int64_t in = inputs_of(op, weight, zeros), out = weight.shape[0];
  require<TypeError>(is_floating(scales.dtype), op, ": expected scales of a floating dtype, got ",
                     name(scales.dtype));
  require_contiguous(op, "the weight", weight);
  QuantizedShape shape{kernel_int(out, op, "a number of outputs"), kernel_int(in, op, "a number of inputs"),
                       0, 1};
  if (!zeros) {
    require_like(op, "scales", scales, {out}, scales.dtype);
    return {weight, scales, zeros, shape};
  }
  require(scales.rank() == 2 && scales.shape[0] == out, op, ": expected scales of shape [", out,
          ", groups], got ", scales.shape);
  const std::int64_t groups = scales.shape[1];
  shape.groups = kernel_int(groups, op, "a number of groups");
  shape.group_shift = least_group_shift;
  while (shape.group_shift < most_group_shift && groups << shape.group_shift < in) ++shape.group_shift;
  require(groups << shape.group_shift == in, op, ": scales of shape ", scales.shape, " do not fit ", in,
          " inputs in groups of 32, 64, 128 or 256");
  require_like(op, "scales", scales, {out, groups}, scales.dtype);
  require_like(op, "zeros", zeros, {out, groups}, scales.dtype);
  return {weight, scales, zeros, shape};
}

/** Throws unless the tensors are [rows, columns] of one floating dtype. */
void check_matrices(Queue& queue, const char* op, const char* given_name, const Tensor& given,
                    std::int64_t columns, const char* result_name, const Tensor& result,
                    std::int64_t result_columns) {
  require_floating(given.dtype, queue.device(), op);
  require(given.rank() == 2 && given.shape[1] == columns, op, ": expected ", given_name, " of shape [rows, ",
          columns, "], got ", given.shape);
  require_contiguous(op, given_name, given);
  kernel_int(given.shape[0], op, "a number of rows");
  require_like(op, result_name, result, {given.shape[0], result_columns}, given.dtype);
}

const ImplementationList<QuantizedProblem> quantized_implementations("quantized_linear",
                                                                     quantized_cpu_few_rows(),
                                                                     quantized_simt_few_rows(),
                                                                     quantized_by_product());

}  // namespace

std::int64_t inputs_of(const char* op, const Tensor& weight, const Tensor* zeros) {
  require<TypeError>(weight.dtype == (zeros ? DType::uint8 : DType::int8), op,
                     zeros ? ": expected a weight of dtype uint8 with zeros, got "
                           : ": expected a weight of dtype int8 without zeros, got ",
                     name(weight.dtype));
  require(weight.rank() == 2, op, ": expected a weight of two dimensions, got shape ", weight.shape);
  return weight.shape[1] * (zeros ? 2 : 1);
}

void quantized_linear_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor& scales,
                              const Tensor* zeros, const Tensor* bias, const Tensor& y,
                              MatmulPrecision precision) {
  ENTER(quantized_linear_forward, queue, x, weight, scales, zeros, bias, y, precision);
  constexpr const char* op = "quantized_linear";
  const QuantizedWeight w = checked_weight(op, weight, scales, zeros);
  check_matrices(queue, op, "x", x, w.shape.in, "y", y, w.shape.out);
  require_like(op, "bias", bias, {w.shape.out}, x.dtype);
  if (y.numel() == 0) return;
  quantized_implementations.run(queue, {x, w, bias, y, precision});
}

void quantized_linear_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                                    const Tensor& scales, const Tensor* zeros, const Tensor& dx,
                                    MatmulPrecision precision) {
  ENTER(quantized_linear_backward_data, queue, dy, weight, scales, zeros, dx, precision);
  constexpr const char* op = "quantized_linear_backward_data";
  const QuantizedWeight w = checked_weight(op, weight, scales, zeros);
  check_matrices(queue, op, "dy", dy, w.shape.out, "dx", dx, w.shape.in);
  if (dx.numel() == 0) return;
  multiply_by_parts(queue, dy, w, false, nullptr, dx, precision);
}

void dequantize_weight(Queue& queue, const Tensor& weight, const Tensor& scales, const Tensor* zeros,
                       const Tensor& result) {
  ENTER(dequantize_weight, queue, weight, scales, zeros, result);
  constexpr const char* op = "dequantize_weight";
  const QuantizedWeight w = checked_weight(op, weight, scales, zeros);
  require_floating(result.dtype, queue.device(), op);
  require_like(op, "the result", result, {w.shape.out, w.shape.in}, result.dtype);
  if (result.numel() == 0) return;
  dequantize_part(queue, w, {0, w.shape.out, 0, w.shape.in}, result);
}

}  // namespace dlprim
