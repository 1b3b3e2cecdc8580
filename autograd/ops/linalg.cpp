#include "autograd/ops/linalg.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/join.h"
#include "autograd/ops/matrix_product.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/gemm/linear.h"
#include "dlprim/ops/linalg/cross.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void check_operands(const char* op, const Tensor& a, const Tensor& b) {
  if (is_floating(a.dtype())) dlprim::require_floating(a.dtype(), *a.device(), op);
  require<TypeError>(a.dtype() != DType::boolean, op, ": not implemented for bool");
  require<TypeError>(a.dtype() == b.dtype(), op, ": expected both to have the same dtype, got ",
                     name(a.dtype()), " and ", name(b.dtype()), "; convert one with to(dtype)");
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
  if (is_complex(a.dtype())) return of_parts(a, b, recorded_product);
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
  if (is_complex(a.dtype())) return recorded_product(a, b) * alpha + input * beta;
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
  if (is_complex(x.dtype())) {
    const Tensor product = recorded_product(x, ocl::t(weight));
    return bias.defined() ? product + bias : product;
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

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  ENTER_OPERATOR(bilinear, input1, input2, weight, bias);
  require(weight.dim() == 3, "bilinear: expected a weight of shape [out, in1, in2], got ", weight.shape());
  const std::int64_t outputs = weight.size(0), firsts = weight.size(1), seconds = weight.size(2);
  require(input1.dim() > 0 && input1.dim() == input2.dim(), "bilinear: inputs of shapes ", input1.shape(),
          " and ", input2.shape(), " differ in their number of dimensions, or have none");
  const Dims batch(input1.shape().begin(), input1.shape().end() - 1);
  require(batch == Dims(input2.shape().begin(), input2.shape().end() - 1), "bilinear: inputs of shapes ",
          input1.shape(), " and ", input2.shape(), " differ in their leading dimensions");
  require(input1.size(-1) == firsts && input2.size(-1) == seconds, "bilinear: inputs of shapes ",
          input1.shape(), " and ", input2.shape(), " do not fit a weight of shape ", weight.shape());
  require(!bias.defined() || bias.shape() == Dims{outputs}, "bilinear: expected a bias of shape [", outputs,
          "]");
  require<TypeError>(is_floating(weight.dtype()), "bilinear: expected a floating dtype, got ",
                     name(weight.dtype()));
  for (const Tensor& t : {input1, input2, bias.defined() ? bias : weight})
    require<TypeError>(t.dtype() == weight.dtype(),
                       "bilinear: expected all to have the dtype of the weight, ", name(weight.dtype()),
                       ", got ", name(t.dtype()));
  const std::int64_t rows = dlprim::product(batch);
  const Tensor a = in_compute_dtype(input1), b = in_compute_dtype(input2), w = in_compute_dtype(weight);
  const Tensor table = reshape(permute(w, {1, 0, 2}), {firsts, dlprim::product({outputs, seconds})});
  const Tensor partial = reshape(mm(reshape(a, {rows, firsts}), table), {rows, outputs, seconds});
  std::vector<std::int64_t> shape = batch.vector();
  shape.push_back(outputs);
  const Tensor y = reshape(bmm(partial, reshape(b, {rows, seconds, 1})), shape);
  return to(bias.defined() ? y + in_compute_dtype(bias) : y, weight.dtype());
}

Tensor trace(const Tensor& a) {
  ENTER_OPERATOR(trace, a);
  require(a.dim() == 2, "trace: expected a matrix, but got tensor with dim ", a.dim());
  return sum(diagonal(a));
}

