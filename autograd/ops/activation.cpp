#include "autograd/ops/activation.h"

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/glu.h"

namespace ocl {

using dlprim::require;

Tensor activate(const dlprim::PointwiseOp& op, const Tensor& x, const std::vector<Scalar>& parameters,
                bool inplace) {
  if (!inplace) return apply_pointwise(op, {x}, parameters);
  Tensor result = x;
  apply_pointwise_in_place(op, result, {x}, parameters);
  return result;
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  ENTER_OPERATOR(prelu, x, weight);
  require(weight.dim() <= 1,
          "prelu: expected `weight` to be a scalar or 1D tensor, but got ndim = ", weight.dim());
  const std::int64_t channels = x.dim() >= 2 ? x.size(1) : 1;
  require(weight.numel() == 1 || (weight.numel() == channels && x.dim() > 0),
          "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
          weight.numel(), " and channel size = ", channels, ".");
  require<TypeError>(x.dtype() == weight.dtype(), "prelu: Type promoting not supported. Got ",
                     name(x.dtype()), " and ", name(weight.dtype()));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  if (x.dim() >= 2) shape[1] = weight.numel();
  return prelu_kernel(x, reshape(weight, shape));
}

Tensor glu(const Tensor& x, std::int64_t dim) {
  ENTER_OPERATOR(glu, x, dim);
  const dlprim::Tensor y =
      dlprim::Tensor::empty(*x.device(), dlprim::glu_output_shape(x.shape(), dim), x.dtype());
  dlprim::glu_forward(x.device()->queue(), x.data(), dim, y);
  return record("GluBackward", {x}, y, [&] {
    return [saved = SavedTensor(x), dim](const TensorList& gradients) {
      if (grad_enabled())
        return gradients_by_composition({saved.input(0)}, gradients, [dim](const TensorList& inputs) {
          const std::int64_t half = inputs[0].size(dim) / 2;
          return TensorList{glu_kernel(narrow(inputs[0], dim, 0, half), narrow(inputs[0], dim, half, half))};
        });
      const dlprim::Tensor& given = saved.unpack();
      const dlprim::Tensor dx = dlprim::Tensor::empty(given.device(), given.shape, given.dtype);
      dlprim::glu_backward(given.device().queue(), gradients[0].data(), given, dim, dx);
      return TensorList{Tensor(dx)};
    };
  });
}

namespace {

/** The factors of rrelu for every element of `x` while training. */
Tensor drawn_slopes(const Tensor& x, double lower, double upper) {
  const Tensor slopes = empty_like(x.detach()).uniform_(lower, upper);
  return where(gt(x.detach(), 0), 1.0, slopes);
}

void check_slopes(double lower, double upper) {
  require(lower <= upper, "rrelu: the lower bound should be less than or equal to the upper bound, got ",
          lower, " and ", upper);
}

}  // namespace

Tensor rrelu(const Tensor& x, double lower, double upper, bool training) {
  ENTER_OPERATOR(rrelu, x, lower, upper, training);
  check_slopes(lower, upper);
  return training ? x * drawn_slopes(x, lower, upper) : leaky_relu(x, (lower + upper) / 2);
}

Tensor& rrelu_(Tensor& x, double lower, double upper, bool training) {
  ANNOUNCE_OPERATOR("rrelu_", x, lower, upper, training);
  check_slopes(lower, upper);
  return training ? x.mul_(drawn_slopes(x, lower, upper)) : x.leaky_relu_((lower + upper) / 2);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, double eps, std::int64_t dim) {
  ENTER_OPERATOR(gumbel_softmax, logits, tau, hard, eps, dim);
  require<TypeError>(is_floating(logits.dtype()), "gumbel_softmax: expected a floating dtype, got ",
                     name(logits.dtype()));
  const Tensor wide = in_compute_dtype(logits);
  const Tensor noise = neg(log(empty_like(wide.detach()).exponential_()));
  const Tensor soft = softmax((wide + noise) / tau, dim);
  if (!hard) return to(soft, logits.dtype());
  const Tensor values = soft.detach();
  const Tensor chosen = scatter(zeros_like(values), dim, argmax(values, dim, true), 1.0);
  return to(chosen - values + soft, logits.dtype());
}

}  // namespace ocl
