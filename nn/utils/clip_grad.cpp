#include "nn/utils/clip_grad.h"

#include <cmath>

#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "nn/utils/change_in_place.h"

namespace ocl::nn::utils {
namespace {

TensorList gradients_of(const TensorList& parameters) {
  TensorList gradients;
  for (const Tensor& p : parameters)
    if (Tensor grad = p.grad(); grad.defined()) gradients.push_back(std::move(grad));
  return gradients;
}

void require_one_device(const TensorList& tensors) {
  for (const Tensor& t : tensors)
    dlprim::require(t.device() == tensors.front().device(),
                    "gradients are clipped together on one device only, got ", t.device()->name(), " and ",
                    tensors.front().device()->name());
}

std::vector<dlprim::Tensor> raw(const TensorList& tensors) {
  require_one_device(tensors);
  std::vector<dlprim::Tensor> all;
  for (const Tensor& t : tensors) all.push_back(t.data());
  return all;
}

/** Lets `write` change the gradients, in place; one that shows an element several times is replaced by a
 * copy. */
template <class Write>
void change_gradients(const TensorList& parameters, const Write& write) {
  const NoGradGuard no_grad;
  TensorList gradients;
  for (const Tensor& p : parameters) {
    Tensor grad = p.grad();
    if (!grad.defined()) continue;
    if (overlaps_itself(grad.data())) p.impl().set_grad(grad = dense(grad));
    gradients.push_back(std::move(grad));
  }
  require_one_device(gradients);
  change_in_place(gradients, write);
}

/** The norm of all together, in the dtype that it is computed in. */
Tensor total_norm(const TensorList& tensors, double norm_type, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  TensorList given;
  for (const Tensor& t : tensors) given.push_back(dense(t));
  const Tensor norm = empty({}, dlprim::compute_dtype(tensors.front().dtype()), tensors.front().device());
  dlprim::ParameterPack pack;
  dlprim::multi_tensor_norm(norm.device()->queue(), pack, raw(given), norm_type, norm.data());
  if (error_if_nonfinite && !std::isfinite(norm.item<double>()))
    throw AutogradError(dlprim::concat(
        "The total norm of order ", norm_type,
        " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
        "scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"));
  return norm;
}

/** That norm as it is given back: in the dtype of what it is of. */
Tensor rounded(const Tensor& norm, const TensorList& tensors) {
  return tensors.empty() ? norm : to(norm, tensors.front().dtype());
}

}  // namespace

Tensor get_total_norm(const TensorList& tensors, double norm_type, bool error_if_nonfinite) {
  return rounded(total_norm(tensors, norm_type, error_if_nonfinite), tensors);
}

void clip_grads_with_norm_(const TensorList& parameters, double max_norm, const Tensor& total_norm) {
  change_gradients(parameters, [&](dlprim::Queue& queue, const std::vector<dlprim::Tensor>& gradients) {
    dlprim::ParameterPack pack;
    const Tensor norm = to(total_norm, dlprim::compute_dtype(gradients.front().dtype));
    dlprim::multi_tensor_clip(queue, pack, gradients, norm.data(), max_norm);
  });
}

GradientNorm clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type,
                             bool error_if_nonfinite) {
  const TensorList gradients = gradients_of(parameters);
  const Tensor norm = total_norm(gradients, norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, norm);
  return rounded(norm, gradients);
}

void clip_grad_value_(const TensorList& parameters, double clip_value) {
  change_gradients(parameters, [&](dlprim::Queue& queue, const std::vector<dlprim::Tensor>& gradients) {
    dlprim::ParameterPack pack;
    dlprim::multi_tensor_clamp(queue, pack, gradients, clip_value);
  });
}

}  // namespace ocl::nn::utils
