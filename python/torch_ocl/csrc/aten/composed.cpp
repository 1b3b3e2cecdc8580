#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include "arguments.h"
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
  // Each entry counts one at its first place; an entry without a place counts one behind the last.
  const at::Tensor marks = at::zeros({total + 1}, counts.options());
  marks.index_add_(0, ends - counts, at::ones_like(counts));
  return (marks.cumsum(0) - 1).narrow(0, 0, total).to(repeats.scalar_type());
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

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("fill_.Tensor", &fill_tensor);
  m.impl("equal", &equal);
  m.impl("unfold_backward", &unfold_backward);
  m.impl("repeat_interleave.Tensor", &repeat_interleave);
  m.impl("max_unpool2d", &max_unpool2d);
  m.impl("max_unpool2d.out", &unpool);
  m.impl("max_unpool3d", &max_unpool3d);
  m.impl("max_unpool3d.out", &max_unpool3d_out);
  m.impl("narrow_copy.out", &narrow_copy);
  library.impl("conj_physical.out", &write_conjugate);  // complex numbers too
  library.impl("conj_physical_", &conjugate_in_place);
  library.impl("_conj_physical", &conjugate);
}

}  // namespace
}  // namespace torch_ocl
