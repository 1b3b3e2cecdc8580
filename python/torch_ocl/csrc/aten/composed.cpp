#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/compute_type.h"
#include "aten/kernels.h"

/** \file Operators that PyTorch has kernels of for each device, made of others here. */

namespace torch_ocl {
namespace {

at::Tensor& fill_tensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value.expand(self.sizes()));
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "Expected object of data type ", self.scalar_type(),
              " but got data type ", other.scalar_type(), " for argument 'other' in call to equal");
  return self.sizes() == other.sizes() && (self.numel() == 0 || self.eq(other).all().item<bool>());
}

at::Tensor trace(const at::Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return self.diagonal().sum();
}

at::Tensor& cross(const at::Tensor& self, const at::Tensor& other, std::int64_t dim, at::Tensor& out) {
  const auto [a, b] = at::expand_outplace(self, other);
  dim = at::maybe_wrap_dim(dim, a->dim());
  TORCH_CHECK(a->size(dim) == 3, "linalg.cross: inputs dimension ", dim, " must have length 3. Got ",
              self.size(dim), " and ", other.size(dim));
  const auto turned = [dim](const at::Tensor& t, std::int64_t by) { return t.roll(-by, dim); };
  const at::Tensor made = turned(*a, 1) * turned(*b, 2) - turned(*a, 2) * turned(*b, 1);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

/** The gradient of a view of sliding windows: what several windows hold is added up. */
at::Tensor unfold_backward(const at::Tensor& grad, c10::IntArrayRef sizes, std::int64_t dim,
                           std::int64_t size, std::int64_t step) {
  at::Tensor result = at::zeros(sizes, grad.options());
  if (sizes.empty()) return result.add_(grad.reshape({-1}).sum());
  dim = at::maybe_wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
  const at::Tensor places =
      at::arange(result.size(dim), grad.options().dtype(c10::kLong)).unfold(0, size, step);
  return result.index_add_(dim, places.reshape({-1}), grad.movedim(-1, dim + 1).flatten(dim, dim + 1));
}

at::Tensor repeat_interleave(const at::Tensor& repeats, std::optional<std::int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == c10::kLong || repeats.scalar_type() == c10::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return at::empty({0}, repeats.options());
  TORCH_CHECK((repeats >= 0).all().item<bool>(), "repeats can not be negative");
  const at::Tensor counts = repeats.to(c10::kLong), ends = counts.cumsum(0);
  const std::int64_t total = ends[-1].item<std::int64_t>();
  TORCH_CHECK(!output_size || *output_size == total, "allocated size does not match required size");
  // Each entry counts one at its first place; what has no place counts one behind the last.
  const at::Tensor marks = at::zeros({total + 1}, counts.options());
  marks.index_add_(0, ends - counts, at::ones_like(counts));
  return (marks.cumsum(0) - 1).narrow(0, 0, total).to(repeats.scalar_type());
}

at::Tensor& renorm(const at::Tensor& self, const c10::Scalar& p, std::int64_t dim, const c10::Scalar& most,
                   at::Tensor& out) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) others.push_back(d);
  const at::Tensor norms = at::linalg_vector_norm(self, p, others, true, compute_type(self.scalar_type()));
  const at::Tensor factor =
      at::where(norms > most, most.toDouble() / (norms + 1e-7), at::ones({}, norms.options()));
  const at::Tensor made = self * factor;
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

