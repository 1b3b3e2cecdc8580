#include "autograd/ops/sort.h"

#include "autograd/ops/call.h"
#include "autograd/ops/index.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/sort/sort.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

/** Positions along `dim` in the order of the elements; int64, contiguous. */
Tensor order_along(const char* op, const Tensor& a, std::int64_t dim, bool descending) {
  if (a.dim() == 0) {
    wrap_dim(dim, 0, op);
    return zeros({}, DType::int64, a.device());
  }
  const int d = wrap_dim(dim, a.dim(), op);
  const Tensor along_last = contiguous(transpose(a.detach(), d, -1));
  const std::int64_t n = along_last.size(-1);
  const dlprim::Tensor order = dlprim::Tensor::empty(*a.device(), along_last.shape(), DType::int32);
  const Dims rows{n == 0 ? 0 : a.numel() / n, n};
  dlprim::sort_order(a.device()->queue(), along_last.data().reshaped(rows), descending, order.reshaped(rows));
  return contiguous(to(transpose(Tensor(order), d, -1), DType::int64));
}

/** The elements of `a` that `order` names along `dim`, no two of them the same. */
Tensor picked(const char* node, const Tensor& a, std::int64_t dim, const Tensor& order) {
  const Tensor values = gather(a.detach(), dim, order);
  return record(node, {a}, values.data(), [&] {
    const SavedTensor kept(order);
    return linear_gradient(
        node,
        [dim, kept, shape = a.shape()](const Tensor& g) {
          Tensor whole = zeros(shape.vector(), g.dtype(), g.device());
          scatter_distinct_(whole, dim, Tensor(kept.unpack()), g);
          return whole;
        },
        [dim, kept](const Tensor& g) { return gather(g, dim, Tensor(kept.unpack())); });
  });
}

}  // namespace

Tensor argsort(const Tensor& a, std::int64_t dim, bool descending) {
  ENTER_OPERATOR(argsort, a, dim, descending);
  return order_along("argsort", a, dim, descending);
}

std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t dim, bool descending) {
  ENTER_OPERATOR(sort, a, dim, descending);
  const Tensor order = order_along("sort", a, dim, descending);
  return {picked("SortBackward", a, dim, order), order};
}

std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
  ENTER_OPERATOR(topk, a, k, dim, largest, sorted);
  require<TypeError>(a.dtype() != DType::boolean, "topk: expected numbers, got bool");
  const std::int64_t size = a.dim() ? a.shape()[wrap_dim(dim, a.dim(), "topk")] : 1;
  require(k >= 0 && k <= size, "topk: selected index k out of range: ", k, " of ", size, " elements");
  const Tensor order = order_along("topk", a, dim, largest);
  const Tensor first = a.dim() ? contiguous(narrow(order, dim, 0, k)) : order;
  return {picked("TopkBackward", a, dim, first), first};
}

}  // namespace ocl
