#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/product_join.h"
#include "dlprim/ops/gemm/product_tile.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/implementation.h"

namespace dlprim {

/** A product with its shapes checked and nothing empty: c = alpha * a @ b + beta * c + bias. Strides are in
 * elements. */
struct GemmProblem {
  const Tensor& a;
  const Tensor& b;
  const Tensor& c;
  const Tensor* bias;
  double alpha, beta;
  MatmulPrecision precision;
  std::int64_t batches, m, n, k;
  std::int64_t a_batch, a_row, a_column, b_batch, b_row, b_column;
  int chain = 0;  // of gemm_products: as ProductTile::defines_in_chains; 0: what suits the depth
  // For gemm_cpu_tiles, where beta is 0: the bias has m numbers, and the work on a result follows it.
  bool bias_of_rows = false;
  const Epilogue* epilogue = nullptr;

  double multiply_adds() const {
    return static_cast<double>(batches) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
  GemmProblem with_right(const Tensor& right, std::int64_t batch, std::int64_t row,
                         std::int64_t column) const {
    return {a, right, c,       bias,  alpha,    beta,  precision, batches, m,
            n, k,     a_batch, a_row, a_column, batch, row,       column,  chain};
  }
  /** Some matrices of it, and of each some rows, which begin where those tensors do. */
  GemmProblem part(const Tensor& left, const Tensor& right, const Tensor& result, std::int64_t matrices,
                   std::int64_t rows) const {
    return {left, right, result,  bias,  alpha,    beta,    precision, matrices, rows,
            n,    k,     a_batch, a_row, a_column, b_batch, b_row,     b_column, chain};
  }
  /** None where c is added to. */
  std::optional<ProblemKey> key() const {
    if (beta != 0) return std::nullopt;
    return ProblemKey(batches, m, n, k, a_batch == 0, a_row == 1, a_column == 1, b_batch == 0, b_row == 1,
                      b_column == 1, c.dtype, precision, bias != nullptr);
  }
};

using GemmImplementation = Implementation<GemmProblem>;

/** Floating dtypes, on devices of KernelShape::cpu. */
GemmImplementation gemm_cpu_tiles();
/** In float32 and float64, where few rows or columns meet a matrix. */
GemmImplementation gemm_cpu_few_rows();
/** Floating dtypes on the others, one for each of product_tiles that takes operands as they lie. */
std::vector<GemmImplementation> gemm_products();
/** Tiles for operands that both lie along the depth: the right one is turned before. */
std::vector<GemmImplementation> gemm_of_turned();
/** Products of 16-bit numbers, or of float32 at "medium", on NVIDIA's tensor cores by warps: in words that
 * lie along the depth or are packed so. */
std::vector<GemmImplementation> gemm_of_words();
/** Floating dtypes on Hopper, which brings operands by itself, where they lie along the depth (16-bit ones:
 * or across it) or are laid out so: one for each of warp groups. */
std::vector<GemmImplementation> gemm_mapped();
/** float32 with a unit stride in each of a and b, no bias. It compiles for seconds at its first use. */
GemmImplementation gemm_clblast();
/** Integers. */
GemmImplementation gemm_integer();

/** One of gemm's list by its name, for operators whose work is such a product. Throws ValueError for none. */
const GemmImplementation& gemm_implementation(const std::string& name);
/** The expected cost of gemm(a, b, c, 1, 0, bias, precision). */
double gemm_cost(const DeviceInfo& device, const Tensor& a, const Tensor& b, const Tensor& c,
                 const Tensor* bias, MatmulPrecision precision);

}  // namespace dlprim