/** Elements put back to where a pooling of the last `axes` dimensions took them from. */
at::Tensor& unpool(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                   at::Tensor& out) {
  const auto axes = static_cast<std::int64_t>(size.size());
  TORCH_CHECK(indices.scalar_type() == c10::kLong,
              "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(self.sizes() == indices.sizes(),
              "Expected shape of indices to be same as that of the input tensor (", self.sizes(),
              ") but got indices tensor with shape: ", indices.sizes());
  TORCH_CHECK(self.dim() == axes + 1 || self.dim() == axes + 2, "Input to max_unpooling should be a ",
              axes + 1, "d or ", axes + 2, "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  std::vector<std::int64_t> shape = self.sizes().slice(0, static_cast<std::size_t>(self.dim() - axes)).vec(),
                            flat = shape;
  shape.insert(shape.end(), size.begin(), size.end());
  flat.push_back(c10::multiply_integers(size));
  at::Tensor made = at::zeros(flat, self.options());
  if (self.numel() > 0) made.scatter_(-1, indices.flatten(-axes), self.flatten(-axes));
  at::native::resize_output(out, shape);
  return out.copy_(made.view(shape));
}

at::Tensor max_unpool2d(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size) {
  at::Tensor out = at::empty({0}, self.options());
  return unpool(self, indices, size, out);
}

at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                             c10::IntArrayRef, c10::IntArrayRef, at::Tensor& out) {
  return unpool(self, indices, size, out);
}

at::Tensor max_unpool3d(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                        c10::IntArrayRef, c10::IntArrayRef) {
  at::Tensor out = at::empty({0}, self.options());
  return unpool(self, indices, size, out);
}

at::Tensor& narrow_copy(const at::Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length,
                        at::Tensor& out) {
  const at::Tensor part = self.narrow(dim, start, length);
  at::native::resize_output(out, part.sizes());
  return out.copy_(part);
}

at::Tensor addbmm(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b, const c10::Scalar& beta,
                  const c10::Scalar& alpha) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "addbmm: expected two batches of matrices that multiply, got shapes ", a.sizes(), " and ",
              b.sizes());
  // The sum over the batch is part of the product's.
  const std::int64_t inner = a.size(0) * a.size(2);
  return at::addmm(self.expand({a.size(1), b.size(2)}), a.transpose(0, 1).reshape({a.size(1), inner}),
                   b.reshape({inner, b.size(2)}), beta, alpha);
}

at::Tensor& addbmm_out(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                       const c10::Scalar& beta, const c10::Scalar& alpha, at::Tensor& out) {
  const at::Tensor made = torch_ocl::addbmm(self, a, b, beta, alpha);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

at::Tensor& addbmm_in_place(at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                            const c10::Scalar& beta, const c10::Scalar& alpha) {
  return self.copy_(torch_ocl::addbmm(self, a, b, beta, alpha));
}

at::Tensor channel_shuffle(const at::Tensor& self, std::int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ",
              self.sizes());
  TORCH_CHECK(groups > 0 && self.size(1) % groups == 0,
              "Number of channels must be divisible by groups. Got ", self.size(1), " channels and ", groups,
              " groups.");
  return self.unflatten(1, {groups, self.size(1) / groups})
      .transpose(1, 2)
      .flatten(1, 2)
      .clone(self.suggest_memory_format());
}

/** A copy of what is read conjugate: real numbers are their own. */
at::Tensor& write_conjugate(const at::Tensor& self, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  return out.copy_(self.conj());
}

at::Tensor conjugate(const at::Tensor& self) {
  at::Tensor out = at::empty_like(self);
  return write_conjugate(self, out);
}

at::Tensor& conjugate_in_place(at::Tensor& self) {
  return write_conjugate(self, self);
}

// ---- what is there more than once

using Unique = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/** Of [n, …]: entries that differ from the one before, for each entry the one that it is, and how many are.
 */
Unique unique_in_order(const at::Tensor& entries) {
  const at::TensorOptions whole = entries.options().dtype(c10::kLong);
  const std::int64_t n = entries.size(0);
  if (n == 0) return {entries.clone(), at::empty({0}, whole), at::empty({0}, whole)};
  at::Tensor is_new = at::ones({n}, entries.options().dtype(c10::kBool));
  if (n > 1) {
    const at::Tensor differs = entries.narrow(0, 1, n - 1).ne(entries.narrow(0, 0, n - 1));
    is_new.narrow(0, 1, n - 1).copy_(differs.reshape({n - 1, -1}).any(1));
  }
  const at::Tensor first = is_new.nonzero().reshape({-1});
  const at::Tensor ends = at::cat({first.narrow(0, 1, first.size(0) - 1), at::full({1}, n, whole)});
  return {entries.index_select(0, first), is_new.cumsum(0) - 1, ends - first};
}

