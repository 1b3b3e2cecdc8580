#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/quantized/quantized_shared.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/measured_choices.h"

namespace dlprim {

/** A stored weight with its shapes and dtypes checked. */
struct QuantizedWeight {
  const Tensor& weight;
  const Tensor& scales;
  const Tensor* zeros;  // of four bits
  QuantizedShape shape;

  int bits() const { return zeros ? 4 : 8; }
  /** The macros of kernels that read it, for activations and results of `dtype`. */
  Defines defines(DType dtype) const;
};

/** y = x @ W^T + bias with nothing empty but, perhaps, the depth. */
struct QuantizedProblem {
  const Tensor& x;
  QuantizedWeight w;
  const Tensor* bias;
  const Tensor& y;
  MatmulPrecision precision;

  std::int64_t rows() const { return x.shape[0]; }
  double weights() const { return static_cast<double>(w.shape.out) * static_cast<double>(w.shape.in); }
  double multiply_adds() const { return weights() * static_cast<double>(rows()); }
  std::optional<ProblemKey> key() const {
    return ProblemKey(rows(), w.shape.out, w.shape.in, w.shape.groups, w.bits(), x.dtype, w.scales.dtype,
                      precision, bias != nullptr);
  }
};

using QuantizedImplementation = Implementation<QuantizedProblem>;

/** Weights become numbers in registers: they are read once for some rows of activations. */
QuantizedImplementation quantized_cpu_few_rows();
QuantizedImplementation quantized_simt_few_rows();
/** Weights become numbers in memory, for a matrix product. */
QuantizedImplementation quantized_by_product();

/** Writes a part of the weight, [lines, columns], to `result`, which is contiguous. */
void dequantize_part(Queue& queue, const QuantizedWeight& w, const QuantizedPart& part, const Tensor& result);

/** result = x @ W^T + bias, or x @ W, by matrix products with parts of W that take little memory. */
void multiply_by_parts(Queue& queue, const Tensor& x, const QuantizedWeight& w, bool is_transposed,
                       const Tensor* bias, const Tensor& result, MatmulPrecision precision);

}  // namespace dlprim
