#include "dlprim/core/checked.h"
#include "dlprim/ops/quantized/quantized_implementations.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

// Products of few rows with a stored weight: what counts is that its bytes come from memory once, and in
// order.

namespace dlprim {
namespace {

/** Rows and lines of the weight that are multiplied at once. */
struct FewRowsTile {
  int rows, outputs;
};

Kernel& few_rows_kernel(Queue& queue, const char* file, const QuantizedProblem& p, const FewRowsTile& tile,
                        const Defines& more = {}) {
  Defines defines = p.w.defines(p.x.dtype);
  defines.set("ROWS", tile.rows).set("OUTPUTS", tile.outputs).append(more);
  return queue.kernel(file, "quantized_linear", defines);
}

int few_rows_at_once(std::int64_t rows) {
  return rows == 1 ? 1 : rows == 2 ? 2 : 4;
}

void run_few_rows_cpu(Queue& queue, const QuantizedProblem& p) {
  constexpr int outputs = 4;
  const FewRowsTile tile{few_rows_at_once(p.rows()), outputs};
  const std::int64_t shares = cpu_shares(queue.device().info(), ceil_div(p.w.shape.out, outputs),
                                         std::int64_t{outputs} * p.w.shape.in);
  queue.launch(few_rows_kernel(queue, "ops/quantized/quantized_cpu.cl", p, tile), Range::groups(1, shares),
               p.x, p.w.weight, p.w.scales, Optional{p.w.zeros}, Optional{p.bias}, p.w.shape,
               static_cast<cl_int>(p.rows()), cl_int{p.bias != nullptr}, p.y);
}

void run_few_rows_simt(Queue& queue, const QuantizedProblem& p) {
  constexpr int outputs = 2, word = 4;
  const std::int64_t rows = p.rows(), bytes = std::int64_t{p.w.shape.in} * p.w.bits() / 8;
  const FewRowsTile tile{few_rows_at_once(rows), outputs};
  Defines aligned;
  aligned.set("ALIGNED", p.w.weight.offset % word == 0 && bytes % word == 0);
  Range range = line_per_row_range(queue, ceil_div(p.w.shape.out, outputs), ceil_div(bytes, word));
  range.global[1] *= static_cast<std::size_t>(ceil_div(rows, tile.rows));
  const std::size_t values = static_cast<std::size_t>(tile.rows * tile.outputs);
  const LocalMemory shared{range.local[0] * range.local[1] * values * size_of(compute_dtype(p.x.dtype))};
  queue.launch(few_rows_kernel(queue, "ops/quantized/quantized_simt.cl", p, tile, aligned), range, p.x,
               p.w.weight, p.w.scales, Optional{p.w.zeros}, Optional{p.bias}, p.w.shape,
               static_cast<cl_int>(rows), cl_int{p.bias != nullptr}, p.y, shared);
}

/** Comparable with quantized_by_product alone. On two Zen 4 cores 2048 x 2048 weights of four bits take 1.6
 * ms for 12 rows, and making numbers of them takes 0.9 before they are multiplied. */
double expected_cost_of_few_rows(const DeviceInfo& device, const QuantizedProblem& p) {
  const int most_rows = device.runs_cpu_kernels() ? 16 : 8;
  return p.multiply_adds() * (p.rows() <= most_rows ? 0.5 : 2);
}

}  // namespace

QuantizedImplementation quantized_cpu_few_rows() {
  return {"cpu_few_rows", runs_cpu_kernels<QuantizedProblem>, expected_cost_of_few_rows, run_few_rows_cpu};
}

QuantizedImplementation quantized_simt_few_rows() {
  return {"simt_few_rows", runs_simt_kernels<QuantizedProblem>, expected_cost_of_few_rows, run_few_rows_simt};
}

}  // namespace dlprim
