#include <torch/library.h>

#include "arguments.h"
#include "dlprim/ops/gemm/gemm.h"

namespace torch_ocl {
namespace {

/** out = beta * out + alpha * a @ b (+ bias, a row). */
void multiply(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, double alpha, double beta,
              const dlprim::Tensor* bias = nullptr) {
  if (out.numel() == 0) return;
  dlprim::gemm(device_under(out).queue(), raw(a), raw(b), raw(out), alpha, beta, bias, matmul_precision());
}

/** Gives `out` the shape of a @ b. */
void resize_for_product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out) {
  TORCH_CHECK(a.dim() >= 2 && a.dim() == b.dim(), "expected two matrices or two batches of them, got shapes ",
              a.sizes(), " and ", b.sizes());
  std::vector<std::int64_t> shape = a.sizes().vec();
  shape.back() = b.size(-1);
  at::native::resize_output(out, shape);
}

at::Tensor& product_into(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  resize_for_product(a, b, out);
  const bool is_direct = out.is_contiguous() && !out.is_alias_of(a) && !out.is_alias_of(b);
  const at::Tensor there = is_direct ? out : at::empty_like(out, c10::MemoryFormat::Contiguous);
  multiply(a, b, there, 1, 0);
  if (!is_direct) out.copy_(there);
  return out;
}

at::Tensor& sum_and_product_into(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                                 const c10::Scalar& beta, const c10::Scalar& alpha, at::Tensor& out) {
  resize_for_product(a, b, out);
  const double scale = alpha.toDouble(), kept = beta.toDouble();
  const bool is_direct = out.is_contiguous() && !out.is_alias_of(a) && !out.is_alias_of(b) &&
                         (out.is_same(self) || !out.is_alias_of(self));
  const at::Tensor there = is_direct ? out : at::empty_like(out, c10::MemoryFormat::Contiguous);
  if (self.dim() == 1 && self.size(0) == out.size(-1) && self.is_contiguous() && kept == 1) {
    const dlprim::Tensor bias = raw(self);
    multiply(a, b, there, scale, 0, &bias);
  } else {
    if (kept != 0 && !there.is_same(self)) there.copy_(self.expand(out.sizes()));
    multiply(a, b, there, scale, kept);
  }
  if (!is_direct) out.copy_(there);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("mm.out", &product_into);
  m.impl("bmm.out", &product_into);
  m.impl("addmm.out", &sum_and_product_into);
  m.impl("baddbmm.out", &sum_and_product_into);
}

}  // namespace
}  // namespace torch_ocl
