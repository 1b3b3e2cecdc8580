#include "autograd/ops/softmax.h"

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "dlprim/ops/softmax/softmax.h"

namespace ocl {
namespace {

using ForwardKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, std::int64_t, const dlprim::Tensor&);
using BackwardKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, const dlprim::Tensor&, std::int64_t,
                                const dlprim::Tensor&);

Tensor apply(const char* name, const Tensor& a, std::int64_t dim, ForwardKernel forward,
             BackwardKernel backward) {
  const Tensor x = contiguous(a);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), x.shape(), x.dtype());
  forward(x.device()->queue(), x.data(), dim, y);
  return record(name, {x}, y, [&] {
    return [y = SavedTensor(y), dim, backward](const TensorList& gradients) {
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
               dlprim::softmax_backward);
}

Tensor log_softmax(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(log_softmax, a, dim, dtype);
  return apply("LogSoftmaxBackward", to(a, dtype.value_or(a.dtype())), dim, dlprim::log_softmax_forward,
               dlprim::log_softmax_backward);
}

Tensor softmin(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(softmin, a, dim, dtype);
  return softmax(neg(a), dim, dtype);
}

}  // namespace ocl
