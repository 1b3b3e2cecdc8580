#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

// Panels of columns and of rows that one job multiplies at most: a chain's piece of them, and the sums so
// far, share a core's level-2 cache.
constexpr std::int64_t most_columns = 3, most_rows = 88;
constexpr std::int64_t least_rows = 4;    // that pay for packing a column's panel once more
constexpr std::int64_t jobs_a_core = 16;  // so that cores end together; 4 left them idle a tenth of the time

template <class Real>
void launch(Queue& queue, const GemmProblem& p) {
  const DType dtype = p.c.dtype, packed = compute_dtype(dtype);
  const bool shared_left = p.a_batch == 0;
  const Tensor left = cpu_tile::pack_matrix(
      queue, {p.a, shared_left ? 1 : p.batches, p.a_batch, p.m, p.a_row}, p.k, p.a_column);
  const int columns = cpu_tile::tile_columns(dtype);
  const std::int64_t column_panels = ceil_div(p.n, columns), row_panels = ceil_div(p.m, TILE_ROWS);
  const std::int64_t wanted_jobs = ceil_div(jobs_a_core * queue.device().info().compute_units, p.batches);
  const std::int64_t fewest_rows = ceil_div(row_panels, most_rows);
  const std::int64_t column_blocks = std::min(
      column_panels, std::max(ceil_div(column_panels, most_columns), ceil_div(wanted_jobs, fewest_rows)));
  const std::int64_t row_blocks =
      std::max(fewest_rows, std::min(wanted_jobs / column_blocks, ceil_div(row_panels, least_rows)));
  const std::int64_t most_panels = ceil_div(column_panels, column_blocks);
  const std::int64_t items = cpu_tile::items_for(queue.device(), p.batches * column_blocks * row_blocks);
  const std::int64_t sums =
      p.k > TILE_CHAIN ? most_panels * ceil_div(row_panels, row_blocks) * TILE_ROWS * columns : 0;
  const std::int64_t slice = most_panels * std::min<std::int64_t>(p.k, TILE_CHAIN) * columns + sums;
  const Tensor scratch = queue.scratch({items, slice}, packed);
  const std::int64_t left_batch = shared_left ? 0 : row_panels * TILE_ROWS * p.k;
  queue.launch(queue.kernel("ops/gemm/gemm_cpu.cl", "gemm", cpu_tile::defines(dtype)),
               Range::groups(1, items), left, p.b, Optional{p.bias}, p.c, scratch,
               static_cast<int>(p.batches), static_cast<int>(p.m), static_cast<int>(p.n),
               static_cast<int>(p.k), left_batch, p.b_batch, p.b_row, p.b_column, static_cast<Real>(p.alpha),
               static_cast<Real>(p.beta), p.bias ? 1 : 0, static_cast<int>(column_blocks),
               static_cast<int>(row_blocks), static_cast<int>(most_panels), slice);
}

bool can_take(const DeviceInfo& device, const GemmProblem& p) {
  return device.runs_cpu_kernels() && is_floating(p.c.dtype);
}

double expected_cost(const DeviceInfo&, const GemmProblem& p) {
  return p.multiply_adds();
}

void run(Queue& queue, const GemmProblem& p) {
  with_real(p.c.dtype, [&](auto zero) { launch<decltype(zero)>(queue, p); });
}

}  // namespace

GemmImplementation gemm_cpu_tiles() {
  return {"cpu_tiles", can_take, expected_cost, run};
}

}  // namespace dlprim
