#include "autograd/ops/norm.h"

#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

const dlprim::Tensor* raw_or_null(const Tensor& t) {
  return t.defined() ? &t.data() : nullptr;
}

void check_channels(const char* what, const Tensor& t, std::int64_t channels, DType dtype) {
  if (!t.defined()) return;
  require(t.shape() == Dims{channels}, "batch_norm: expected ", what, " of shape [", channels, "], got ",
          t.shape());
  require<TypeError>(t.dtype() == dtype, "batch_norm: expected ", what, " of dtype ", name(dtype), ", got ",
                     name(t.dtype()));
  require(t.is_contiguous(), "batch_norm: expected a contiguous ", what);
}

}  // namespace

Tensor batch_norm(const Tensor& a, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  require(a.dim() >= 2, "batch_norm: expected at least 2 dimensions [N, C, ...], got shape ", a.shape());
  dlprim::require_floating(a.dtype(), *a.device(), "batch_norm");
  require(running_mean.defined() == running_var.defined(),
          "batch_norm: running_mean and running_var go together");
  require(training || running_mean.defined(),
          "batch_norm: expected running_mean and running_var to be defined when training=False");
  const std::int64_t channels = a.size(1);
  const DType statistics = dlprim::statistics_dtype(a.dtype());
  check_channels("running_mean", running_mean, channels, statistics);
  check_channels("running_var", running_var, channels, statistics);
  check_channels("weight", weight, channels, statistics);
  check_channels("bias", bias, channels, statistics);

  const Tensor x = contiguous(a);
  dlprim::Device& device = *x.device();
  const dlprim::Tensor y = dlprim::Tensor::empty(device, x.shape(), x.dtype());
  const dlprim::Tensor invstd = dlprim::Tensor::empty(device, {channels}, statistics);
  dlprim::Tensor mean;
  if (training) {
    mean = dlprim::Tensor::empty(device, {channels}, statistics);
    dlprim::batch_norm_training_forward(device.queue(), x.data(), raw_or_null(weight), raw_or_null(bias), eps,
                                        {raw_or_null(running_mean), raw_or_null(running_var), momentum}, y,
                                        mean, invstd);
    for (const Tensor& running : {running_mean, running_var})
      if (running.defined()) running.data().storage->bump_version();
  } else {
    mean = running_mean.data();
    dlprim::batch_norm_invstd(device.queue(), running_var.data(), eps, invstd);
    dlprim::batch_norm_forward(device.queue(), x.data(), mean, invstd, raw_or_null(weight), raw_or_null(bias),
                               y);
  }
  return record("BatchNormBackward", {x, weight, bias}, y, [&] {
    const auto wants = [](const Tensor& t) { return t.defined() && t.requires_grad(); };
    return [x = SavedTensor(x), mean = SavedTensor(mean), invstd = SavedTensor(invstd),
            weight = SavedTensor(weight), training, needs_x = wants(x), needs_weight = wants(weight),
            needs_bias = wants(bias), channels, statistics](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const auto result = [&](bool wanted, const Dims& shape, DType dtype) {
        return wanted ? Tensor(dlprim::Tensor::empty(*g.device(), shape, dtype)) : Tensor();
      };
      const Tensor dx = result(needs_x, g.shape(), g.dtype());
      const Tensor dweight = result(needs_weight, {channels}, statistics);
      const Tensor dbias = result(needs_bias, {channels}, statistics);
      dlprim::batch_norm_backward(g.device()->queue(), g.data(), x.unpack(), mean.unpack(), invstd.unpack(),
                                  weight.defined() ? &weight.unpack() : nullptr, training, raw_or_null(dx),
                                  raw_or_null(dweight), raw_or_null(dbias));
      return TensorList{dx, dweight, dbias};
    };
  });
}

}  // namespace ocl
