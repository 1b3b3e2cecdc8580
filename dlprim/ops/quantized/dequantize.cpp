#include <algorithm>
#include <array>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/quantized/quantized_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** Bytes of a weight as numbers that lie in scratch memory at once. */
constexpr std::int64_t most_scratch = std::int64_t{64} << 20;

/** Columns `first` to `first + count` of a matrix. */
Tensor columns_of(const Tensor& matrix, std::int64_t first, std::int64_t count) {
  return matrix.restrided("quantized_linear", {matrix.shape[0], count}, matrix.strides,
                          matrix.offset + first);
}

}  // namespace

Defines QuantizedWeight::defines(DType dtype) const {
  static const auto& loads = *[] {
    auto* all = new std::array<const char*, dtype_count>;
    for (std::size_t i = 0; i < all->size(); ++i)
      (*all)[i] = interned(concat("LOAD_", info(static_cast<DType>(i)).name));
    return all;
  }();
  Defines defines = dtype_defines(dtype);
  return defines.set("SCALE", info(scales.dtype).storage_type)
      .set("LOAD_SCALE", loads[static_cast<std::size_t>(scales.dtype)])
      .set("BITS", bits())
      .set("WEIGHT", info(weight.dtype).storage_type)
      .set("IS_FLOAT", compute_dtype(dtype) == DType::float32);
}

void dequantize_part(Queue& queue, const QuantizedWeight& w, const QuantizedPart& part,
                     const Tensor& result) {
  // Pieces of sixteen bytes on CPUs, else single bytes (dequantize.cl).
  const std::int64_t bytes = std::int64_t{part.columns} * w.bits() / 8;
  const bool on_cpu = queue.device().info().runs_cpu_kernels();
  const std::int64_t pieces = part.lines * (on_cpu ? ceil_div(bytes, 16) : bytes);
  queue.launch(queue.kernel("ops/quantized/dequantize.cl", "dequantize", w.defines(result.dtype)),
               share_range(queue, pieces, 16), w.weight, w.scales, Optional{w.zeros}, w.shape, part, result);
}

void multiply_by_parts(Queue& queue, const Tensor& x, const QuantizedWeight& w, bool is_transposed,
                       const Tensor* bias, const Tensor& result, MatmulPrecision precision) {
  // The columns of the result are lines of the weight where it is transposed, else its columns.
  const std::int64_t columns = result.shape[1], depth = x.shape[1];
  const std::int64_t fitting =
      most_scratch / std::max<std::int64_t>(depth * static_cast<std::int64_t>(size_of(x.dtype)), 1);
  const std::int64_t most =
      std::max<std::int64_t>(fitting / QUANTIZED_BLOCK * QUANTIZED_BLOCK, QUANTIZED_BLOCK);
  const std::int64_t step = std::min(columns, most);
  const Tensor numbers = queue.scratch(is_transposed ? Dims{step, depth} : Dims{depth, step}, x.dtype);
  const Tensor products = step < columns ? queue.scratch({result.shape[0], step}, result.dtype) : Tensor();
  for (std::int64_t first = 0; first < columns; first += step) {
    const std::int64_t count = std::min(step, columns - first);
    const auto first_int = static_cast<cl_int>(first), count_int = static_cast<cl_int>(count);
    const QuantizedPart part = is_transposed ? QuantizedPart{first_int, count_int, 0, w.shape.in}
                                             : QuantizedPart{0, w.shape.out, first_int, count_int};
    const Tensor weight = numbers.reshaped({part.lines, part.columns});
    dequantize_part(queue, w, part, weight);
    Tensor added;
    if (bias) added = bias->restrided("quantized_linear", {count}, bias->strides, bias->offset + first);
    const Tensor product = step < columns ? products.reshaped({result.shape[0], count}) : result;
    gemm(queue, x, is_transposed ? weight.transposed() : weight, product, 1, 0, bias ? &added : nullptr,
         precision);
    if (step < columns) copy(queue, product, columns_of(result, first, count));
  }
}

namespace {

double expected_cost_of_product(const DeviceInfo&, const QuantizedProblem& p) {
  return p.multiply_adds();
}

void run_product(Queue& queue, const QuantizedProblem& p) {
  multiply_by_parts(queue, p.x, p.w, true, p.bias, p.y, p.precision);
}

}  // namespace

QuantizedImplementation quantized_by_product() {
  return {"product", [](const DeviceInfo&, const QuantizedProblem&) { return true; },
          expected_cost_of_product, run_product};
}

}  // namespace dlprim
