#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm_cpu_shared.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

// Panels of columns and of rows that one job multiplies at most. Columns' panels stay in a core's level-2
// cache; rows, asked for a tile ahead, pass through it: to pack columns again for each 700 of them took
// longer.
constexpr std::int64_t most_columns = 3, most_rows = 128;
// A shallow product is bound by the memory that takes it: it goes along rows, of so many bytes of panels.
constexpr std::int64_t shallow = 32, shallow_panels = 128 * 1024;
constexpr std::int64_t least_rows = 8;  // that pay for packing a column's panel once more
// So that cores end together: 4 left them idle a tenth of the time, 16 pack twice as often (700 x 2600 x
// 650: 8.2 ms, was 7.5).
constexpr std::int64_t jobs_a_core = 8;

/** Rows of a or columns of b: `count` of them, and the strides of a matrix of them. */
struct Operand {
  const Tensor& source;
  std::int64_t count, batch, line, step;
};

/** Whether a kernel can read the numbers where they lie, a row's one after the other. */
bool lies_by_rows(const Operand& left) {
  return left.step == 1 && left.line > 0 && is_compute_dtype(left.source.dtype);
}

/** The cost of a product, in vectors of FMAs for each step of the depth. */
double cost_of(const Operand& left, const Operand& right) {
  // Costs of a number: to pack it on the left is to write it to memory and read it again; on the right it
  // stays in a cache.
  constexpr double pack_left = 2, transpose_right = 0.5, copy_right = 0.1;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t panels = ceil_div(right.count, cpu_tile::tile_columns(right.source.dtype));
  return number(round_up(left.count, TILE_ROWS) * panels * TILE_VECTORS) +
         (lies_by_rows(left) ? 0 : pack_left) * number(left.count) +
         (right.line == 1 ? copy_right : transpose_right) * number(right.count);
}

template <class Real>
void launch(Queue& queue, const GemmProblem& p) {
  const Operand a{p.a, p.m, p.a_batch, p.a_row, p.a_column}, b{p.b, p.n, p.b_batch, p.b_column, p.b_row};
  // The left operand gives scalars, the right one vectors; with b on the left, c is made transposed.
  const bool is_transposed = cost_of(b, a) < cost_of(a, b);
  const Operand &left = is_transposed ? b : a, &right = is_transposed ? a : b;
  const DType dtype = p.c.dtype;
  const bool is_packed = !lies_by_rows(left), shares_left = left.batch == 0;
  const int columns = cpu_tile::tile_columns(dtype);
  const std::int64_t column_panels = ceil_div(right.count, columns),
                     row_panels = ceil_div(left.count, TILE_ROWS);
  const std::int64_t jobs = ceil_div(jobs_a_core * queue.device().info().compute_units, p.batches);
  const bool goes_along_rows = p.k <= shallow && !is_transposed;
  const std::int64_t panel_bytes =
      std::max<std::int64_t>(1, p.k) * columns * static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t fewest_columns =
      ceil_div(column_panels, goes_along_rows ? shallow_panels / panel_bytes : most_columns);
  const std::int64_t row_blocks = std::max(ceil_div(row_panels, most_rows),
                                           std::min(jobs / fewest_columns, ceil_div(row_panels, least_rows)));
  const std::int64_t column_blocks =
      std::min(column_panels, std::max(fewest_columns, ceil_div(jobs, row_blocks)));
  const std::int64_t most_panels = ceil_div(column_panels, column_blocks);
  const std::int64_t items = cpu_tile::items_for(queue.device(), p.batches * column_blocks * row_blocks);
  const std::int64_t sums =
      p.k > TILE_CHAIN ? most_panels * ceil_div(row_panels, row_blocks) * TILE_ROWS * columns : 0;
  const std::int64_t slice = most_panels * std::min<std::int64_t>(p.k, TILE_CHAIN) * columns + sums;
  const Tensor scratch = queue.scratch({items, slice}, compute_dtype(dtype));
  const Tensor packed =
      is_packed ? cpu_tile::pack_matrix(
                      queue, {left.source, shares_left ? 1 : p.batches, left.batch, left.count, left.line},
                      p.k, left.step)
                : left.source;
  const Tensor* const addend = p.epilogue ? p.epilogue->addend : nullptr;
  Defines defines = cpu_tile::defines(dtype, p.epilogue);
  if (p.epilogue || p.bias_of_rows) defines.set("EPILOGUE", 1);
  if (addend) defines.set("ADDEND", 1);
  const GemmCpuSizes sizes{is_packed && !shares_left ? row_panels * TILE_ROWS * p.k : left.batch,
                           is_packed ? 0 : left.line,
                           right.batch,
                           right.line,
                           right.step,
                           slice,
                           static_cast<int>(p.batches),
                           static_cast<int>(left.count),
                           static_cast<int>(right.count),
                           static_cast<int>(p.k),
                           static_cast<int>(column_blocks),
                           static_cast<int>(row_blocks),
                           static_cast<int>(most_panels),
                           p.bias ? 1 : 0,
                           is_transposed ? 1 : 0,
                           goes_along_rows ? 1 : 0};
  queue.launch(queue.kernel("ops/gemm/gemm_cpu.cl", "gemm", defines), Range::groups(1, items), packed,
               right.source, Optional{p.bias}, Optional{addend}, p.c, scratch, sizes,
               static_cast<Real>(p.alpha), static_cast<Real>(p.beta));
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
