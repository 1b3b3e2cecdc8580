#pragma once

#include <optional>

#include "dlprim/ops/pool/pool_launch.h"
#include "dlprim/runtime/implementation.h"

/**
 * \file What the lists of the pooling operators share. A problem has a `window`, a `result()`, and launches
 * a kernel of pool.cl over a range.
 */

namespace dlprim {

/** For sums that are kept in the result: it stores what kernels compute in. */
template <class Problem>
bool runs_cpu_kernels_exactly(const DeviceInfo& device, const Problem& p) {
  return device.runs_cpu_kernels() && is_compute_dtype(p.result().dtype);
}

/** The key of problems of a window from planes of `from`; nothing where results lie in operands,
 * nor for volumes, whose implementations are not measured. */
inline std::optional<ProblemKey> pool_key(const PoolWindow& w, const Tensor& from, const Tensor& result,
                                          DType places = DType::int32) {
  if (result.overlaps(from) || has_depth(w)) return std::nullopt;
  return ProblemKey(result.shape[0], w.size[0], w.size[1], w.out[0], w.out[1], w.kernel_size[0],
                    w.kernel_size[1], w.stride[0], w.stride[1], w.padding[0], w.padding[1], w.dilation[0],
                    w.dilation[1], w.adaptive, result.dtype, places);
}

/** Elements of the result. */
template <class Problem>
double pool_cost(const DeviceInfo&, const Problem& p) {
  return static_cast<double>(p.result().numel());
}

/** Each finds the windows that cover it. */
template <class Problem>
double pool_cost_of_gathering(const DeviceInfo& device, const Problem& p) {
  return 4 * pool_cost(device, p);
}

}  // namespace dlprim
