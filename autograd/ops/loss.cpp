#include "autograd/ops/loss.h"

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/loss/nll_loss.h"

namespace ocl {
namespace {

using dlprim::require;

const dlprim::Tensor* raw_or_null(const Tensor& t) {
  return t.defined() ? &t.data() : nullptr;
}
const dlprim::Tensor* raw_or_null(const SavedTensor& t) {
  return t.defined() ? &t.unpack() : nullptr;
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::none ? losses : reduction == Reduction::mean ? mean(losses) : sum(losses);
}

DType sum_dtype(DType dtype) {
  return dtype == DType::float64 ? dtype : DType::float32;
}

Tensor contiguous_or_none(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

}  // namespace

Tensor nll_loss(const Tensor& a, const Tensor& labels, const Tensor& class_weight, std::int64_t ignore_index,
                Reduction reduction) {
  const Tensor x = contiguous(a), target = contiguous(labels), weight = contiguous_or_none(class_weight);
  dlprim::class_loss_extents("nll_loss", x.data(), target.data(), raw_or_null(weight));
  dlprim::Device& device = *x.device();
  const dlprim::Tensor loss =
      dlprim::Tensor::empty(device, dlprim::class_loss_shape(x.shape(), reduction), x.dtype());
  const dlprim::Tensor total = dlprim::Tensor::empty(device, {}, sum_dtype(x.dtype()));
  dlprim::nll_loss_forward(device.queue(), x.data(), target.data(), raw_or_null(weight), ignore_index,
                           reduction, loss, total);
  return record("NllLossBackward", {x}, loss, [&] {
    return [target = SavedTensor(target), weight = SavedTensor(weight), total = SavedTensor(total),
            shape = x.shape(), dtype = x.dtype(), ignore_index, reduction](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), shape, dtype);
      dlprim::nll_loss_backward(g.device()->queue(), g.data(), target.unpack(), raw_or_null(weight),
                                ignore_index, reduction, total.unpack(), dx);
      return TensorList{Tensor(dx)};
    };
  });
}

Tensor cross_entropy(const Tensor& a, const Tensor& labels, const Tensor& class_weight,
                     std::int64_t ignore_index, Reduction reduction, double label_smoothing) {
  require(label_smoothing >= 0 && label_smoothing <= 1,
          "cross_entropy: label_smoothing must be between 0.0 and 1.0, got ", label_smoothing);
  require<AutogradError>(
      !needs_tape({labels}),
      "cross_entropy: the gradient of class probabilities is not implemented; detach() the target");
  const Tensor x = contiguous(a), target = contiguous(labels), weight = contiguous_or_none(class_weight);
  dlprim::class_loss_extents("cross_entropy", x.data(), target.data(), raw_or_null(weight));
  const dlprim::CrossEntropyOptions options{ignore_index, label_smoothing, reduction};
  dlprim::Device& device = *x.device();
  const DType sums = sum_dtype(x.dtype());
  const dlprim::Tensor loss =
      dlprim::Tensor::empty(device, dlprim::class_loss_shape(x.shape(), reduction), x.dtype());
  const dlprim::Tensor total = dlprim::Tensor::empty(device, {}, sums);
  const dlprim::Tensor normalizer =
      dlprim::Tensor::empty(device, dlprim::cross_entropy_normalizer_shape(x.shape()), sums);
  dlprim::cross_entropy_forward(device.queue(), x.data(), target.data(), raw_or_null(weight), options, loss,
                                total, normalizer);
  return record("CrossEntropyBackward", {x}, loss, [&] {
    return [x = SavedTensor(x), target = SavedTensor(target), weight = SavedTensor(weight),
            total = SavedTensor(total), normalizer = SavedTensor(normalizer),
            options](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), x.unpack().shape, x.unpack().dtype);
      dlprim::cross_entropy_backward(g.device()->queue(), g.data(), x.unpack(), target.unpack(),
                                     raw_or_null(weight), options, total.unpack(), normalizer.unpack(), dx);
      return TensorList{Tensor(dx)};
    };
  });
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(square(input - target), reduction);
}
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(abs(input - target), reduction);
}

Reduction reduction_from_name(const std::string& name) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  throw ValueError(name + " is not a valid value for reduction");
}

}  // namespace ocl
