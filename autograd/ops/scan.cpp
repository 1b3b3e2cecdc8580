#include "autograd/ops/scan.h"

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/scan/scan.h"

namespace ocl {
namespace {

dlprim::Tensor room_like(const Tensor& x) {
  return dlprim::Tensor::empty(*x.device(), x.shape(), x.dtype());
}

/** Calls `scan` with the input contiguous and in the dtype that it is scanned in: its own or int64, which
 * wraps to the same bits as a narrower integer. */
template <class Scan>
Tensor with_dtype(const Tensor& a, std::optional<DType> dtype, const Scan& scan) {
  const Tensor given = dtype ? to(a, *dtype) : a;
  if (is_floating(given.dtype())) return scan(contiguous(given));
  const Tensor result = scan(contiguous(to(given, DType::int64)));
  return dtype ? to(result, *dtype) : result;
}

/** Raises where diff cannot join `part` to `a` along `axis`. */
void check_joins(const Tensor& a, const Tensor& part, int axis) {
  dlprim::require(part.dim() == a.dim(), "diff expects prepend or append to be the same dimension as input");
  for (int d = 0; d < a.dim(); ++d)
    dlprim::require(d == axis || part.size(d) == a.size(d),
                    "diff expects the shape of tensor to prepend or append to match that of input except "
                    "along the differencing dimension; input.size(",
                    d, ") = ", a.size(d), ", but got tensor.size(", d, ") = ", part.size(d));
}

}  // namespace

Tensor cumsum(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(cumsum, a, dim, dtype);
  const int axis = dlprim::wrap_dim(dim, a.dim(), "cumsum");
  if (const DType summed = dtype.value_or(a.dtype()); is_complex(summed)) {
    if (a.dim() == 0) return to(a, summed).clone();
    return on_pairs(to(a, summed), [axis](const Tensor& pairs) { return cumsum(pairs, axis); });
  }
  return with_dtype(a, dtype, [axis](const Tensor& x) {
    const auto summed = [&](bool from_the_end) {
      return on_contiguous(x.shape(), [axis, from_the_end](dlprim::Queue& queue, const dlprim::Tensor& from,
                                                           const dlprim::Tensor& sums) {
        dlprim::cumsum(queue, from, axis, sums, from_the_end);
      });
    };
    return apply_linear("cumsum", x, summed(false), summed(true));
  });
}

Tensor diff(const Tensor& a, std::int64_t n, std::int64_t dim, const Tensor& prepend, const Tensor& append) {
  ENTER_OPERATOR(diff, a, n, dim, prepend, append);
  dlprim::require(a.dim() > 0, "diff expects input to be at least one-dimensional");
  dlprim::require(n >= 0, "diff: order must be non-negative but got ", n);
  const int axis = dlprim::wrap_dim(dim, a.dim(), "diff");
  TensorList parts;
  for (const Tensor& part : {prepend, a, append}) {
    if (!part.defined()) continue;
    check_joins(a, part, axis);
    parts.push_back(part);
  }
  if (n == 0) return a.clone();  // PyTorch leaves what is to be joined out, too
  Tensor result = parts.size() == 1 ? a : cat(parts, axis);
  for (std::int64_t i = 0; i < n && result.size(axis) > 0; ++i) {
    const std::int64_t count = result.size(axis) - 1;
    const Tensor later = narrow(result, axis, 1, count), earlier = narrow(result, axis, 0, count);
    result = result.dtype() == DType::boolean ? logical_xor(later, earlier) : later - earlier;
  }
  return result;
}

namespace {

/** cumprod by products of ever longer runs, which divide by no element. */
Tensor composed_cumprod(Tensor x, int axis) {
  const std::int64_t size = x.dim() ? x.size(axis) : 1;
  for (std::int64_t run = 1; run < size; run *= 2) {
    const Tensor later = mul(narrow(x, axis, run, size - run), narrow(x, axis, 0, size - run));
    x = cat({narrow(x, axis, 0, run), later}, axis);
  }
  return x;
}

}  // namespace

Tensor cumprod(const Tensor& a, std::int64_t dim, std::optional<DType> dtype) {
  ENTER_OPERATOR(cumprod, a, dim, dtype);
  const int axis = dlprim::wrap_dim(dim, a.dim(), "cumprod");
  if (const DType product = dtype.value_or(a.dtype()); is_complex(product))
    return composed_cumprod(to(a, product).clone(), axis);
  return with_dtype(a, dtype, [axis](const Tensor& x) {
    const dlprim::Tensor y = room_like(x);
    dlprim::cumprod(x.device()->queue(), x.data(), axis, y);
    return record("cumprod", {x}, y, [&] {
      return [x = SavedTensor(x), axis](const TensorList& gradients) {
        if (grad_enabled())
          return gradients_by_composition({x.input(0)}, gradients, [axis](const TensorList& inputs) {
            return TensorList{to(composed_cumprod(in_compute_dtype(inputs[0]), axis), inputs[0].dtype())};
          });
        const Tensor g = contiguous(gradients[0]);
        const dlprim::Tensor dx = room_like(g);
        dlprim::cumprod_backward(g.device()->queue(), g.data(), x.unpack(), axis, dx);
        return TensorList{Tensor(dx)};
      };
    });
  });
}

namespace {

/** The extremes so far and where they stand. */
std::pair<Tensor, Tensor> running_extremes(const char* op, const Tensor& a, std::int64_t dim, bool least) {
  const int axis = dlprim::wrap_dim(dim, a.dim(), op);
  const Tensor whole = a.dim() ? a : reshape(a, {1}), given = contiguous(whole.detach());
  const dlprim::Tensor found = dlprim::Tensor::empty(*a.device(), whole.shape(), DType::int64);
  dlprim::running_extremes(a.device()->queue(), given.data(), axis, least, found);
  const Tensor places(found), values = gather(whole, axis, places);
  if (a.dim() > 0) return {values, places};
  return {reshape(values, {}), reshape(places, {})};
}

}  // namespace

std::pair<Tensor, Tensor> cummax(const Tensor& a, std::int64_t dim) {
  ENTER_OPERATOR(cummax, a, dim);
  return running_extremes("cummax", a, dim, false);
}

std::pair<Tensor, Tensor> cummin(const Tensor& a, std::int64_t dim) {
  ENTER_OPERATOR(cummin, a, dim);
  return running_extremes("cummin", a, dim, true);
}

namespace {

/** logcumsumexp by logaddexp of ever longer runs. */
Tensor composed_logcumsumexp(Tensor x, int axis) {
  const std::int64_t size = x.size(axis);
  for (std::int64_t run = 1; run < size; run *= 2) {
    const Tensor later = logaddexp(narrow(x, axis, run, size - run), narrow(x, axis, 0, size - run));
    x = cat({narrow(x, axis, 0, run), later}, axis);
  }
  return x;
}

}  // namespace

Tensor logcumsumexp(const Tensor& a, std::int64_t dim) {
  ENTER_OPERATOR(logcumsumexp, a, dim);
  dlprim::require<TypeError>(is_floating(a.dtype()), "logcumsumexp: expected a floating dtype, got ",
                             name(a.dtype()));
  const int axis = dlprim::wrap_dim(dim, a.dim(), "logcumsumexp");
  const Tensor x = contiguous(in_compute_dtype(a.dim() ? a : reshape(a, {1})));
  if (x.size(axis) < 2) return a.clone();
  const dlprim::Tensor y = room_like(x);
  dlprim::logcumsumexp(x.device()->queue(), x.data(), axis, y);
  const Tensor result = record("logcumsumexp", {x}, y, [&] {
    return [x = SavedTensor(x), y = SavedTensor(y), axis](const TensorList& gradients) {
      if (grad_enabled())
        return gradients_by_composition({x.input(0)}, gradients, [axis](const TensorList& inputs) {
          return TensorList{composed_logcumsumexp(inputs[0], axis)};
        });
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = room_like(g);
      dlprim::logcumsumexp_backward(g.device()->queue(), g.data(), x.unpack(), y.unpack(), axis, dx);
      return TensorList{Tensor(dx)};
    };
  });
  return to(result, a.dtype());
}

}  // namespace ocl
