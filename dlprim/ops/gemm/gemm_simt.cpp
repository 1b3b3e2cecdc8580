#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/ops/gemm/simt_tile_shared.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

template <class Real>
void launch(Queue& queue, const GemmProblem& p) {
  queue.launch(queue.kernel("ops/gemm/gemm_simt.cl", "gemm", dtype_defines(p.c.dtype)),
               Range::groups(SIMT_TILE_ITEMS, ceil_div(p.n, SIMT_TILE), ceil_div(p.m, SIMT_TILE), p.batches),
               p.a, p.b, Optional{p.bias}, p.c, static_cast<int>(p.m), static_cast<int>(p.n),
               static_cast<int>(p.k), p.a_batch, p.a_row, p.a_column, p.b_batch, p.b_row, p.b_column,
               static_cast<Real>(p.alpha), static_cast<Real>(p.beta), p.bias ? 1 : 0);
}

bool can_take(const DeviceInfo& device, const GemmProblem& p) {
  return !device.runs_cpu_kernels() && is_floating(p.c.dtype) && device.max_work_group >= SIMT_TILE_ITEMS;
}

double expected_cost(const DeviceInfo&, const GemmProblem& p) {
  return p.multiply_adds();
}

void run(Queue& queue, const GemmProblem& p) {
  with_real(p.c.dtype, [&](auto zero) { launch<decltype(zero)>(queue, p); });
}

}  // namespace

GemmImplementation gemm_simt_tiles() {
  return {"simt_tiles", can_take, expected_cost, run};
}

}  // namespace dlprim
