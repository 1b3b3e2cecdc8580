#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.dtype().itemsize();
}

/** Both on one device; broadcast and converted. */
void copy_within(const at::Tensor& source, const at::Tensor& destination) {
  const dlprim::Tensor to = raw(destination);
  dlprim::copy(to.device().queue(), raw(source).expanded(to.shape), to);
}

void upload(const at::Tensor& source, const at::Tensor& destination, bool non_blocking) {
  const at::Tensor there =
      destination.is_contiguous() ? destination : at::empty_like(destination, c10::MemoryFormat::Contiguous);
  const at::Tensor here = source.expand(destination.sizes()).to(destination.scalar_type()).contiguous();
  device_under(there).queue().write(raw(there), here.const_data_ptr(), bytes_of(here),
                                    non_blocking && here.is_alias_of(source));
  if (!there.is_same(destination)) copy_within(there, destination);
}

void download(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor there = source.contiguous();
  const bool fits = destination.is_contiguous() && destination.scalar_type() == source.scalar_type() &&
                    destination.sizes() == source.sizes();
  const at::Tensor here = fits ? destination : at::empty(source.sizes(), source.options().device(c10::kCPU));
  device_under(there).queue().read(raw(there), here.mutable_data_ptr(), bytes_of(here));
  if (!fits) destination.copy_(here);
}

void copy_across(const at::Tensor& source, const at::Tensor& destination) {
  const at::Tensor here = source.to(destination.scalar_type()).contiguous();
  const bool fits = destination.is_contiguous() && destination.sizes() == here.sizes();
  const at::Tensor there =
      fits ? destination : at::empty(here.sizes(), here.options().device(destination.device()));
  dlprim::copy_to_device(device_under(there).queue(), raw(here), raw(there));
  if (!fits) copy_within(there, destination);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& destination, bool non_blocking) {
  if (destination.numel() == 0) return destination;
  if (source.is_cpu())
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

at::Tensor& fill(at::Tensor& self, const c10::Scalar& value) {
  if (self.numel() == 0) return self;
  const dlprim::Tensor to = raw(self);
  dlprim::fill(to.device().queue(), to, scalar_of(value));
  return self;
}

at::Tensor& zero(at::Tensor& self) {
  return fill(self, 0);
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
