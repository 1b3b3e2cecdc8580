#include "autograd/ops/linalg.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/matrix_product.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/gemm/linear.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void check_operands(const char* op, const Tensor& a, const Tensor& b) {
  if (is_floating(a.dtype())) dlprim::require_floating(a.dtype(), *a.device(), op);
  require<TypeError>(a.dtype() != DType::boolean, op, ": not implemented for bool");
  require<TypeError>(a.dtype() == b.dtype(), op, ": expected both to have the same dtype, got ",
                     name(a.dtype()), " and ", name(b.dtype()));
  require(a.device() == b.device(), op, ": expected all tensors on one device");
}

Dims product_shape(const dlprim::Tensor& a, const dlprim::Tensor& b) {
  Dims shape = a.shape;
  shape[shape.size() - 1] = b.size(-1);
  return shape;
}

Tensor recorded_product(const Tensor& a, const Tensor& b);

/** The gradients of alpha times a times b, a node's inputs `first` and the one after it, where they are
 * wanted. */
struct ProductGradient {
  ProductGradient(const Tensor& left, const Tensor& right, double factor, std::size_t first_input = 0)
      : a(left), b(right), alpha(factor), first(first_input) {}
  Tensor of_a(const Tensor& g) const {
    return gradient_is_wanted(first) ? scaled_product(g, transpose(b.input(first + 1), -1, -2)) : Tensor();
  }
  Tensor of_b(const Tensor& g) const {
    return gradient_is_wanted(first + 1) ? scaled_product(transpose(a.input(first), -1, -2), g) : Tensor();
  }
  // Only the result is without its product where alpha is 0: PyTorch multiplies the gradients, infinite or
  // not.
  Tensor scaled_product(const Tensor& left, const Tensor& right) const {
    if (alpha == 0 || grad_enabled()) {
      const Tensor whole = recorded_product(left, right);
      return alpha == 1 ? whole : whole * alpha;
    }
    return Tensor(product(left.data(), right.data(), alpha));
  }

  SavedTensor a, b;
  double alpha;
  std::size_t first;
};

/** The product of two matrices, or of two batches of them. */
Tensor recorded_product(const Tensor& a, const Tensor& b) {
  return record(a.dim() == 2 ? "MmBackward" : "BmmBackward", {a, b}, product(a.data(), b.data()), [&] {
    return [gradient = ProductGradient(a, b, 1)](const TensorList& g) {
      return TensorList{gradient.of_a(g[0]), gradient.of_b(g[0])};
    };
  });
}

void check_matrices(const char* op, const Tensor& a, const Tensor& b) {
  require(a.dim() == 2 && b.dim() == 2, op, ": expected two matrices, got shapes ", a.shape(), " and ",
          b.shape());
  require(a.size(1) == b.size(0), op, ": mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
          a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  check_operands(op, a, b);
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  require(a.dim() == 3 && b.dim() == 3, op, ": expected two batches of matrices, got shapes ", a.shape(),
          " and ", b.shape());
  require(a.size(0) == b.size(0) && a.size(2) == b.size(1), op, ": shapes ", a.shape(), " and ", b.shape(),
          " cannot be multiplied");
  check_operands(op, a, b);
}

/** Whether a double, as gemm() takes its factors, holds the whole number. */
bool is_held_by_double(const Scalar& number) {
  return std::fabs(number.real()) < 9007199254740992;  // 2^53
}

/** beta * input + alpha * a @ b for checked operands. */
Tensor added_product(const char* name, const Tensor& input, const Tensor& a, const Tensor& b,
                     const Scalar& beta, const Scalar& alpha) {
  const Dims shape = product_shape(a.data(), b.data());
  check_operands(name, a, input);
  require(dlprim::broadcast_shapes(input.shape(), shape, name) == shape, name, ": an input of shape ",
          input.shape(), " does not broadcast to ", shape);
  if (!is_floating(a.dtype()))
    for (const Scalar& factor : {alpha, beta}) {
      require<TypeError>(
          factor.kind() != Scalar::Kind::floating || std::floor(factor.real()) == factor.real(), name,
          ": for integers beta and alpha must be integers");
      dlprim::require_holds(name, a.dtype(), factor);
    }
  if (!is_floating(a.dtype()) && !(is_held_by_double(alpha) && is_held_by_double(beta)))
    return Tensor(product(a.data(), b.data())) * alpha + input * beta;
  const dlprim::Tensor c = dlprim::Tensor::empty(*a.device(), shape, a.dtype());
  dlprim::Queue& queue = a.device()->queue();
  if (beta.real() != 0) dlprim::copy(queue, input.data().expanded(shape), c);
  const bool has_product = a.size(-1) > 0;  // else alpha counts for nothing, infinite or not
  dlprim::gemm(queue, a.data(), b.data(), c, has_product ? alpha.real() : 0, beta.real(), nullptr,
               float32_matmul_precision());
  return record(name, {input, a, b}, c, [&] {
    return [gradient = ProductGradient(a, b, alpha.real(), 1), beta,
            input_shape = input.shape()](const TensorList& g) {
      Tensor of_input;
      if (gradient_is_wanted(0)) of_input = sum_to_shape(beta.real() == 1 ? g[0] : g[0] * beta, input_shape);
      return TensorList{of_input, gradient.of_a(g[0]), gradient.of_b(g[0])};
    };
  });
}

Dims leading(const Dims& shape) {
  return Dims(shape.begin(), shape.end() - 2);
}

std::vector<std::int64_t> joined(const Dims& batch, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> shape = batch.vector();
  shape.insert(shape.end(), {rows, columns});
  return shape;
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(mm, a, b);
  check_matrices("mm", a, b);
  return recorded_product(a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(bmm, a, b);
  check_batches("bmm", a, b);
  return recorded_product(a, b);
}

Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  ENTER_OPERATOR(addmm, input, mat1, mat2, beta, alpha);
  check_matrices("addmm", mat1, mat2);
  return added_product("addmm", input, mat1, mat2, beta, alpha);
}

Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  ENTER_OPERATOR(baddbmm, input, batch1, batch2, beta, alpha);
  check_batches("baddbmm", batch1, batch2);
  return added_product("baddbmm", input, batch1, batch2, beta, alpha);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(dot, a, b);
  require(a.dim() == 1 && b.dim() == 1 && a.size(0) == b.size(0),
          "dot: expected two vectors of one size, got shapes ", a.shape(), " and ", b.shape());
  check_operands("dot", a, b);
  return to(sum(in_compute_dtype(a) * in_compute_dtype(b)), a.dtype());
}

