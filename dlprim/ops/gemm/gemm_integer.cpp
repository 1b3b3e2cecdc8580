#include <algorithm>

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

void run(Queue& queue, const GemmProblem& p) {
  const DeviceInfo& device = queue.device().info();
  const bool cpu = device.runs_cpu_kernels();
  const std::int64_t rows = p.batches * p.m, columns = cpu ? p.n : 1;
  queue.launch(queue.kernel("ops/gemm/gemm_integer.cl", "gemm"),
               cpu ? Range::linear(rows, 1) : Range::linear(rows * p.n, std::min(64, device.max_work_group)),
               p.a, p.b, Optional{p.bias}, p.c, static_cast<cl_int>(size_of(p.c.dtype)), rows, p.m, p.n, p.k,
               p.a_batch, p.a_row, p.a_column, p.b_batch, p.b_row, p.b_column, static_cast<cl_long>(p.alpha),
               static_cast<cl_long>(p.beta), columns);
}

}  // namespace

GemmImplementation gemm_integer() {
  return {"integer", can_take, expected_cost, run};
}

}  // namespace dlprim
