#include "autograd/ops/activation.h"

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"

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

namespace {

struct Halves {
  dlprim::Tensor first, second;
};

Halves halves_of(const dlprim::Tensor& x, int dim) {
  Halves halves{x, x};
  const std::int64_t half = x.shape[dim] / 2;
  halves.first.shape[dim] = halves.second.shape[dim] = half;
  halves.second.offset += half * x.strides[dim];
  return halves;
}

}  // namespace

Tensor glu(const Tensor& x, std::int64_t dim) {
  ENTER_OPERATOR(glu, x, dim);
  static const dlprim::PointwiseOp& op = dlprim::pointwise_op("glu_kernel");
  require(x.dim() > 0, "glu does not support 0-dimensional tensors");
  const int d = dlprim::wrap_dim(dim, x.dim(), "glu");
  require(x.shape()[d] % 2 == 0, "Halving dimension must be even, but dimension ", d, " is size ",
          x.shape()[d]);
  require<TypeError>(is_floating(x.dtype()), "glu: expected a floating dtype, got ", name(x.dtype()));
  const Halves halves = halves_of(x.data(), d);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), halves.first.shape, x.dtype());
  dlprim::pointwise(x.device()->queue(), forward_expression(op), x.dtype(), {halves.first, halves.second}, {},
                    {y});
  return record("GluBackward", {x}, y, [&] {
    return [saved = SavedTensor(x), d](const TensorList& gradients) {
      const dlprim::Tensor& given = saved.unpack();
      const Halves inputs = halves_of(given, d);
      const dlprim::Tensor dx = dlprim::Tensor::empty(given.device(), given.shape, given.dtype);
      const Halves outputs = halves_of(dx, d);
      dlprim::pointwise_backward(given.device().queue(), op, gradients[0].data(),
                                 {inputs.first, inputs.second}, {}, {}, {outputs.first, outputs.second});
      return TensorList{Tensor(dx)};
    };
  });
}

}  // namespace ocl
