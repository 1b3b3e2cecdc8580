#include <algorithm>

#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm_engine.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

// Packed columns of one job should stay in a core's level-2 cache next to the rows that stream by.
constexpr std::int64_t panel_budget = 384 * 1024;  // bytes

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

template <class Real>
void launch(Queue& queue, const GemmProblem& p) {
  const DType dtype = p.c.dtype, packed = cpu_tile::packed_dtype(dtype);
  const bool shared_left = p.a_batch == 0;
  const Tensor left = cpu_tile::pack_left(
      queue, {p.a, 0, shared_left ? 1 : p.batches, p.a_batch, p.m, p.a_row, {1, 1, p.k}, {0, 0, p.a_column}});
  const int columns = cpu_tile::tile_columns(dtype);
  const std::int64_t column_panels = ceil_div(p.n, columns), row_panels = ceil_div(p.m, cpu_tile::tile_rows);
  const std::int64_t wanted_jobs = 4 * queue.device().info().compute_units;
  const std::int64_t panel_bytes =
      std::max<std::int64_t>(1, p.k) * columns * static_cast<std::int64_t>(size_of(packed));
  std::int64_t per_job = std::clamp<std::int64_t>(panel_budget / panel_bytes, 1, 16);
  per_job = std::clamp<std::int64_t>(p.batches * column_panels / wanted_jobs, 1, per_job);
  const std::int64_t blocks = p.batches * ceil_div(column_panels, per_job);
  const std::int64_t row_blocks = std::clamp<std::int64_t>(wanted_jobs / blocks, 1, ceil_div(row_panels, 4));
  const std::int64_t items = cpu_tile::items_for(queue.device(), blocks * row_blocks);
  const std::int64_t slice = per_job * p.k * columns;
  const Tensor scratch = queue.scratch({items, slice}, packed);
  const std::int64_t left_batch = shared_left ? 0 : row_panels * cpu_tile::tile_rows * p.k;
  queue.launch(queue.kernel("ops/gemm/gemm_cpu.cl", "gemm", cpu_tile::defines(dtype)),
               Range::groups(1, items), left, p.b, Optional{p.bias}, p.c, scratch,
               static_cast<int>(p.batches), static_cast<int>(p.m), static_cast<int>(p.n),
               static_cast<int>(p.k), left_batch, p.b_batch, p.b_row, p.b_column, static_cast<Real>(p.alpha),
               static_cast<Real>(p.beta), p.bias ? 1 : 0, static_cast<int>(per_job),
               static_cast<int>(row_blocks), slice);
}

}  // namespace

void gemm_cpu(Queue& queue, const GemmProblem& problem) {
  if (problem.c.dtype == DType::float64)
    launch<double>(queue, problem);
  else
    launch<float>(queue, problem);
}

}  // namespace dlprim
