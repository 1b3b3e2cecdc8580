#include "autograd/ops/inplace.h"

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"

namespace ocl {
namespace {

using dlprim::require;

bool same_place(const dlprim::Tensor& a, const dlprim::Tensor& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

bool overlaps_itself(const dlprim::Tensor& t) {
  for (int d = 0; d < t.rank(); ++d)
    if (t.strides[d] == 0 && t.shape[d] > 1) return true;
  return false;
}

}  // namespace

void check_in_place(const char* op, const Tensor& target, const TensorList& inputs) {
  const dlprim::Tensor& data = target.data();
  require(!overlaps_itself(data), op,
          ": unsupported operation: more than one element of the written-to tensor refers to a "
          "single memory location. Please clone() the tensor before performing the operation.");
  for (const Tensor& input : inputs)
    if (input.defined() && !same_place(input.data(), data))
      require(!data.overlaps(input.data()), op,
              ": unsupported operation: some elements of the input tensor and the "
              "written-to tensor refer to a single memory location. Please clone() the tensor before "
              "performing the operation.");
  if (!grad_enabled()) return;
  require<AutogradError>(!(target.is_leaf() && target.requires_grad()), op,
                         ": a leaf Variable that requires grad is being used in an in-place operation.");
  bool recorded = target.requires_grad();
  for (const Tensor& input : inputs) recorded |= input.defined() && input.requires_grad();
  require<AutogradError>(
      !(recorded && target.impl().is_view), op,
      ": a view of a tensor is being written in place while gradients are recorded, which the tape does not "
      "follow; clone() the view first, or write under no_grad().");
}

Tensor& Tensor::add_(const Operand& b, const Scalar& alpha) {
  apply_pointwise_in_place(dlprim::pointwise_op("add"), *this, {*this, b}, {alpha});
  return *this;
}

Tensor& Tensor::mul_(const Operand& b) {
  apply_pointwise_in_place(dlprim::pointwise_op("mul"), *this, {*this, b});
  return *this;
}

Tensor& Tensor::copy_(const Tensor& source) {
  require(dlprim::broadcast_shapes(source.shape(), shape(), "copy_") == shape(), "copy_: a source of shape ",
          source.shape(), " does not broadcast to ", shape());
  const Tensor here = source.device() == device() ? source : source.to(device());
  check_in_place("copy_", *this, {here});
  dlprim::copy(device()->queue(), here.data(), data());
  data().storage->bump_version();
  if (!needs_tape({*this, here})) return *this;
  set_history({*this}, make_node("CopyBackwards", {here},
                                 [shape = here.shape(), dtype = here.dtype()](const TensorList& g) {
                                   return TensorList{sum_to_shape(g[0].to(dtype), shape)};
                                 }));
  return *this;
}

Tensor& Tensor::fill_(const Scalar& value) {
  check_in_place("fill_", *this, {});
  dlprim::fill(device()->queue(), data(), value);
  data().storage->bump_version();
  if (grad_enabled() && requires_grad())
    set_history({*this}, make_node("FillBackward", {*this}, [](const TensorList&) { return TensorList(1); }));
  return *this;
}

Tensor& Tensor::zero_() {
  return fill_(0);
}

}  // namespace ocl
