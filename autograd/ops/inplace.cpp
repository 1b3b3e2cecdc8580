#include "autograd/ops/inplace.h"

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

using dlprim::require;

bool same_place(const dlprim::Tensor& a, const dlprim::Tensor& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

void check_overlaps(const char* op, const Tensor& target, const TensorList& inputs) {
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
}

void check_tape(const char* op, const Tensor& target, const TensorList& inputs) {
  TensorList all = inputs;
  all.push_back(target);
  if (!needs_tape(all)) return;
  const TensorImpl& impl = target.impl();
  require<AutogradError>(!(target.is_leaf() && target.requires_grad()), op,
                         ": a leaf Variable that requires grad is being used in an in-place operation.");
  require<AutogradError>(!(impl.base.defined() && impl.base.is_leaf() && impl.base.requires_grad()), op,
                         ": a view of a leaf Variable that requires grad is being used in an in-place "
                         "operation.");
  require<AutogradError>(
      !impl.base.defined() || impl.base.dtype() == target.dtype(), op,
      ": a write to the parts of complex numbers cannot be recorded; write complex numbers, or "
      "make them of their parts by complex()");
  require<AutogradError>(
      !impl.is_unrecorded_view, op,
      ": A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
      "this use case is ambiguous and error-prone, it is forbidden. Move both the view and the write into "
      "the no_grad block, or both out of it.");
}

}  // namespace

bool overlaps_itself(const dlprim::Tensor& t) {
  if (t.numel() == 0) return false;
  for (int d = 0; d < t.rank(); ++d)
    if (t.strides[d] == 0 && t.shape[d] > 1) return true;
  return false;
}

void check_in_place(const char* op, const Tensor& target, const TensorList& inputs) {
  check_overlaps(op, target, inputs);
  check_tape(op, target, inputs);
}

#define IN_PLACE(name, arguments, ...)                                         \
  Tensor& Tensor::name##_ arguments {                                          \
    apply_pointwise_in_place(dlprim::pointwise_op(#name), *this, __VA_ARGS__); \
    return *this;                                                              \
  }
#define UNARY(name, ...) IN_PLACE(name, (), {*this})
#define UNARY_P(name, ...) IN_PLACE(name, (const Scalar& p), {*this}, {p})
#define UNARY_PQ(name, ...) IN_PLACE(name, (const Scalar& p, const Scalar& q), {*this}, {p, q})
#define BINARY(name, ...) IN_PLACE(name, (const Operand& b), {*this, b})
#define BINARY_P(name, ...) IN_PLACE(name, (const Operand& b, const Scalar& p), {*this, b}, {p})
#define TERNARY(name, ...)
#define TERNARY_P(name, ...) \
  IN_PLACE(name, (const Operand& b, const Operand& c, const Scalar& p), {*this, b, c}, {p})
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"
#undef IN_PLACE

Tensor& Tensor::copy_(const Tensor& source) {
  ANNOUNCE_OPERATOR("copy_", *this, source);
  require(dlprim::broadcast_shapes(source.shape(), shape(), "copy_") == shape(), "copy_: a source of shape ",
          source.shape(), " does not broadcast to ", shape());
  const Tensor here = source.device() == device() ? source : source.to(device());
  check_in_place("copy_", *this, {here});
  dlprim::copy(device()->queue(), here.data(), data());
  record_in_place("CopyBackwards", *this, {here}, [&] {
    return [shape = here.shape(), dtype = here.dtype()](const TensorList& g) {
      return TensorList{zeros_like(g[0]), sum_to_shape(g[0].to(dtype), shape)};
    };
  });
  return *this;
}

Tensor& Tensor::fill_(const Scalar& value) {
  ANNOUNCE_OPERATOR("fill_", *this, value);
  check_tape("fill_", *this, {});  // an element that is filled twice is no harm
  dlprim::fill(device()->queue(), data(), value);
  record_overwrite("FillBackward", *this);
  return *this;
}

Tensor& Tensor::zero_() {
  ANNOUNCE_OPERATOR("zero_", *this);
  return fill_(0);
}

void record_overwrite(const char* name, Tensor& target) {
  record_in_place(name, target, {},
                  [] { return [](const TensorList& g) { return TensorList{zeros_like(g[0])}; }; });
}

}  // namespace ocl
