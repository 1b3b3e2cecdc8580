#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <torch/library.h>

#include <cstring>
#include <utility>
#include <vector>

#include "aten/fallback.h"
#include "deferred.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "runtime/errors.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.dtype().itemsize();
}

/** The numbers in memory: without the bits that say that numbers are to be read conjugate or negative. */
at::Tensor physical(const at::Tensor& tensor) {
  const at::Tensor unnegated = tensor.is_neg() ? tensor._neg_view() : tensor;
  return unnegated.is_conj() ? unnegated.conj() : unnegated;
}

/** `tensor`, which lies as `like` is read, as it is to lie in the memory of `like`. */
at::Tensor lying_as(at::Tensor tensor, const at::Tensor& like) {
  if (like.is_conj()) tensor = tensor.conj();
  if (like.is_neg()) tensor = tensor._neg_view();
  return tensor.resolve_conj().resolve_neg();
}

/** Elements to others of the same dtype; broadcast. */
void copy_bits(const at::Tensor& source, const at::Tensor& destination) {
  const dlprim::Tensor to = bits_of(destination);
  dlprim::copy(to.device().queue(), bits_of(source).expanded(to.shape), to);
}

/** Changes signs in memory that was copied from memory of which numbers are read otherwise. */
void read_alike(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor there = physical(destination);
  const at::Tensor numbers = there.is_complex() ? at::view_as_real(there) : there;
  if (source.is_neg() != destination.is_neg()) numbers.neg_();
  if (source.is_conj() != destination.is_conj()) numbers.select(-1, 1).neg_();
}

void upload(const at::Tensor& source, const at::Tensor& destination, bool non_blocking) {
  const at::Tensor to = physical(destination);
  const at::Tensor there = to.is_contiguous() ? to : at::empty_like(to, c10::MemoryFormat::Contiguous);
  const at::Tensor here =
      lying_as(source.expand(destination.sizes()).to(destination.scalar_type()), destination).contiguous();
  device_under(there).queue().write(bits_of(there), here.const_data_ptr(), bytes_of(here),
                                    non_blocking && here.is_alias_of(source));
  if (!there.is_same(to)) copy_bits(there, to);
}

void download(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor there = physical(source).contiguous();
  const bool fits = destination.is_contiguous() && destination.scalar_type() == source.scalar_type() &&
                    destination.sizes() == source.sizes() && destination.is_conj() == source.is_conj() &&
                    destination.is_neg() == source.is_neg();
  at::Tensor here = fits ? destination : at::empty(source.sizes(), source.options().device(c10::kCPU));
  with_errors_of_torch(
      [&] { device_under(there).queue().read(bits_of(there), here.mutable_data_ptr(), bytes_of(here)); });
  if (fits) return;
  if (source.is_conj()) here = here.conj();
  if (source.is_neg()) here = here._neg_view();
  destination.copy_(here);
}

/** To or from complex numbers: what is real has no imaginary part, which the other way is left out, but that
 * a number is true by either part. */
void convert_complex(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor from = lying_as(source, destination), to = physical(destination);
  const at::Tensor given = from.is_complex() ? at::view_as_real(from) : from;
  if (!to.is_complex()) {
    to.copy_(to.scalar_type() == c10::kBool ? given.ne(0).any(-1) : given.select(-1, 0));
    return;
  }
  const at::Tensor parts = at::view_as_real(to);
  (from.is_complex() ? parts : parts.select(-1, 0)).copy_(given);
  if (!from.is_complex()) parts.select(-1, 1).zero_();
}

/** Both on one device; broadcast and converted. */
void copy_within(const at::Tensor& source, const at::Tensor& destination) {
  if (defer_copy(source, destination)) return;
  if (source.scalar_type() == destination.scalar_type()) {
    copy_bits(physical(source), physical(destination));
    read_alike(source, destination);
  } else if (source.is_complex() || destination.is_complex()) {
    convert_complex(source, destination);
  } else if (has_kernels(source.scalar_type()) && has_kernels(destination.scalar_type()) &&
             !source.is_neg() && !destination.is_neg()) {
    const dlprim::Tensor to = raw(destination);
    dlprim::copy(to.device().queue(), raw(source).expanded(to.shape), to);
  } else {
    note_fallback("aten::_copy_from");  // a conversion that there is no kernel for
    upload(source.cpu(), destination, false);
  }
}

void copy_across(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor here = lying_as(source.to(destination.scalar_type()), destination).contiguous();
  const at::Tensor to = physical(destination);
  const bool fits = to.is_contiguous() && to.sizes() == here.sizes();
  const at::Tensor there = fits ? to : at::empty(here.sizes(), here.options().device(to.device()));
  dlprim::copy_to_device(device_under(there).queue(), bits_of(here), bits_of(there));
  if (!fits) copy_bits(there, to);
}

bool is_of_others(const at::Tensor& tensor) {
  return !tensor.is_cpu() && !tensor.is_privateuseone();
}

