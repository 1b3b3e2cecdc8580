#include <ATen/Operators.h>
#include <torch/library.h>

#include "aten/fallback.h"
#include "aten/kernels.h"

/** \file Operators that name elements by an index, where aten has more of them than ocl. */

namespace torch_ocl {
namespace {

void require_index(const char* name, const at::Tensor& index) {
  TORCH_CHECK_INDEX(
      index.numel() == 0 || index.scalar_type() == c10::kLong || index.scalar_type() == c10::kInt, name,
      "(): Expected dtype int32/int64 for index");
}

// ---- scatter with a reduction, by its older names

c10::string_view newer_name(c10::string_view reduce) {
  return reduce == "add" ? "sum" : reduce == "multiply" ? "prod" : reduce;
}

at::Tensor& scatter_with(const at::Tensor& self, std::int64_t dim, const at::Tensor& index,
                         const at::Tensor& src, c10::string_view reduce, at::Tensor& out) {
  return at::scatter_reduce_out(out, self, dim, index, src, newer_name(reduce));
}

at::Tensor& scatter_value_with(const at::Tensor& self, std::int64_t dim, const at::Tensor& index,
                               const c10::Scalar& value, c10::string_view reduce, at::Tensor& out) {
  const at::Tensor src = at::full({}, value, self.options()).expand(index.sizes());
  return at::scatter_reduce_out(out, self, dim, index, src, newer_name(reduce));
}

// ---- rows of a table

at::Tensor embedding_backward(const at::Tensor& grad, const at::Tensor& index, std::int64_t count,
                              std::int64_t padding, bool scales_by_frequency) {
  if (scales_by_frequency)
    return OnTheCpu<at::_ops::embedding_dense_backward>::call(grad, index, count, padding,
                                                              scales_by_frequency);
  require_index("embedding_backward", index);
  const at::Tensor weight = at::zeros({count, grad.size(-1)}, grad.options());
  if (index.numel() == 0 || weight.numel() == 0) return weight;
  weight.index_add_(0, index.reshape({-1}), grad.reshape({index.numel(), -1}));
  if (padding >= 0) weight.select(0, padding).zero_();
  return weight;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("scatter.reduce_out", &scatter_with);
  m.impl("scatter.value_reduce_out", &scatter_value_with);
  m.impl("embedding_dense_backward", &embedding_backward);
}

}  // namespace
}  // namespace torch_ocl
