#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"

namespace dlprim {

namespace {

bool can_take(const DeviceInfo&, const GemmProblem& p) {
  return !is_floating(p.c.dtype);
}

double expected_cost(const DeviceInfo&, const GemmProblem& p) {
  return p.multiply_adds();
}

/** Neighbours that one work item makes, where it has a vector unit to itself. */
constexpr std::int64_t cpu_columns = 32;

void run(Queue& queue, const GemmProblem& p) {
  const DeviceInfo& device = queue.device().info();
  const std::int64_t columns = device.runs_cpu_kernels() ? cpu_columns : 1;
  const std::int64_t items = p.batches * p.m * ceil_div(p.n, columns);
  const std::size_t bytes = size_of(p.c.dtype);
  Defines defines;
  defines.set("NUMBER", bytes == 8 ? "ulong" : bytes == 4 ? "uint" : bytes == 2 ? "ushort" : "uchar");
  defines.set("SUM", bytes == 8 ? "ulong" : "uint");
  defines.set("COLUMNS", columns);
  queue.launch(queue.kernel("ops/gemm/gemm_integer.cl", "gemm", defines),
               Range::linear(items, columns == 1 ? std::min(64, device.max_work_group) : 1), p.a, p.b,
               Optional{p.bias}, p.c, p.batches * p.m, p.m, p.n, p.k, p.a_batch, p.a_row, p.a_column,
               p.b_batch, p.b_row, p.b_column, static_cast<cl_long>(p.alpha), static_cast<cl_long>(p.beta));
}

}  // namespace

GemmImplementation gemm_integer() {
  return {"integer", can_take, expected_cost, run};
}

}  // namespace dlprim