Tensor mv(const Tensor& a, const Tensor& vec) {
  ENTER_OPERATOR(mv, a, vec);
  require(a.dim() == 2 && vec.dim() == 1 && a.size(1) == vec.size(0),
          "mv: expected a matrix [N, M] and a vector [M], got shapes ", a.shape(), " and ", vec.shape());
  return squeeze(mm(a, unsqueeze(vec, 1)), 1);
}

Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  ENTER_OPERATOR(addmv, input, mat, vec, beta, alpha);
  require(mat.dim() == 2 && vec.dim() == 1 && mat.size(1) == vec.size(0),
          "addmv: expected a matrix [N, M] and a vector [M], got shapes ", mat.shape(), " and ", vec.shape());
  return squeeze(addmm(unsqueeze(expand(input, {mat.size(0)}), 1), mat, unsqueeze(vec, 1), beta, alpha), 1);
}

Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  ENTER_OPERATOR(addr, input, vec1, vec2, beta, alpha);
  require(vec1.dim() == 1 && vec2.dim() == 1, "addr: expected two vectors, got shapes ", vec1.shape(),
          " and ", vec2.shape());
  const std::vector<std::int64_t> shape = {vec1.size(0), vec2.size(0)};
  const DType dtype = result_type({input, vec1, vec2});
  const bool is_truth = dtype == DType::boolean;  // whose factors are truths as well
  const auto times = [&](const Tensor& x, const Scalar& factor) {
    return is_truth ? logical_and(x, full({}, factor.real() != 0, dtype, x.device())) : mul(x, factor);
  };
  const Tensor product = times(mul(unsqueeze(in_compute_dtype(vec1), 1), in_compute_dtype(vec2)), alpha);
  Tensor base = in_compute_dtype(expand(input, shape));
  // With a factor of 0 not even NaN counts; the gradient is 0.
  base =
      beta.real() == 0 ? where(full({}, false, DType::boolean, base.device()), base, 0) : times(base, beta);
  return to(add(base, product), dtype);
}

Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  ENTER_OPERATOR(addbmm, input, batch1, batch2, beta, alpha);
  check_batches("addbmm", batch1, batch2);
  // The sum over the batch is part of the product's.
  const std::int64_t inner_size = batch1.size(0) * batch1.size(2), rows = batch1.size(1),
                     columns = batch2.size(2);
  return addmm(expand(input, {rows, columns}), reshape(transpose(batch1, 0, 1), {rows, inner_size}),
               reshape(batch2, {inner_size, columns}), beta, alpha);
}

namespace {

/** `t`, summed along those of `dims` in which `other` has one element and `t` more: one element meets them
 * all. */
Tensor summed_where_one(const Tensor& t, const std::vector<std::int64_t>& dims, const Tensor& other,
                        const std::vector<std::int64_t>& other_dims) {
  Tensor result = t;
  for (std::size_t i = 0; i < std::min(dims.size(), other_dims.size()); ++i) {
    const int d = dlprim::wrap_dim(dims[i], t.dim(), "tensordot");
    const int o = dlprim::wrap_dim(other_dims[i], other.dim(), "tensordot");
    if (other.size(o) == 1 && t.size(d) > 1) result = sum(result, {d}, true);
  }
  return result;
}

}  // namespace

Tensor tensordot(const Tensor& first, const Tensor& second, const std::vector<std::int64_t>& dims_self,
                 const std::vector<std::int64_t>& dims_other) {
  ENTER_OPERATOR(tensordot, first, second, dims_self, dims_other);
  const Tensor a = summed_where_one(first, dims_self, second, dims_other);
  const Tensor b = summed_where_one(second, dims_other, first, dims_self);
  require(dims_self.size() == dims_other.size(),
          "tensordot: both dimension lists should have the same length, got ", dims_self.size(), " and ",
          dims_other.size());
  // The dimensions of `t` that stay, in order, and those that are summed over.
  const auto parts_of = [](const Tensor& t, const std::vector<std::int64_t>& summed) {
    std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> parts;
    std::vector<bool> goes(static_cast<std::size_t>(t.dim()), false);
    for (const std::int64_t dim : summed) {
      const int d = dlprim::wrap_dim(dim, t.dim(), "tensordot");
      require(!goes[static_cast<std::size_t>(d)], "tensordot: dim ", d, " appears multiple times");
      goes[static_cast<std::size_t>(d)] = true;
      parts.second.push_back(d);
    }
    for (int d = 0; d < t.dim(); ++d)
      if (!goes[static_cast<std::size_t>(d)]) parts.first.push_back(d);
    return parts;
  };
  const auto [kept_a, summed_a] = parts_of(a, dims_self);
  const auto [kept_b, summed_b] = parts_of(b, dims_other);
  std::vector<std::int64_t> order_a = kept_a, order_b = summed_b, shape;
  order_a.insert(order_a.end(), summed_a.begin(), summed_a.end());
  order_b.insert(order_b.end(), kept_b.begin(), kept_b.end());
  std::int64_t rows = 1, columns = 1, depth = 1;
  for (std::size_t i = 0; i < summed_a.size(); ++i) {
    require(a.size(summed_a[i]) == b.size(summed_b[i]),
            "tensordot: contracted dimensions need to match, but first has size ", a.size(summed_a[i]),
            " in dim ", summed_a[i], " and second has size ", b.size(summed_b[i]), " in dim ", summed_b[i]);
    depth *= a.size(summed_a[i]);
  }
  for (const std::int64_t d : kept_a) shape.push_back(a.size(d)), rows *= a.size(d);
  for (const std::int64_t d : kept_b) shape.push_back(b.size(d)), columns *= b.size(d);
  const Tensor left = reshape(permute(a, order_a), {rows, depth});
  const Tensor right = reshape(permute(b, order_b), {depth, columns});
  return reshape(mm(left, right), shape);
}

