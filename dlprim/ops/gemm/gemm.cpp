#include "dlprim/ops/gemm/gemm.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

void check(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor* bias) {
  const int rank = c.rank();
  const bool fits = (rank == 2 || rank == 3) && a.rank() == rank && b.rank() == rank &&
                    a.size(-1) == b.size(-2) && c.size(-2) == a.size(-2) && c.size(-1) == b.size(-1) &&
                    (rank == 2 || (a.shape[0] == c.shape[0] && b.shape[0] == c.shape[0]));
  require(fits, "gemm: expected a [B, M, K], b [B, K, N], c [B, M, N] (or all of rank 2), got ", a.shape,
          ", ", b.shape, ", ", c.shape);
  require_contiguous("gemm", "c", c);
  require<TypeError>(a.dtype == c.dtype && b.dtype == c.dtype, "gemm: expected one dtype, got a ",
                     name(a.dtype), ", b ", name(b.dtype), ", c ", name(c.dtype));
  require_like("gemm", "bias", bias, {c.size(-1)}, c.dtype);
  for (const Tensor* t : {&a, &b, &c})
    for (const std::int64_t size : t->shape) kernel_int(size, "gemm", "a dimension");
}

std::int64_t batch_stride(const Tensor& t) {
  return t.rank() == 3 && t.shape[0] > 1 ? t.strides[0] : 0;
}
std::int64_t row_stride(const Tensor& t) {
  return t.strides[t.rank() - 2];
}
std::int64_t column_stride(const Tensor& t) {
  return t.strides[t.rank() - 1];
}

GemmProblem problem_of(const Tensor& a, const Tensor& b, const Tensor& c, double alpha, double beta,
                       const Tensor* bias, MatmulPrecision precision) {
  return {a,
          b,
          c,
          bias,
          alpha,
          beta,
          precision,
          c.rank() == 3 ? c.shape[0] : 1,
          c.size(-2),
          c.size(-1),
          alpha == 0 ? 0 : a.size(-1),
          batch_stride(a),
          row_stride(a),
          column_stride(a),
          batch_stride(b),
          row_stride(b),
          column_stride(b)};
}

const ImplementationList<GemmProblem> gemm_implementations("gemm", gemm_cpu_tiles(), gemm_cpu_few_rows(),
                                                           gemm_products(), gemm_of_turned(), gemm_of_words(),
                                                           gemm_mapped(),
#ifndef TAPECL_WITHOUT_CLBLAST
                                                           gemm_clblast(),
#endif
                                                           gemm_integer());

}  // namespace

const GemmImplementation& gemm_implementation(const std::string& name) {
  return gemm_implementations.named(name);
}

double gemm_cost(const DeviceInfo& device, const Tensor& a, const Tensor& b, const Tensor& c,
                 const Tensor* bias, MatmulPrecision precision) {
  return gemm_implementations.least_cost(device, problem_of(a, b, c, 1, 0, bias, precision));
}

void gemm(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c, double alpha, double beta,
          const Tensor* bias, MatmulPrecision precision) {
  ENTER(gemm, queue, a, b, c, alpha, beta, bias, precision);
  check(a, b, c, bias);
  require<TypeError>(c.dtype != DType::boolean, "gemm: not implemented for bool");
  if (is_floating(c.dtype)) require_floating(c.dtype, queue.device(), "gemm");
  if (c.numel() == 0) return;
  gemm_implementations.run(queue, problem_of(a, b, c, alpha, beta, bias, precision));
}

}  // namespace dlprim
