#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include <cmath>

#include "arguments.h"
#include "aten/accepted_types.h"
#include "aten/kernels.h"
#include "dlprim/ops/scan/scan.h"
#include "dlprim/ops/sort/sort.h"

/** \file What takes the elements of a row in order: sorting, and running sums and products. */

namespace torch_ocl {
namespace {

using Outputs = std::tuple<at::Tensor&, at::Tensor&>;

/** Positions along `dim` in the order of the elements, NaN counting as the largest; equal ones keep their
 * order. */
at::Tensor order_along(const at::Tensor& self, std::int64_t dim, bool descending) {
  if (self.dim() == 0) return at::zeros({}, self.options().dtype(c10::kLong));
  const at::Tensor along_last = self.transpose(dim, -1).contiguous();
  const at::Tensor order = at::empty(along_last.sizes(), along_last.options().dtype(c10::kInt));
  if (order.numel() > 0) {
    const dlprim::Dims rows{self.numel() / along_last.size(-1), along_last.size(-1)};
    dlprim::sort_order(device_under(self).queue(), raw(along_last).reshaped(rows), descending,
                       raw(order).reshaped(rows));
  }
  return order.transpose(dim, -1).to(c10::kLong, false, false, c10::MemoryFormat::Contiguous);
}

/** Writes the elements that `order` names, and it. */
Outputs pick(const at::Tensor& self, std::int64_t dim, const at::Tensor& order, at::Tensor& values,
             at::Tensor& indices) {
  TORCH_CHECK(indices.scalar_type() == c10::kLong, "expected indices of dtype Long, got ",
              indices.scalar_type());
  if (values.is_alias_of(self)) {
    const at::Tensor picked = at::gather(self, dim, order);
    at::native::resize_output(values, picked.sizes());
    values.copy_(picked);
  } else {
    at::gather_out(values, self, dim, order);
  }
  at::native::resize_output(indices, order.sizes());
  indices.copy_(order);
  return {values, indices};
}

Outputs sort(const at::Tensor& self, std::optional<bool> /*stable: always*/, std::int64_t dim,
             bool descending, at::Tensor& values, at::Tensor& indices) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  return pick(self, dim, order_along(self, dim, descending), values, indices);
}

Outputs topk(const at::Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool /*sorted: always*/,
             at::Tensor& values, at::Tensor& indices) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.size(dim) : 1), "selected index k out of range");
  const at::Tensor order = order_along(self, dim, largest);
  return pick(self, dim, self.dim() > 0 ? order.narrow(dim, 0, k).contiguous() : order, values, indices);
}

/** The element of every row that stands at `place[row]` in ascending order. */
Outputs pick_place(const at::Tensor& self, std::int64_t dim, const at::Tensor& place, bool keepdim,
                   at::Tensor& values, at::Tensor& indices) {
  at::Tensor order = order_along(self, dim, false);
  if (self.dim() > 0) order = at::gather(order, dim, place);
  pick(self, dim, order, values, indices);
  if (!keepdim && self.dim() > 0) {
    values.squeeze_(dim);
    indices.squeeze_(dim);
  }
  return {values, indices};
}

Outputs kthvalue(const at::Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim, at::Tensor& values,
                 at::Tensor& indices) {
  require_accepted("kthvalue", {}, dtype_of(self.scalar_type()));
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(k >= 1 && k <= (self.dim() > 0 ? self.size(dim) : 1),
              "kthvalue(): selected number k out of range for dimension ", dim);
  at::assert_no_overlap(self, values);
  std::vector<std::int64_t> shape = self.sizes().vec();
  if (!shape.empty()) shape[static_cast<std::size_t>(dim)] = 1;
  return pick_place(self, dim, at::full(shape, k - 1, self.options().dtype(c10::kLong)), keepdim, values,
                    indices);
}

/** Where the median stands in ascending order: the lower of two, among those that are no NaN; without
 * `ignores_nan` the first NaN where there is one. */
at::Tensor place_of_median(const at::Tensor& self, std::int64_t dim, bool ignores_nan) {
  const std::int64_t n = self.size(dim);
  const at::Tensor known = at::sum(self.isnan().logical_not(), dim, true);
  const at::Tensor lower = at::div(known - 1, 2, "floor").clamp_min(0);
  return ignores_nan ? lower : at::where(known == n, lower, known);
}

template <bool ignores_nan>
Outputs median_dim(const at::Tensor& self, std::int64_t dim, bool keepdim, at::Tensor& values,
                   at::Tensor& indices) {
  require_accepted("median", {}, dtype_of(self.scalar_type()));
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() == 0 || self.size(dim) > 0,
                    "median(): Expected reduction dim to have non-zero size, got shape ", self.sizes());
  return pick_place(self, dim, self.dim() > 0 ? place_of_median(self, dim, ignores_nan) : at::Tensor(),
                    keepdim, values, indices);
}

template <bool ignores_nan>
at::Tensor median(const at::Tensor& self) {
  require_accepted("median", {}, dtype_of(self.scalar_type()));
  if (self.numel() == 0)
    return c10::isFloatingType(self.scalar_type())
               ? at::full({}, NAN, self.options())
               : at::full({}, dlprim::integer_range(dtype_of(self.scalar_type())).first, self.options());
  at::Tensor values = at::empty({0}, self.options()),
             indices = at::empty({0}, self.options().dtype(c10::kLong));
  median_dim<ignores_nan>(self.reshape({-1}), 0, false, values, indices);
  return values;
}

// ---- running sums and products

using Scan = void (*)(dlprim::Queue&, const dlprim::Tensor&, int, const dlprim::Tensor&);

void running_sum(dlprim::Queue& queue, const dlprim::Tensor& x, int dim, const dlprim::Tensor& y) {
  dlprim::cumsum(queue, x, dim, y);
}

template <Scan scan>
at::Tensor& scanned(const at::Tensor& self, std::int64_t dim, std::optional<c10::ScalarType> dtype,
                    at::Tensor& out) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return out;
  // Whole numbers run on in int64, which wraps to the same bits as a narrower type.
  const at::Tensor given = self.to(dtype.value_or(out.scalar_type()));
  const bool is_floating = c10::isFloatingType(given.scalar_type());
  const at::Tensor x = (is_floating ? given : given.to(c10::kLong)).contiguous();
  const at::Tensor y = at::empty_like(x);
  scan(device_under(x).queue(), raw(x), static_cast<int>(dim), raw(y));
  return out.copy_(y);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("sort.values_stable", &sort);
  m.impl("topk.values", &topk);
  m.impl("kthvalue.values", &kthvalue);
  m.impl("median", &median<false>);
  m.impl("nanmedian", &median<true>);
  m.impl("median.dim_values", &median_dim<false>);
  m.impl("nanmedian.dim_values", &median_dim<true>);
  m.impl("cumsum.out", &scanned<&running_sum>);
  m.impl("cumprod.out", &scanned<&dlprim::cumprod>);
}

}  // namespace
}  // namespace torch_ocl
