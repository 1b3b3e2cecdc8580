#include "autograd/ops/softmax.h"

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "dlprim/ops/softmax/softmax.h"

namespace ocl {
namespace {

using ForwardKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, std::int64_t, const dlprim::Tensor&);
using BackwardKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, const dlprim::Tensor&, std::int64_t,
                                const dlprim::Tensor&);

/** The gradient from those of y and y itself, by operators. */
using Derivative = Tensor (*)(const Tensor& g, const Tensor& y, std::int64_t dim);

Tensor softmax_derivative(const Tensor& g, const Tensor& y, std::int64_t dim) {
  const Tensor weighted = mul(g, y);
  return sub(weighted, mul(y, sum(weighted, {dim}, true)));
}

Tensor log_softmax_derivative(const Tensor& g, const Tensor& y, std::int64_t dim) {
  return sub(g, mul(exp(y), sum(g, {dim}, true)));
}

Tensor apply(const char* name, const Tensor& a, std::int64_t dim, ForwardKernel forward,
             BackwardKernel backward, Derivative derivative) {
  const Tensor x = contiguous(a);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), x.shape(), x.dtype());
  forward(x.device()->queue(), x.data(), dim, y);
  return record(name, {x}, y, [&] {
    return [y = SavedTensor(y), dim, backward, derivative](const TensorList& gradients) {
      if (grad_enabled()) {
        const Tensor result = y.output();
        return TensorList{
            to(derivative(in_compute_dtype(gradients[0]), in_compute_dtype(result), dim), result.dtype())};
      }
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), g.shape(), g.dtype());
      backward(g.device()->queue(), g.data(), y.unpack(), dim, dx);
      return TensorList{Tensor(dx)};
    };
  });
}

}  // namespace

Tensor softmax(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(softmax, a, dim, dtype);
  return apply("SoftmaxBackward", to(a, dtype.value_or(a.dtype())), dim, dlprim::softmax_forward,
               dlprim::softmax_backward, softmax_derivative);
}

Tensor log_softmax(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(log_softmax, a, dim, dtype);
  return apply("LogSoftmaxBackward", to(a, dtype.value_or(a.dtype())), dim, dlprim::log_softmax_forward,
               dlprim::log_softmax_backward, log_softmax_derivative);
}

Tensor softmin(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(softmin, a, dim, dtype);
  return softmax(neg(a), dim, dtype);
}

}  // namespace ocl
