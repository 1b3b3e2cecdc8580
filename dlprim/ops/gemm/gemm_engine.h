#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** A product with its shapes checked: c = alpha * a @ b + beta * c + bias. Strides are in elements. */
struct GemmProblem {
  const Tensor& a;
  const Tensor& b;
  const Tensor& c;
  const Tensor* bias;
  double alpha, beta;
  std::int64_t batches, m, n, k;
  std::int64_t a_batch, a_row, a_column, b_batch, b_row, b_column;
};

/** Who computes a product. */
enum class GemmEngine { cpu_kernel, simt_kernel, clblast };

/**
 * The one place that chooses. Devices of KernelShape::cpu take our CPU kernel (224 GFLOP/s against CLBlast's
 * 25 on two AVX-512 cores). Others take CLBlast for large float32 products with unit-stride operands (31
 * TFLOP/s on an H200) and our simt kernel for the rest: CLBlast compiles for seconds at its first use, so it
 * is asked only where it pays. The environment variable OCL_GEMM_ENGINE=own|clblast forces one wherever it
 * can run, for measurement and tests.
 */
GemmEngine choose_gemm_engine(const Device& device, const GemmProblem& problem);

void gemm_cpu(Queue& queue, const GemmProblem& problem);
void gemm_simt(Queue& queue, const GemmProblem& problem);
/** Preconditions: float32, a unit stride in each of a and b, no bias. */
void gemm_clblast(Queue& queue, const GemmProblem& problem);
/** Precondition: an integer dtype, not bool. */
void gemm_integer(Queue& queue, const GemmProblem& problem);

}  // namespace dlprim
