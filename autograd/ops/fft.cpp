#include "autograd/ops/fft.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/fft/fft.h"

namespace ocl {
namespace {

using dlprim::require;
using DimNumbers = std::vector<std::int64_t>;

void require_signal(const char* op, const Tensor& x, bool is_complex) {
  require<TypeError>(x.dtype() == DType::float32 || x.dtype() == DType::float64, op,
                     ": expected float32 or float64, got ", name(x.dtype()));
  require(!is_complex || (x.dim() > 0 && x.size(-1) == 2), op,
          ": expected pairs (real, imaginary) along a last dimension of size 2, got shape ", x.shape());
}

/** `dims`, counted from the front, of a tensor with that many dimensions beside the pairs. */
DimNumbers signal_dims(const char* op, const DimNumbers& dims, int rank) {
  DimNumbers wrapped;
  for (const std::int64_t dim : dims) {
    const int d = dlprim::wrap_dim(dim, rank, op);
    for (const std::int64_t other : wrapped)
      require(other != d, op, ": dim ", d, " appears multiple times in the list of dims");
    wrapped.push_back(d);
  }
  return wrapped;
}

/** The factor of sums over so many elements. */
double scale_of(const char* op, std::int64_t normalization, double elements) {
  require(normalization >= 0 && normalization <= 2, op,
          ": expected a normalization of 0 (none), 1 (by the root of n) or 2 (by n), got ", normalization);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(elements) : 1 / elements;
}

/** How many elements a sum over `dims` has. Throws ValueError where one has none. */
double elements_along(const char* op, const Dims& shape, const DimNumbers& dims) {
  double elements = 1;
  for (const std::int64_t d : dims) {
    const std::int64_t size = shape[static_cast<int>(d)];
    require(size > 0, op, ": expected at least one element along dimension ", d, ", got shape ", shape);
    elements *= static_cast<double>(size);
  }
  return elements;
}

dlprim::Tensor room_for(const dlprim::Tensor& x, const Dims& shape) {
  return dlprim::Tensor::empty(x.device(), shape, x.dtype);
}

/** `x` transformed along each of `dims`, the last first, and multiplied by `scale`; a copy for no dims. */
dlprim::Tensor transformed(dlprim::Tensor x, const DimNumbers& dims, bool forward, double scale) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    const dlprim::Tensor y = room_for(x, x.shape);
    dlprim::fft_c2c(x.device().queue(), x, dims[i], !forward, i == 0 ? scale : 1, y);
    x = y;
  }
  return x;
}

DimNumbers all_but_last(const DimNumbers& dims) {
  return {dims.begin(), dims.end() - 1};
}

/** Half a spectrum of `size` elements along `dim`, those multiplied by `factor` that stand for their
 * conjugates too. */
Tensor with_weighted_middle(const Tensor& half, std::int64_t dim, std::int64_t size, double factor) {
  const bool has_end = size % 2 == 0;
  const std::int64_t middle = half.size(static_cast<int>(dim)) - (has_end ? 2 : 1);
  const Tensor weights =
      pad(full({middle}, factor, half.dtype(), half.device()), {1, has_end ? 1 : 0}, "constant", Scalar(1));
  DimNumbers shape(static_cast<std::size_t>(half.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = weights.size(0);
  return mul(half, reshape(weights, shape));
}

}  // namespace

Tensor _fft_c2c(const Tensor& a, const DimNumbers& dim, std::int64_t normalization, bool forward) {
  ENTER_OPERATOR(_fft_c2c, a, dim, normalization, forward);
  constexpr const char* op = "_fft_c2c";
  require_signal(op, a, true);
  const DimNumbers dims = signal_dims(op, dim, a.dim() - 1);
  const double scale = scale_of(op, normalization, elements_along(op, a.shape(), dims));
  if (dims.empty()) return a.clone();
  return record(op, {a}, transformed(a.data(), dims, forward, scale), [&] {
    return [dims, normalization, forward](const TensorList& g) {
      return TensorList{_fft_c2c(g[0], dims, normalization, !forward)};
    };
  });
}

Tensor _fft_r2c(const Tensor& a, const DimNumbers& dim, std::int64_t normalization, bool onesided) {
  ENTER_OPERATOR(_fft_r2c, a, dim, normalization, onesided);
  constexpr const char* op = "_fft_r2c";
  require_signal(op, a, false);
  const DimNumbers dims = signal_dims(op, dim, a.dim());
  require(!dims.empty(), op, ": expected at least one dimension to transform");
  const double scale = scale_of(op, normalization, elements_along(op, a.shape(), dims));
  const std::int64_t last = dims.back(), size = a.size(static_cast<int>(last));
  Dims shape = a.shape();
  if (onesided) shape[static_cast<int>(last)] = size / 2 + 1;
  shape.push_back(2);
  const dlprim::Tensor half = room_for(a.data(), shape);
  const DimNumbers others = all_but_last(dims);
  dlprim::fft_r2c(half.device().queue(), a.data(), last, others.empty() ? scale : 1, half);
  return record(op, {a}, transformed(half, others, true, scale), [&] {
    return [dims, last, size, normalization, onesided](const TensorList& g) {
      if (onesided)
        return TensorList{_fft_c2r(with_weighted_middle(g[0], last, size, 0.5), dims, normalization, size)};
      return TensorList{select(_fft_c2c(g[0], dims, normalization, false), -1, 0)};
    };
  });
}

Tensor _fft_c2r(const Tensor& a, const DimNumbers& dim, std::int64_t normalization,
                std::int64_t last_dim_size) {
  ENTER_OPERATOR(_fft_c2r, a, dim, normalization, last_dim_size);
  constexpr const char* op = "_fft_c2r";
  require_signal(op, a, true);
  const DimNumbers dims = signal_dims(op, dim, a.dim() - 1);
  require(!dims.empty(), op, ": expected at least one dimension to transform");
  const std::int64_t last = dims.back();
  Dims shape = a.shape();
  require(last_dim_size > 0 && last_dim_size / 2 + 1 == shape[static_cast<int>(last)], op,
          ": a last size of ", last_dim_size, " has a half spectrum of ", last_dim_size / 2 + 1,
          " elements, got shape ", shape, " and dimension ", last);
  shape.erase(shape.size() - 1);
  shape[static_cast<int>(last)] = last_dim_size;
  const double scale = scale_of(op, normalization, elements_along(op, shape, dims));
  const dlprim::Tensor half = transformed(a.data(), all_but_last(dims), false, 1), y = room_for(half, shape);
  dlprim::fft_c2r(y.device().queue(), half, last, scale, y);
  return record(op, {a}, y, [&] {
    return [dims, last, normalization, last_dim_size](const TensorList& g) {
      return TensorList{
          with_weighted_middle(_fft_r2c(g[0], dims, normalization, true), last, last_dim_size, 2)};
    };
  });
}

}  // namespace ocl
