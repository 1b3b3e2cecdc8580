#include "dlprim/ops/norm/local_response_norm.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/norm/norm_shared.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* op = "local_response_norm";

template <class Real>
LocalResponseOptions<Real> options_of(const LocalResponseNorm& o) {
  return {static_cast<Real>(o.alpha / static_cast<double>(o.size)), static_cast<Real>(o.beta),
          static_cast<Real>(o.k)};
}

LocalResponseExtents extents_of(Queue& queue, const Tensor& x, const LocalResponseNorm& options) {
  require_floating(x.dtype, queue.device(), op);
  require(x.rank() >= 3, op, ": Expected 3D or higher dimensionality input (got ", x.rank(), " dimensions)");
  require_contiguous(op, "the input", x);
  require(options.size > 0, op, ": expected a positive size, got ", options.size);
  const std::int64_t plane = product(Dims(x.shape.begin() + 2, x.shape.end()));
  const cl_int channels = kernel_int(x.shape[1], op, "a number of channels");
  // No further than there are channels.
  const auto reach = [channels](std::int64_t n) {
    return static_cast<cl_int>(std::min<std::int64_t>(n, channels));
  };
  return {x.numel(), channels, kernel_int(plane, op, "a plane"), reach(options.size / 2),
          reach((options.size - 1) / 2)};
}

// An element costs about two: it sums a window.
Range elements_range(const Queue& queue, const Tensor& x) {
  return share_range(queue, x.numel(), 2, 64);
}

Kernel& kernel_of(Queue& queue, const char* kernel, const Tensor& x) {
  return queue.kernel("ops/norm/local_response_norm.cl", kernel, dtype_defines(x.dtype));
}

}  // namespace

void local_response_norm_forward(Queue& queue, const Tensor& x, const LocalResponseNorm& options,
                                 const Tensor& y, const Tensor& base) {
  ENTER(local_response_norm_forward, queue, x, options, y, base);
  const LocalResponseExtents e = extents_of(queue, x, options);
  require_like(op, "the result", y, x.shape, x.dtype);
  require_like(op, "base", base, x.shape, compute_dtype(x.dtype));
  if (x.numel() == 0) return;
  with_real(x.dtype, [&](auto zero) {
    queue.launch(kernel_of(queue, "local_response_norm_forward", x), elements_range(queue, x), x, e,
                 options_of<decltype(zero)>(options), y, base);
  });
}

void local_response_norm_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& base,
                                  const LocalResponseNorm& options, const Tensor& dx) {
  ENTER(local_response_norm_backward, queue, dy, x, base, options, dx);
  const LocalResponseExtents e = extents_of(queue, x, options);
  require_like(op, "the gradient", dy, x.shape, x.dtype);
  require_like(op, "base", base, x.shape, compute_dtype(x.dtype));
  require_like(op, "dx", dx, x.shape, x.dtype);
  if (x.numel() == 0) return;
  const Tensor shares = queue.scratch(x.shape, compute_dtype(x.dtype));
  const Range range = elements_range(queue, x);
  with_real(x.dtype, [&](auto zero) {
    const auto o = options_of<decltype(zero)>(options);
    queue.launch(kernel_of(queue, "local_response_norm_shares", x), range, dy, x, base, e, o, shares);
    queue.launch(kernel_of(queue, "local_response_norm_backward", x), range, dy, x, base, shares, e, o, dx);
  });
}

}  // namespace dlprim