/** Whether dlprim's tensors have so many dimensions; complex numbers of 16 bytes take one more. */
bool has_a_rank(const at::Tensor& tensor) {
  return tensor.dim() + (tensor.dtype().itemsize() > 8 ? 1 : 0) <= dlprim::max_rank;
}

/** Both without dimensions of one element, and with neighbours as one that lie in both as one would. */
std::pair<at::Tensor, at::Tensor> folded(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor from = source.expand(destination.sizes());
  std::vector<std::int64_t> sizes, from_strides, to_strides;
  for (std::int64_t dim = 0; dim < from.dim(); ++dim) {
    const std::int64_t size = from.size(dim), from_stride = from.stride(dim),
                       to_stride = destination.stride(dim);
    if (size == 1) continue;
    if (!sizes.empty() && from_strides.back() == from_stride * size &&
        to_strides.back() == to_stride * size) {
      sizes.back() *= size;
      from_strides.back() = from_stride;
      to_strides.back() = to_stride;
      continue;
    }
    sizes.push_back(size);
    from_strides.push_back(from_stride);
    to_strides.push_back(to_stride);
  }
  return {from.as_strided(sizes, from_strides), destination.as_strided(sizes, to_strides)};
}

/** Calls a function of two tensors for parts of both that have few enough dimensions. */
template <class Function>
void for_parts_with_a_rank(const at::Tensor& source, const at::Tensor& destination,
                           const Function& function) {
  const auto [from, to] = folded(source, destination);
  if (has_a_rank(from) && has_a_rank(to)) return function(from, to);
  for (std::int64_t i = 0; i < to.size(0); ++i)
    for_parts_with_a_rank(from.select(0, i), to.select(0, i), function);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& destination, bool non_blocking) {
  TORCH_CHECK(at::is_expandable_to(source.sizes(), destination.sizes()), "output with shape ",
              destination.sizes(), " doesn't match the broadcast shape of what is copied, ", source.sizes());
  if (destination.numel() == 0) return destination;
  at::assert_no_internal_overlap(destination);
  at::assert_no_partial_overlap(destination, source);
  if (!has_a_rank(source) || !has_a_rank(destination))
    for_parts_with_a_rank(source, destination, [&](const at::Tensor& from, const at::Tensor& to) {
      copy_from(from, to, non_blocking);
    });
  else if (is_of_others(source))  // CUDA's beside ours: through the host
    upload(source.cpu(), destination, false);
  else if (is_of_others(destination))
    destination.copy_(source.cpu());
  else if (source.is_cpu())
    upload(source, destination, non_blocking);
  else if (destination.is_cpu())
    download(source, destination);
  else if (source.device() == destination.device())
    copy_within(source, destination);
  else
    copy_across(source, destination);
  return destination;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& destination) {
  destination.resize_(source.sizes());
  return copy_from(source, destination, false);
}

c10::Scalar local_scalar(const at::Tensor& self) {
  return self.cpu().item();
}

/** Writes equal bits to every element, as integers. */
void fill_bits(const at::Tensor& self, const at::Tensor& value) {
  dlprim::Tensor to = bits_of(self);
  const std::size_t size = dlprim::size_of(to.dtype), parts = self.dtype().itemsize() / size;
  if (parts > 1) {
    to.shape.erase(to.rank() - 1);
    to.strides.erase(to.strides.size() - 1);
  }
  const auto* bytes = static_cast<const unsigned char*>(value.const_data_ptr());
  for (std::size_t i = 0; i < parts; ++i, ++to.offset, bytes += size) {
    std::int32_t word = 0;
    std::int64_t bits = *bytes;
    if (size == 4) std::memcpy(&word, bytes, size), bits = word;
    if (size == 8) std::memcpy(&bits, bytes, size);
    dlprim::fill(to.device().queue(), to, bits);
  }
}

at::Tensor& fill(at::Tensor& self, const c10::Scalar& value) {
  if (self.numel() == 0) return self;
  if (!has_a_rank(self)) {
    for_parts_with_a_rank(self, self, [&](const at::Tensor&, at::Tensor part) { part.fill_(value); });
  } else if (has_kernels(self.scalar_type())) {
    // Like PyTorch's CPU: a complex number that has an imaginary part is refused.
    const c10::Scalar real = value.isComplex() ? c10::Scalar(value.to<double>()) : value;
    const dlprim::Tensor to = raw(self);
    dlprim::fill(to.device().queue(), to, scalar_of(real));
  } else {
    fill_bits(self, at::empty({}, self.options().device(c10::kCPU)).fill_(value));
  }
  return self;
}

at::Tensor& zero(at::Tensor& self) {
  return fill(self, 0);
}

// _copy_from reads numbers that are to be read conjugate or negative as they are, and writes such: PyTorch's
// own way would be to copy them first, by _copy_from.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &local_scalar);
  m.impl("fill_.Scalar", &fill);
  m.impl("zero_", &zero);
}

}  // namespace
}  // namespace torch_ocl
