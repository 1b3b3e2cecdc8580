#include "autograd/ops/dropout.h"

#include "autograd/ops/call.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/random/random.h"

namespace ocl {
namespace {

void check_probability(double p) {
  dlprim::require(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/** The mask is drawn again rather than kept: the same state gives the same mask, over the elements in the
 * order of memory, which `strides` therefore has to be that of forward. */
Tensor masked(const Tensor& given, const Dims& strides, double p, dlprim::PhiloxState state) {
  const dlprim::Tensor x = laid_out(given, strides).data();
  const dlprim::Tensor y = dlprim::Tensor::empty_strided(x.device(), x.shape, strides, x.dtype);
  dlprim::dropout(x.device().queue(), dlprim::in_memory_order(x), p, state, dlprim::in_memory_order(y));
  return Tensor(y);
}

Backward masked_gradient(const Dims& strides, double p, dlprim::PhiloxState state) {
  const auto mask = [=](const Tensor& t) { return masked(t, strides, p, state); };
  return linear_gradient("DropoutBackward", mask, mask);
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  ENTER_OPERATOR(dropout, x, p, training);
  check_probability(p);
  if (!training || p == 0) return x;
  const dlprim::PhiloxState state = default_generator(x.device()).next(x.numel());
  const Dims strides = dlprim::strides_like(x.data());
  return record("DropoutBackward", {x}, masked(x, strides, p, state).data(),
                [&] { return masked_gradient(strides, p, state); });
}

Tensor& dropout_(Tensor& x, double p, bool training) {
  ANNOUNCE_OPERATOR("dropout_", x, p, training);
  check_probability(p);
  if (!training || p == 0) return x;
  check_in_place("dropout", x, {});
  const dlprim::PhiloxState state = default_generator(x.device()).next(x.numel());
  const Dims strides = dlprim::strides_like(x.data());
  if (dlprim::is_dense(x.data())) {
    const dlprim::Tensor elements = dlprim::in_memory_order(x.data());
    dlprim::dropout(x.device()->queue(), elements, p, state, elements);
  } else {
    dlprim::copy(x.device()->queue(), masked(x, strides, p, state).data(), x.data());
  }
  record_in_place("DropoutBackward", x, {}, [&] { return masked_gradient(strides, p, state); });
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
