#include "autograd/ops/linalg.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void check_operands(const char* op, const Tensor& a, const Tensor& b) {
  dlprim::require_floating(a.dtype(), *a.device(), op);
  require<TypeError>(a.dtype() == b.dtype(), op, ": expected both to have the same dtype, got ",
                     name(a.dtype()), " and ", name(b.dtype()));
  require(a.device() == b.device(), op, ": expected all tensors on one device");
}

dlprim::Tensor transposed(dlprim::Tensor t) {
  const int last = t.rank() - 1;
  std::swap(t.shape[last], t.shape[last - 1]);
  std::swap(t.strides[last], t.strides[last - 1]);
  return t;
}

/** a times b for raw matrices, or batches of them, of any strides. */
dlprim::Tensor product(const dlprim::Tensor& a, const dlprim::Tensor& b,
                       const dlprim::Tensor* bias = nullptr) {
  Dims shape = a.shape;
  shape[shape.size() - 1] = b.size(-1);
  const dlprim::Tensor c = dlprim::Tensor::empty(a.device(), shape, a.dtype);
  dlprim::gemm(a.device().queue(), a, b, c, 1, 0, bias);
  return c;
}

Tensor recorded_product(const char* name, const Tensor& a, const Tensor& b) {
  return record(name, {a, b}, product(a.data(), b.data()), [&] {
    return [a = SavedTensor(a), b = SavedTensor(b), needs_a = a.requires_grad(),
            needs_b = b.requires_grad()](const TensorList& g) {
      TensorList results(2);
      if (needs_a) results[0] = Tensor(product(g[0].data(), transposed(b.unpack())));
      if (needs_b) results[1] = Tensor(product(transposed(a.unpack()), g[0].data()));
      return results;
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
  require(a.dim() == 2 && b.dim() == 2, "mm: expected two matrices, got shapes ", a.shape(), " and ",
          b.shape());
  require(a.size(1) == b.size(0), "mm: mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
          a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  check_operands("mm", a, b);
  return recorded_product("MmBackward", a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  require(a.dim() == 3 && b.dim() == 3, "bmm: expected two batches of matrices, got shapes ", a.shape(),
          " and ", b.shape());
  require(a.size(0) == b.size(0) && a.size(2) == b.size(1), "bmm: shapes ", a.shape(), " and ", b.shape(),
          " cannot be multiplied");
  check_operands("bmm", a, b);
  return recorded_product("BmmBackward", a, b);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  require(a.dim() > 0 && b.dim() > 0, "matmul: both arguments need to be at least 1D, but they are ", a.dim(),
          "D and ", b.dim(), "D");
  if (a.dim() == 1 && b.dim() == 1) return squeeze(squeeze(matmul(unsqueeze(a, 0), unsqueeze(b, 1)), 1), 0);
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
  const dlprim::Tensor y =
      product(x.data(), transposed(weight.data()), bias.defined() ? &contiguous(bias).data() : nullptr);
  return record("LinearBackward", {x, weight, bias}, y, [&] {
    return [x = SavedTensor(x), weight = SavedTensor(weight), needs_x = x.requires_grad(),
            needs_weight = weight.requires_grad(),
            needs_bias = bias.defined() && bias.requires_grad()](const TensorList& g) {
      TensorList results(3);
      if (needs_x) results[0] = Tensor(product(g[0].data(), weight.unpack()));
      if (needs_weight) results[1] = Tensor(product(transposed(g[0].data()), x.unpack()));
      if (needs_bias) results[2] = sum(g[0], {0});
      return results;
    };
  });
}

}  // namespace ocl
