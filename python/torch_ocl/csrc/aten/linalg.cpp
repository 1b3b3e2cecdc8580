#include <torch/library.h>

#include <algorithm>

#include "arguments.h"
#include "aten/kernels.h"
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

/** So many products of two int8 numbers float32 sums exactly in any order: they are up to 2^14, and the sum
 * 2^24. */
constexpr std::int64_t exact_depth = 1024;

at::Tensor& int8_product_into(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  const auto check = [](const char* what, const at::Tensor& t, c10::ScalarType type) {
    TORCH_CHECK(t.dim() == 2, "_int_mm: expected ", what, " to be of dimension 2 but got ", t.dim());
    TORCH_CHECK(t.scalar_type() == type, "_int_mm: expected ", what, " of dtype ", type, " but got ",
                t.scalar_type());
  };
  check("self", a, c10::kChar);
  check("mat2", b, c10::kChar);
  check("out", out, c10::kInt);
  TORCH_CHECK(a.size(1) == b.size(0), "_int_mm: self.size(1) needs to match mat2.size(0) but got ", a.size(1),
              " and ", b.size(0));
  TORCH_CHECK(out.size(0) == a.size(0) && out.size(1) == b.size(1), "_int_mm: expected out of shape [",
              a.size(0), ", ", b.size(1), "] but got ", out.sizes());
  const at::Tensor left = a.to(c10::kFloat), right = b.to(c10::kFloat);
  const at::Tensor part = at::empty(out.sizes(), left.options());
  const std::int64_t depth = a.size(1);
  if (depth == 0) out.zero_();
  for (std::int64_t start = 0; start < depth && part.numel() > 0; start += exact_depth) {
    const std::int64_t length = std::min(exact_depth, depth - start);
    dlprim::gemm(device_under(part).queue(), raw(left.narrow(1, start, length)),
                 raw(right.narrow(0, start, length)), raw(part));
    if (start == 0)
      out.copy_(part);
    else
      out.add_(part.to(c10::kInt));
  }
  return out;
}

at::Tensor int8_product(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "_int_mm: expected two matrices, got shapes ", a.sizes(), " and ",
              b.sizes());
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options().dtype(c10::kInt));
  return int8_product_into(a, b, out);
}

at::Tensor dot(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ", a.dim(), "D and ", b.dim(),
              "D tensors");
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ", a.scalar_type(), " and ",
              b.scalar_type());
  TORCH_CHECK(a.numel() == b.numel(), "inconsistent tensor size, expected tensor [", a.numel(), "] and src [",
              b.numel(), "] to have the same number of elements");
  return at::mm(a.unsqueeze(0), b.unsqueeze(1)).reshape({});
}

at::Tensor& addmv(const at::Tensor& self, const at::Tensor& matrix, const at::Tensor& vector,
                  const c10::Scalar& beta, const c10::Scalar& alpha, at::Tensor& out) {
  TORCH_CHECK(matrix.dim() == 2 && vector.dim() == 1, "vector + matrix @ vector expected, got shapes ",
              self.sizes(), ", ", matrix.sizes(), " and ", vector.sizes());
  const at::Tensor column = self.expand({matrix.size(0)}).unsqueeze(1);
  const at::Tensor made = at::addmm(column, matrix, vector.unsqueeze(1), beta, alpha).squeeze(1);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("mm.out", &product_into);
  m.impl("bmm.out", &product_into);
  m.impl("addmm.out", &sum_and_product_into);
  m.impl("baddbmm.out", &sum_and_product_into);
  m.impl("_int_mm", &int8_product);
  m.impl("_int_mm.out", &int8_product_into);
  m.impl("addmv.out", &addmv);
  m.impl("dot", &dot);
  m.impl("vdot", &dot);
}

}  // namespace
}  // namespace torch_ocl
