#include "autograd/ops/dropout.h"

#include "autograd/generator.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/random/random.h"

namespace ocl {

Tensor dropout(const Tensor& a, double p, bool training) {
  dlprim::require(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (!training || p == 0) return a;
  const Tensor x = contiguous(a);
  const dlprim::PhiloxState state = default_generator(x.device()).next(x.numel());
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), x.shape(), x.dtype());
  dlprim::dropout(x.device()->queue(), x.data(), p, state, y);
  // The mask is drawn again rather than kept: the same state gives the same mask.
  return record("DropoutBackward", {x}, y, [&] {
    return [p, state](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), g.shape(), g.dtype());
      dlprim::dropout(g.device()->queue(), g.data(), p, state, dx);
      return TensorList{Tensor(dx)};
    };
  });
}

}  // namespace ocl
