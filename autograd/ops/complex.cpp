#include "autograd/ops/complex.h"

#include "autograd/ops/call.h"
#include "autograd/ops/linalg.h"
#include "autograd/tape/recordable.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

using dlprim::require;

void require_complex(const char* op, const Tensor& a) {
  require<TypeError>(is_complex(a.dtype()), op, ": expected a complex dtype, got ", name(a.dtype()));
}

void require_parts(const char* op, const Tensor& a, const Tensor& b) {
  require<TypeError>(a.dtype() == b.dtype() && (a.dtype() == DType::float32 || a.dtype() == DType::float64),
                     op, ": expected both inputs to be float32 or both float64, got ", name(a.dtype()),
                     " and ", name(b.dtype()));
  require(a.device() == b.device(), op, ": expected all tensors on one device");
}

/** Whether the pairs lie at even places, as those of complex numbers do. */
bool has_even_places(const dlprim::Tensor& pairs) {
  for (int d = 0; d + 1 < pairs.rank(); ++d)
    if (pairs.strides[d] % 2 != 0 && pairs.shape[d] > 1) return false;
  return pairs.offset % 2 == 0;
}

/** The complex numbers of any pairs, in memory of their own where they do not lie as such. */
Tensor complex_of_pairs(const Tensor& pairs) {
  const bool is_view = pairs.strides()[pairs.dim() - 1] == 1 && has_even_places(pairs.data());
  return view_as_complex(is_view ? pairs : clone(pairs, MemoryFormat::contiguous));
}

/** `write` of each of the parts (0 and 1) of new complex numbers. */
template <class Write>
dlprim::Tensor written(const Tensor& like, const Dims& shape, DType dtype, const Write& write) {
  const dlprim::Tensor result = dlprim::Tensor::empty(*like.device(), shape, dtype);
  for (const int part : {0, 1}) write(like.device()->queue(), part, dlprim::part_of(result, part));
  return result;
}

Tensor size_of_complex(const Tensor& a) {
  static const dlprim::PointwiseExpression& hypot = dlprim::forward_expression(dlprim::pointwise_op("hypot"));
  const DType dtype = real_dtype(a.dtype());
  const dlprim::Tensor sizes = dlprim::Tensor::empty(*a.device(), a.shape(), dtype);
  dlprim::pointwise(a.device()->queue(), hypot, dtype,
                    {dlprim::part_of(a.data(), 0), dlprim::part_of(a.data(), 1)}, {}, {sizes});
  return record("AbsBackward", {a}, sizes, [&] {
    return [a = SavedTensor(a)](const TensorList& g) { return TensorList{g[0] * sgn(a.input(0))}; };
  });
}

Tensor angle_of_complex(const Tensor& a) {
  return atan2(imag(a), real(a));
}

/** a / |a|; 0 where that is 0. */
Tensor direction_of_complex(const Tensor& a) {
  const Tensor size = abs(a);
  return a / where(size == 0, 1, size);
}

}  // namespace

void refuse_complex(const char* op) {
  throw TypeError(dlprim::concat(op, ": not implemented for complex numbers"));
}

ComplexOperator complex_operator(const dlprim::PointwiseOp& op, const std::vector<Operand>& inputs) {
  if (inputs.size() != 1 || !has_complex(inputs[0])) return nullptr;
  if (op.name == "abs") return size_of_complex;
  if (op.name == "angle") return angle_of_complex;
  return op.name == "sgn" ? direction_of_complex : nullptr;
}

Tensor complex(const Tensor& real_part, const Tensor& imaginary_part) {
  ENTER_OPERATOR(complex, real_part, imaginary_part);
  require_parts("complex", real_part, imaginary_part);
  const Dims shape = dlprim::broadcast_shapes(real_part.shape(), imaginary_part.shape(), "complex");
  const dlprim::Tensor result =
      written(real_part, shape, complex_dtype(real_part.dtype()),
              [&](auto& queue, int part, const dlprim::Tensor& to) {
                dlprim::copy(queue, (part == 0 ? real_part : imaginary_part).data().expanded(shape), to);
              });
  return record("ComplexBackward", {real_part, imaginary_part}, result, [&] {
    return [first = real_part.shape(), second = imaginary_part.shape()](const TensorList& g) {
      return TensorList{gradient_is_wanted(0) ? sum_to_shape(real(g[0]), first) : Tensor(),
                        gradient_is_wanted(1) ? sum_to_shape(imag(g[0]), second) : Tensor()};
    };
  });
}

Tensor polar(const Tensor& size, const Tensor& angle) {
  ENTER_OPERATOR(polar, size, angle);
  require_parts("polar", size, angle);
  return complex(size * cos(angle), size * sin(angle));
}

Tensor view_as_real(const Tensor& a) {
  ENTER_OPERATOR(view_as_real, a);
  require_complex("view_as_real", a);
  Tensor pairs = record("ViewAsRealBackward", {a}, dlprim::pairs_of(a.data()), [&] {
    return [](const TensorList& g) { return TensorList{complex_of_pairs(g[0])}; };
  });
  mark_view(pairs, a);
  return pairs;
}

Tensor view_as_complex(const Tensor& a) {
  ENTER_OPERATOR(view_as_complex, a);
  require<TypeError>(a.dtype() == DType::float32 || a.dtype() == DType::float64,
                     "view_as_complex: expected float32 or float64, got ", name(a.dtype()));
  require(a.dim() > 0 && a.size(-1) == 2, "view_as_complex: expected a last dimension of size 2, got shape ",
          a.shape());
  require(a.strides()[a.dim() - 1] == 1,
          "view_as_complex: expected a last dimension of stride 1, got strides ", a.strides());
  dlprim::Tensor viewed = a.data();
  viewed.dtype = complex_dtype(a.dtype());
  viewed.shape.erase(a.dim() - 1);
  viewed.strides.erase(a.dim() - 1);
  for (int d = 0; d < viewed.rank(); ++d) viewed.strides[d] /= 2;
  require(has_even_places(a.data()), "view_as_complex: the pairs of a tensor of strides ", a.strides(),
          " and offset ", a.data().offset,
          " do not lie as complex numbers do: all but the last stride must be even");
  viewed.offset /= 2;
  Tensor result = record("ViewAsComplexBackward", {a}, viewed,
                         [&] { return [](const TensorList& g) { return TensorList{view_as_real(g[0])}; }; });
  mark_view(result, a);
  return result;
}

Tensor real(const Tensor& a) {
  ENTER_OPERATOR(real, a);
  return is_complex(a.dtype()) ? select(view_as_real(a), -1, 0) : a;
}

Tensor imag(const Tensor& a) {
  ENTER_OPERATOR(imag, a);
  require_complex("imag", a);
  return select(view_as_real(a), -1, 1);
}

Tensor conj(const Tensor& a) {
  ENTER_OPERATOR(conj, a);
  if (!is_complex(a.dtype())) return a;
  static const dlprim::PointwiseExpression& neg = dlprim::forward_expression(dlprim::pointwise_op("neg"));
  const dlprim::Tensor result =
      written(a, a.shape(), a.dtype(), [&](auto& queue, int part, const dlprim::Tensor& to) {
        const dlprim::Tensor from = dlprim::part_of(a.data(), part);
        if (part == 0)
          dlprim::copy(queue, from, to);
        else
          dlprim::pointwise(queue, neg, from.dtype, {from}, {}, {to});
      });
  return record("ConjBackward", {a}, result,
                [] { return [](const TensorList& g) { return TensorList{conj(g[0])}; }; });
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(vdot, a, b);
  return dot(conj(a), b);
}

}  // namespace ocl
