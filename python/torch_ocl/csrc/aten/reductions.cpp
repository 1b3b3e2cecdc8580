#include <torch/library.h>

#include "arguments.h"
#include "dlprim/ops/reduce/reduce.h"

namespace torch_ocl {
namespace {

void reduce_into(const char* row, const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                 const at::Tensor& out) {
  const std::vector<std::int64_t> list = dims ? dims->vec() : std::vector<std::int64_t>();
  const dlprim::Tensor x = raw(self);
  const dlprim::DimMask mask = dlprim::dim_mask(list, x.rank(), row);
  at::native::resize_output(out, sizes_of(dlprim::reduced_shape(x.shape, mask, keepdim)));
  if (out.numel() == 0) return;
  into(out, [&](const dlprim::Tensor& y) {
    dlprim::reduce(y.device().queue(), dlprim::reduction(row), x, mask, y);
  });
}

template <const char* row>
at::Tensor& with_dtype(const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                       std::optional<c10::ScalarType> dtype, at::Tensor& out) {
  reduce_into(row, dtype ? self.to(*dtype) : self, dims, keepdim, out);
  return out;
}

template <const char* row>
at::Tensor& plain(const at::Tensor& self, c10::IntArrayRef dims, bool keepdim, at::Tensor& out) {
  reduce_into(row, self, dims, keepdim, out);
  return out;
}

template <const char* row>
at::Tensor whole(const at::Tensor& self) {
  TORCH_CHECK(self.numel() > 0, row, "(): expected a tensor with elements, got shape ", self.sizes());
  at::Tensor out = at::empty({}, self.options());
  reduce_into(row, self, std::nullopt, false, out);
  return out;
}

template <const char* row>
at::Tensor& truth(const at::Tensor& self, std::int64_t dim, bool keepdim, at::Tensor& out) {
  reduce_into(row, self, c10::IntArrayRef(dim), keepdim, out);
  return out;
}

template <const char* row>
at::Tensor& whole_truth(const at::Tensor& self, at::Tensor& out) {
  reduce_into(row, self, std::nullopt, false, out);
  return out;
}

constexpr char sum[] = "sum", mean[] = "mean", amax[] = "amax", amin[] = "amin", all[] = "all", any[] = "any";

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("sum.IntList_out", &with_dtype<sum>);
  m.impl("mean.out", &with_dtype<mean>);
  m.impl("amax.out", &plain<amax>);
  m.impl("amin.out", &plain<amin>);
  m.impl("all.out", &truth<all>);
  m.impl("any.out", &truth<any>);
  m.impl("all.all_out", &whole_truth<all>);
  m.impl("any.all_out", &whole_truth<any>);
  m.impl("max", &whole<amax>);
  m.impl("min", &whole<amin>);
}

}  // namespace
}  // namespace torch_ocl
