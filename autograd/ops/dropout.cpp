#include "autograd/ops/dropout.h"

#include "autograd/call.h"
#include "autograd/creation.h"
#include "autograd/generator.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/random.h"

namespace ocl {
namespace {

void check_probability(double p) {
  dlprim::require(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/** The mask is drawn again rather than kept: the same state gives the same mask. */
Tensor masked(const Tensor& g, double p, dlprim::PhiloxState state) {
  const Tensor x = contiguous(g);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), x.shape(), x.dtype());
  dlprim::dropout(x.device()->queue(), x.data(), p, state, y);
  return Tensor(y);
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  ENTER_OPERATOR(dropout, x, p, training);
  check_probability(p);
  if (!training || p == 0) return x;
  const dlprim::PhiloxState state = default_generator(x.device()).next(x.numel());
  dlprim::Tensor y;
  {
    const NoGradGuard no_grad;
    y = masked(x, p, state).data();
  }
  return record("DropoutBackward", {x}, y, [&] {
    return [p, state](const TensorList& g) { return TensorList{masked(g[0], p, state)}; };
  });
}

Tensor& dropout_(Tensor& x, double p, bool training) {
  check_probability(p);
  if (!training || p == 0) return x;
  check_in_place("dropout", x, {});
  const dlprim::PhiloxState state = default_generator(x.device()).next(x.numel());
  {
    const NoGradGuard no_grad;
    if (x.is_contiguous())
      dlprim::dropout(x.device()->queue(), x.data(), p, state, x.data());
    else
      dlprim::copy(x.device()->queue(), masked(x, p, state).data(), x.data());
  }
  record_in_place("DropoutBackward", x, {}, [&] {
    return [p, state](const TensorList& g) { return TensorList{masked(g[0], p, state)}; };
  });
  return x;
}

Tensor dropout2d(const Tensor& x, double p, bool training) {
  ENTER_OPERATOR(dropout2d, x, p, training);
  check_probability(p);
  if (!training || p == 0) return x;
  dlprim::require(x.dim() >= 2, "dropout2d: expected an input of at least 2 dimensions, got shape ",
                  x.shape());
  Shape channels(static_cast<std::size_t>(x.dim()), 1);
  channels[0] = x.size(0);
  channels[1] = x.size(1);
  return mul(x, dropout(ones(channels, x.dtype(), x.device()), p));
}

}  // namespace ocl