Tensor outer(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(outer, a, b);
  require(a.dim() == 1 && b.dim() == 1, "outer: expected two vectors, got shapes ", a.shape(), " and ",
          b.shape());
  return unsqueeze(a, 1) * b;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(matmul, a, b);
  require(a.dim() > 0 && b.dim() > 0, "matmul: both arguments need to be at least 1D, but they are ", a.dim(),
          "D and ", b.dim(), "D");
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b);
  if (a.dim() == 1) return squeeze(matmul(unsqueeze(a, 0), b), -2);
  if (b.dim() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  if (a.dim() == 2 && b.dim() == 2) return mm(a, b);
  require(a.size(-1) == b.size(-2), "matmul: shapes ", a.shape(), " and ", b.shape(),
          " cannot be multiplied");
  const std::int64_t rows = a.size(-2), inner = a.size(-1), columns = b.size(-1);
  const Dims batch = dlprim::broadcast_shapes(leading(a.shape()), leading(b.shape()), "matmul");
  if (b.dim() == 2)
    return reshape(mm(reshape(a, {dlprim::product(batch) * rows, inner}), b), joined(batch, rows, columns));
  const std::int64_t count = dlprim::product(batch);
  const Tensor left = reshape(expand(a, joined(batch, rows, inner)), {count, rows, inner});
  const Tensor right = reshape(expand(b, joined(batch, inner, columns)), {count, inner, columns});
  return reshape(bmm(left, right), joined(batch, rows, columns));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  ENTER_OPERATOR(linear, x, weight, bias);
  require(weight.dim() == 2, "linear: expected a weight of shape [out, in], got ", weight.shape());
  require(x.dim() > 0 && x.size(-1) == weight.size(1), "linear: input of shape ", x.shape(),
          " and weight of shape ", weight.shape(), " cannot be multiplied: expected ", weight.size(1),
          " input features");
  require(!bias.defined() || bias.shape() == Dims{weight.size(0)}, "linear: expected a bias of shape [",
          weight.size(0), "]");
  check_operands("linear", x, weight);
  if (x.dim() != 2) {
    std::vector<std::int64_t> shape = x.shape().vector();
    shape.back() = weight.size(0);
    const std::int64_t rows = dlprim::product(Dims(x.shape().begin(), x.shape().end() - 1));
    return reshape(linear(reshape(x, {rows, x.size(-1)}), weight, bias), shape);
  }
  dlprim::Device& device = *x.device();
  const dlprim::Tensor y = dlprim::Tensor::empty(device, {x.size(0), weight.size(0)}, x.dtype());
  const Tensor added = contiguous_or_none(bias);
  dlprim::linear_forward(device.queue(), x.data(), weight.data(), raw_or_null(added), y,
                         float32_matmul_precision());
  return record("LinearBackward", {x, weight, bias}, y, [&] {
    return [x = SavedTensor(x), weight = SavedTensor(weight), inputs = weight.size(1),
            outputs = weight.size(0)](const TensorList& gradients) {
      if (grad_enabled()) {
        TensorList results(3);
        if (gradient_is_wanted(0)) results[0] = mm(gradients[0], weight.input(1));
        if (gradient_is_wanted(1)) results[1] = mm(ocl::t(gradients[0]), x.input(0));
        if (gradient_is_wanted(2)) results[2] = sum(gradients[0], {0});
        return results;
      }
      const dlprim::Tensor& g = gradients[0].data();
      dlprim::Queue& queue = g.device().queue();
      const auto result = [&](std::size_t input, const Dims& shape) {
        return gradient_is_wanted(input) ? Tensor(dlprim::Tensor::empty(g.device(), shape, g.dtype))
                                         : Tensor();
      };
      const TensorList results{result(0, {g.shape[0], inputs}), result(1, {outputs, inputs}),
                               result(2, {outputs})};
      if (results[0].defined())
        dlprim::linear_backward_data(queue, g, weight.unpack(), results[0].data(),
                                     float32_matmul_precision());
      if (results[1].defined())
        dlprim::linear_backward_weight(queue, g, x.unpack(), results[1].data(), float32_matmul_precision());
      if (results[2].defined()) dlprim::linear_backward_bias(queue, g, results[2].data());
      return results;
    };
  });
}

Tensor trace(const Tensor& a) {
  ENTER_OPERATOR(trace, a);
  require(a.dim() == 2, "trace: expected a matrix, but got tensor with dim ", a.dim());
  return sum(diagonal(a));
}

}  // namespace ocl