at::Tensor unless_left_out(bool is_wanted, const at::Tensor& t) {
  return is_wanted ? t : at::empty({0}, t.options());
}

Unique unique_consecutive(const at::Tensor& self, bool wants_inverse, bool wants_counts,
                          std::optional<std::int64_t> dim) {
  const at::Tensor entries = dim ? self.movedim(*dim, 0) : self.reshape({-1});
  auto [values, inverse, counts] = unique_in_order(entries.contiguous());
  if (dim)
    values = values.movedim(0, *dim);
  else
    inverse = inverse.view(self.sizes());
  return {values, unless_left_out(wants_inverse, inverse), unless_left_out(wants_counts, counts)};
}

Unique unique(const at::Tensor& self, bool /*sorted: always*/, bool wants_inverse, bool wants_counts) {
  const auto [sorted, order] = at::sort(self.reshape({-1}), true, 0, false);
  const auto [values, inverse_in_order, counts] = unique_in_order(sorted);
  const at::Tensor inverse = at::empty_like(inverse_in_order).index_copy_(0, order, inverse_in_order);
  return {values, unless_left_out(wants_inverse, inverse.view(self.sizes())),
          unless_left_out(wants_counts, counts)};
}

std::tuple<at::Tensor, at::Tensor> unique_without_counts(const at::Tensor& self, bool is_sorted,
                                                         bool wants_inverse) {
  auto [values, inverse, counts] = unique(self, is_sorted, wants_inverse, false);
  return {values, inverse};
}

at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights, std::int64_t least) {
  TORCH_CHECK(least >= 0, "minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1 && c10::isIntegralType(self.scalar_type(), false),
              "bincount only supports 1-d non-negative integral inputs.");
  const bool is_weighted = weights && weights->defined();
  TORCH_CHECK(!is_weighted || weights->sizes() == self.sizes(),
              "weights should be 1-d and have the same length as input");
  const c10::ScalarType type = !is_weighted                            ? c10::kLong
                               : weights->scalar_type() == c10::kFloat ? c10::kFloat
                                                                       : c10::kDouble;
  if (self.numel() == 0) return at::zeros({least}, self.options().dtype(c10::kLong));
  TORCH_CHECK(self.min().item<std::int64_t>() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  const std::int64_t bins = std::max(self.max().item<std::int64_t>() + 1, least);
  const at::Tensor result = at::zeros({bins}, self.options().dtype(type));
  const at::Tensor source =
      is_weighted ? weights->to(type) : at::ones({1}, result.options()).expand(self.sizes());
  return result.index_add_(0, self.to(c10::kLong), source);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("fill_.Tensor", &fill_tensor);
  m.impl("equal", &equal);
  m.impl("trace", &trace);
  m.impl("linalg_cross.out", &cross);
  m.impl("unfold_backward", &unfold_backward);
  m.impl("repeat_interleave.Tensor", &repeat_interleave);
  m.impl("renorm.out", &renorm);
  m.impl("max_unpool2d", &max_unpool2d);
  m.impl("max_unpool2d.out", &unpool);
  m.impl("max_unpool3d", &max_unpool3d);
  m.impl("max_unpool3d.out", &max_unpool3d_out);
  m.impl("narrow_copy.out", &narrow_copy);
  m.impl("addbmm", &addbmm);
  m.impl("addbmm.out", &addbmm_out);
  m.impl("addbmm_", &addbmm_in_place);
  m.impl("channel_shuffle", &channel_shuffle);
  library.impl("conj_physical.out", &write_conjugate);  // complex numbers too
  library.impl("conj_physical_", &conjugate_in_place);
  library.impl("_conj_physical", &conjugate);
  m.impl("unique_consecutive", &unique_consecutive);
  m.impl("_unique", &unique_without_counts);
  m.impl("_unique2", &unique);
  m.impl("bincount", &bincount);
}

}  // namespace
}  // namespace torch_ocl
