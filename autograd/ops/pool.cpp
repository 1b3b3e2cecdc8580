#include "autograd/ops/pool.h"

#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/pool/avg_pool2d.h"
#include "dlprim/ops/pool/max_pool2d.h"

namespace ocl {
namespace {

dlprim::Pool2dGeometry geometry_of(Pair kernel_size, const std::optional<Pair>& stride, Pair padding,
                                   Pair dilation, bool ceil_mode) {
  return {kernel_size.values, stride.value_or(kernel_size).values, padding.values, dilation.values,
          ceil_mode};
}

/** A pooling result whose gradient `backward(dy, dx)` writes. */
template <class BackwardKernel>
Tensor record_pool(const char* name, const Tensor& x, const dlprim::Tensor& y,
                   const BackwardKernel& backward) {
  return record(name, {x}, y, [&] {
    return [backward, shape = x.shape()](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), shape, g.dtype());
      backward(g.device()->queue(), g.data(), dx);
      return TensorList{Tensor(dx)};
    };
  });
}

struct MaxPooled {
  Tensor values;
  dlprim::Tensor places;
};

MaxPooled max_pool(const Tensor& a, const dlprim::Pool2dGeometry& geometry, bool wants_places) {
  const Tensor x = contiguous(a);
  const Dims shape = dlprim::pool2d_output_shape("max_pool2d", x.shape(), geometry);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::Tensor places;
  if (wants_places || needs_tape({x})) places = dlprim::Tensor::empty(*x.device(), shape, DType::int32);
  dlprim::max_pool2d_forward(x.device()->queue(), x.data(), geometry, y,
                             places.defined() ? &places : nullptr);
  return {record_pool(
              "MaxPool2dBackward", x, y,
              [places, geometry](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
                dlprim::max_pool2d_backward(queue, dy, places, geometry, dx);
              }),
          places};
}

}  // namespace

Tensor max_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride, Pair padding, Pair dilation,
                  bool ceil_mode) {
  return max_pool(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), false).values;
}

TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size, std::optional<Pair> stride,
                                   Pair padding, Pair dilation, bool ceil_mode) {
  const MaxPooled pooled = max_pool(x, geometry_of(kernel_size, stride, padding, dilation, ceil_mode), true);
  return {pooled.values, to(Tensor(pooled.places), DType::int64)};
}

Tensor avg_pool2d(const Tensor& a, Pair kernel_size, std::optional<Pair> stride, Pair padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int> divisor_override) {
  dlprim::require(!divisor_override || *divisor_override != 0, "avg_pool2d: divisor must be not zero");
  const dlprim::Pool2dGeometry geometry = geometry_of(kernel_size, stride, padding, 1, ceil_mode);
  const dlprim::AveragePoolDivisor divisor{count_include_pad, divisor_override.value_or(0)};
  const Tensor x = contiguous(a);
  const dlprim::Tensor y = dlprim::Tensor::empty(
      *x.device(), dlprim::pool2d_output_shape("avg_pool2d", x.shape(), geometry), x.dtype());
  dlprim::avg_pool2d_forward(x.device()->queue(), x.data(), geometry, divisor, y);
  return record_pool(
      "AvgPool2dBackward", x, y,
      [geometry, divisor](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
        dlprim::avg_pool2d_backward(queue, dy, geometry, divisor, dx);
      });
}

Tensor adaptive_avg_pool2d(const Tensor& a, Pair output_size) {
  const Tensor x = contiguous(a);
  const Dims shape = dlprim::adaptive_pool2d_output_shape("adaptive_avg_pool2d", x.shape(),
                                                          {output_size[0], output_size[1]});
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::adaptive_avg_pool2d_forward(x.device()->queue(), x.data(), y);
  return record_pool("AdaptiveAvgPool2dBackward", x, y,
                     [](dlprim::Queue& queue, const dlprim::Tensor& dy, const dlprim::Tensor& dx) {
                       dlprim::adaptive_avg_pool2d_backward(queue, dy, dx);
                     });
}

}  // namespace ocl