Tensor inner(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(inner, a, b);
  check_operands("inner", a, b);
  if (a.dim() == 0 || b.dim() == 0) return mul(a, b);
  require(a.size(-1) == b.size(-1), "inner: expected equal last dimensions, got shapes ", a.shape(), " and ",
          b.shape());
  return tensordot(a, b, {-1}, {-1});
}

Tensor kron(const Tensor& a, const Tensor& b) {
  ENTER_OPERATOR(kron, a, b);
  const std::int64_t rank = std::max(a.dim(), b.dim());
  std::vector<std::int64_t> of_a, of_b, shape;
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto size = [&](const Tensor& t) { return d < rank - t.dim() ? 1 : t.size(d - (rank - t.dim())); };
    of_a.insert(of_a.end(), {size(a), 1});
    of_b.insert(of_b.end(), {1, size(b)});
    shape.push_back(size(a) * size(b));
  }
  return reshape(mul(reshape(a, of_a), reshape(b, of_b)), shape);
}

namespace {

/** Cross products along `dim` of tensors of one shape, which are each other's gradients. */
Tensor cross_products(const Tensor& a, const Tensor& b, int dim) {
  const dlprim::Tensor y = dlprim::Tensor::empty(*a.device(), a.shape(), a.dtype());
  dlprim::cross(a.device()->queue(), readable_lines(a.data(), dim), readable_lines(b.data(), dim),
                readable_lines(y, dim));
  return record("LinalgCrossBackward", {a, b}, y, [&] {
    return [a = SavedTensor(a), b = SavedTensor(b), dim](const TensorList& g) {
      const auto conjugate = [](const Tensor& t) { return is_complex(t.dtype()) ? conj(t) : t; };
      TensorList gradients(2);
      if (gradient_is_wanted(0)) gradients[0] = cross_products(conjugate(b.input(1)), g[0], dim);
      if (gradient_is_wanted(1)) gradients[1] = cross_products(g[0], conjugate(a.input(0)), dim);
      return gradients;
    };
  });
}

}  // namespace

Tensor cross(const Tensor& a, const Tensor& b, std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(cross, a, b, dim);
  check_operands("cross", a, b);
  require(a.dim() == b.dim(), "cross: inputs must have the same number of dimensions, got shapes ", a.shape(),
          " and ", b.shape());
  const std::vector<std::int64_t> shape = dlprim::broadcast_shapes(a.shape(), b.shape(), "cross").vector();
  if (!dim) {
    for (std::int64_t d = a.dim() - 1; d >= 0; --d)
      if (a.size(d) == 3) dim = d;
    require(dim.has_value(), "cross: no dimension of size 3 in input of shape ", a.shape());
  }
  const int d = dlprim::wrap_dim(*dim, a.dim(), "cross");
  require(a.size(d) == 3 && b.size(d) == 3, "cross: inputs dimension ", d, " must have length 3, got ",
          a.size(d), " and ", b.size(d));
  return cross_products(expand(a, shape), expand(b, shape), d);
}

Tensor renorm(const Tensor& a, const Scalar& p, std::int64_t dim, const Scalar& maxnorm) {
  ENTER_OPERATOR(renorm, a, p, dim, maxnorm);
  require<TypeError>(is_floating(a.dtype()), "renorm: expected a floating dtype, got ", name(a.dtype()));
  require(p.real() > 0, "renorm: non-positive norm not supported, got ", p.real());
  require(maxnorm.real() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.real());
  require(a.dim() > 1, "renorm: input needs at least 2 dimensions, got ", a.dim(), " dimensions");
  const int d = dlprim::wrap_dim(dim, a.dim(), "renorm");
  DimList others;
  for (int i = 0; i < a.dim(); ++i)
    if (i != d) others.push_back(i);
  const Tensor x = in_compute_dtype(a), norms = norm(x, p.real(), others, true);
  const Tensor factor = where(gt(norms, maxnorm), div(maxnorm, norms + 1e-7), 1);
  return to(mul(x, factor), a.dtype());
}

}  // namespace ocl
