#include "nn/utils/clip_grad.h"

#include <cmath>

#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/optim/multi_tensor.h"

namespace ocl::nn::utils {
namespace {

TensorList gradients_of(const TensorList& parameters) {
  TensorList gradients;
  for (const Tensor& p : parameters)
    if (Tensor grad = p.grad(); grad.defined()) gradients.push_back(std::move(grad));
  return gradients;
}

std::vector<dlprim::Tensor> raw(const TensorList& tensors) {
  std::vector<dlprim::Tensor> all;
  for (const Tensor& t : tensors) {
    dlprim::require(t.device() == tensors.front().device(),
                    "gradients are clipped together on one device only, got ", t.device()->name(), " and ",
                    tensors.front().device()->name());
    all.push_back(t.data());
  }
  return all;
}

/** Lets `write` change the gradients; one that is not dense is replaced by a copy that is. */
template <class Write>
void change_gradients(const TensorList& parameters, const Write& write) {
  const NoGradGuard no_grad;
  TensorList gradients;
  for (const Tensor& p : parameters) {
    Tensor grad = p.grad();
    if (!grad.defined()) continue;
    if (!dlprim::is_dense(grad.data())) p.impl().set_grad(grad = contiguous(grad));
    gradients.push_back(std::move(grad));
  }
  if (gradients.empty()) return;
  write(gradients.front().device()->queue(), raw(gradients));
  for (const Tensor& g : gradients) g.data().storage->bump_version();
}

}  // namespace

Tensor get_total_norm(const TensorList& tensors, double norm_type, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  TensorList dense;
  for (const Tensor& t : tensors) dense.push_back(dlprim::is_dense(t.data()) ? t : contiguous(t));
  const Tensor norm = empty({}, tensors.front().dtype(), tensors.front().device());
  dlprim::ParameterPack pack;
  dlprim::multi_tensor_norm(norm.device()->queue(), pack, raw(dense), norm_type, norm.data());
  if (error_if_nonfinite && !std::isfinite(norm.item<double>()))
    throw AutogradError(dlprim::concat(
        "The total norm of order ", norm_type,
        " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
        "scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"));
  return norm;
}

void clip_grads_with_norm_(const TensorList& parameters, double max_norm, const Tensor& total_norm) {
  change_gradients(parameters, [&](dlprim::Queue& queue, const std::vector<dlprim::Tensor>& gradients) {
    dlprim::ParameterPack pack;
    dlprim::multi_tensor_clip(queue, pack, gradients, total_norm.data(), max_norm);
  });
}

Tensor clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Tensor norm = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, norm);
  return norm;
}

void clip_grad_value_(const TensorList& parameters, double clip_value) {
  change_gradients(parameters, [&](dlprim::Queue& queue, const std::vector<dlprim::Tensor>& gradients) {
    dlprim::ParameterPack pack;
    dlprim::multi_tensor_clamp(queue, pack, gradients, clip_value);
  });
}

}  // namespace ocl::nn::utils
