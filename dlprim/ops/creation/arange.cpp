#include "dlprim/ops/creation/arange.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {

void arange(Queue& queue, const Tensor& out, Scalar start, Scalar step) {
  ENTER(arange, queue, out, start, step);
  constexpr const char* op = "arange";
  require<TypeError>(out.dtype != DType::boolean, op, ": bool is not supported");
  if (is_floating(out.dtype)) require_floating(out.dtype, queue.device(), op);
  require_contiguous(op, "the result", out);
  const std::int64_t n = out.numel();
  if (n == 0) return;
  Defines defines = dtype_defines(out.dtype);
  defines.set("FLOATING", is_floating(out.dtype) ? 1 : 0);
  Kernel& kernel = queue.kernel("ops/creation/arange.cl", op, defines);
  const DeviceInfo& info = queue.device().info();
  constexpr std::int64_t least_share = 4096;
  const Range range =
      info.runs_cpu_kernels()
          ? Range::linear(std::min<std::int64_t>(n / least_share + 1, 4 * info.compute_units), 1)
          : Range::linear(n, std::min(128, info.max_work_group));
  const auto count = static_cast<cl_ulong>(n);
  if (!is_floating(out.dtype)) {
    queue.launch(kernel, range, out, count, static_cast<cl_long>(start.integer()),
                 static_cast<cl_long>(step.integer()));
    return;
  }
  with_real(out.dtype, [&](auto zero) {
    using Real = decltype(zero);
    const auto near = [](double value) { return static_cast<Real>(value); };
    const auto rest = [near](double value) { return static_cast<Real>(value - near(value)); };
    queue.launch(kernel, range, out, count, near(start.real()), rest(start.real()), near(step.real()),
                 rest(step.real()));
  });
}

}  // namespace dlprim
