#include "dlprim/ops/pointwise/glu.h"

#include "dlprim/core/call.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"

namespace dlprim {
namespace {

const PointwiseOp& row() {
  static const PointwiseOp& op = pointwise_op("glu_kernel");
  return op;
}

struct Halves {
  Tensor first, second;
};

Halves halves_of(const Tensor& x, std::int64_t dim) {
  const int d = wrap_dim(dim, x.rank(), "glu");
  const std::int64_t half = x.shape[d] / 2;
  Halves halves{x, x};
  halves.first.shape[d] = halves.second.shape[d] = half;
  halves.second.offset += half * x.strides[d];
  return halves;
}

void check(const Tensor& x, std::int64_t dim, const char* what, const Tensor& half) {
  require<TypeError>(is_floating(x.dtype), "glu: expected a floating dtype, got ", name(x.dtype));
  const Dims shape = glu_output_shape(x.shape, dim);
  require(half.shape == shape, "glu: expected ", what, " of shape ", shape, ", got ", half.shape);
  require<TypeError>(half.dtype == x.dtype, "glu: expected ", what, " of dtype ", name(x.dtype), ", got ",
                     name(half.dtype));
}

}  // namespace

Dims glu_output_shape(const Dims& x, std::int64_t dim) {
  require(x.size() > 0, "glu does not support 0-dimensional tensors");
  const int d = wrap_dim(dim, x.size(), "glu");
  require(x[d] % 2 == 0, "Halving dimension must be even, but dimension ", d, " is size ", x[d]);
  Dims y = x;
  y[d] /= 2;
  return y;
}

void glu_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y) {
  ENTER(glu_forward, queue, x, dim, y);
  check(x, dim, "a result", y);
  const Halves halves = halves_of(x, dim);
  pointwise(queue, forward_expression(row()), x.dtype, {halves.first, halves.second}, {}, {y});
}

void glu_backward(Queue& queue, const Tensor& dy, const Tensor& x, std::int64_t dim, const Tensor& dx) {
  ENTER(glu_backward, queue, dy, x, dim, dx);
  check(x, dim, "a gradient", dy);
  require(dx.shape == x.shape && dx.dtype == x.dtype, "glu: expected dx of shape ", x.shape, " and dtype ",
          name(x.dtype), ", got ", dx.shape, " and ", name(dx.dtype));
  const Halves inputs = halves_of(x, dim), outputs = halves_of(dx, dim);
  pointwise_backward(queue, row(), dy, {inputs.first, inputs.second}, {}, {},
                     {outputs.first, outputs.second});
}

}  // namespace dlprim
