#include "autograd/ops/matrix_product.h"

#include "autograd/tensor/precision.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/runtime/device.h"

namespace ocl {

dlprim::Tensor product(const dlprim::Tensor& a, const dlprim::Tensor& b, double alpha,
                       const dlprim::Tensor* bias) {
  dlprim::Dims shape = a.shape;
  shape[shape.size() - 1] = b.size(-1);
  const dlprim::Tensor c = dlprim::Tensor::empty(a.device(), shape, a.dtype);
  dlprim::gemm(a.device().queue(), a, b, c, alpha, 0, bias, float32_matmul_precision());
  return c;
}

}  // namespace ocl
