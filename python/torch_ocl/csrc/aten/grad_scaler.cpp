#include <ATen/ATen.h>
#include <torch/library.h>

#include "aten/kernels.h"

// The kernels of torch.amp.GradScaler for gradients and its scale; the host does not wait.

namespace torch_ocl {
namespace {

void unscale(at::TensorList grads, at::Tensor& found_inf, const at::Tensor& inv_scale) {
  for (at::Tensor grad : grads) {
    // An infinity or a NaN times 0 is a NaN, and so is every sum with it.
    found_inf.copy_(at::maximum(found_inf, grad.mul(0).sum().ne(0).to(found_inf.scalar_type())));
    grad.mul_(inv_scale);
  }
}

at::Tensor& update_scale(at::Tensor& scale, at::Tensor& growth_tracker, const at::Tensor& found_inf,
                         double growth_factor, double backoff_factor, std::int64_t growth_interval) {
  const at::Tensor has_found = found_inf.ne(0);
  const at::Tensor steps = growth_tracker.add(1);
  const at::Tensor is_due = steps.eq(growth_interval);
  const at::Tensor grown = scale.mul(growth_factor);
  const at::Tensor next = at::where(is_due.logical_and(grown.isfinite()), grown, scale);
  growth_tracker.copy_(steps.mul(has_found.logical_or(is_due).logical_not()));
  return scale.copy_(at::where(has_found, scale.mul(backoff_factor), next));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("_amp_foreach_non_finite_check_and_unscale_", &unscale);
  m.impl("_amp_update_scale_", &update_scale);
}

}  // namespace
}  // namespace torch_ocl
