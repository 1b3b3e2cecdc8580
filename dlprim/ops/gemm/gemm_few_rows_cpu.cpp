#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm_few_rows_shared.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"

// Products of few rows with a matrix, which pass by each of its numbers for a few multiply-adds: fully
// connected layers of small batches, their gradients by what went in, matrices times vectors.

namespace dlprim {
namespace {

constexpr std::int64_t jobs_a_core = 4, most_block = 2048;

/** The rows of a, or the columns of b. */
struct Operand {
  const Tensor& source;
  std::int64_t count, batch, line, step;
  std::int64_t of_c, of_bias;  // from one to the next of them

  bool lies_along_depth() const { return step == 1; }
  bool lies_across_depth() const { return line == 1; }
};

struct Operands {
  Operand few, many;

  explicit Operands(const GemmProblem& p)
      : Operands(p.m <= p.n, {p.a, p.m, p.a_batch, p.a_row, p.a_column, p.n, 0},
                 {p.b, p.n, p.b_batch, p.b_column, p.b_row, 1, 1}) {}

  bool are_along_depth() const { return few.lies_along_depth() && many.lies_along_depth(); }

 private:
  Operands(bool has_few_rows, const Operand& a, const Operand& b)
      : few(has_few_rows ? a : b), many(has_few_rows ? b : a) {}
};

template <class Real>
void launch(Queue& queue, const GemmProblem& p) {
  const Operands operands(p);
  const Operand &few = operands.few, &many = operands.many;
  const bool along_depth = operands.are_along_depth();
  const std::int64_t jobs = ceil_div(jobs_a_core * queue.device().info().compute_units, p.batches);
  const std::int64_t block =
      std::min(along_depth ? many.count : most_block, round_up(ceil_div(many.count, jobs), 16));
  const std::int64_t blocks = ceil_div(many.count, block);
  const FewRows sizes{few.batch,
                      few.line,
                      few.step,
                      many.batch,
                      many.line,
                      many.step,
                      p.m * p.n,
                      few.of_c,
                      many.of_c,
                      few.of_bias,
                      many.of_bias,
                      static_cast<int>(p.batches),
                      static_cast<int>(few.count),
                      static_cast<int>(many.count),
                      static_cast<int>(p.k),
                      static_cast<int>(block),
                      p.bias ? 1 : 0};
  const Real alpha = static_cast<Real>(p.alpha), beta = static_cast<Real>(p.beta);
  const auto kernel = [&](const char* name) -> Kernel& {
    return queue.kernel("ops/gemm/gemm_few_rows_cpu.cl", name, cpu_tile::defines(p.c.dtype));
  };
  if (along_depth) {
    queue.launch(kernel("few_rows_along_depth"), Range::groups(1, blocks, p.batches), few.source, many.source,
                 Optional{p.bias}, p.c, sizes, alpha, beta);
  } else {
    const std::int64_t items = cpu_tile::items_for(queue.device(), p.batches * blocks);
    const Tensor scratch = queue.scratch({items, 2, round_up(few.count, FEW_ROWS_LINES), block}, p.c.dtype);
    queue.launch(kernel("few_rows_across_depth"), Range::groups(1, items), few.source, many.source,
                 Optional{p.bias}, p.c, scratch, sizes, alpha, beta);
  }
}

bool can_take(const DeviceInfo& device, const GemmProblem& p) {
  const DType dtype = p.c.dtype;
  if (!device.runs_cpu_kernels() || !is_floating(dtype) || !is_compute_dtype(dtype)) return false;
  const Operands o(p);
  return o.are_along_depth() || o.many.lies_across_depth();
}

/** Measured beside cpu_tiles on two Zen 4 cores: 4 to 20 lines that lie along the depth take 0.4 to 0.8 of
 * their time; across it 0.4 to 0.7 where a matrix comes from memory, and up to 1.8 where caches hold it. */
double expected_cost(const DeviceInfo&, const GemmProblem& p) {
  constexpr std::int64_t most_few = 20, least_depth = 16, cached = 16 * 1024 * 1024;
  const Operands o(p);
  const bool is_cached =
      p.batches * o.many.count * p.k * static_cast<std::int64_t>(size_of(p.c.dtype)) <= cached;
  const bool fills_vectors = o.are_along_depth() && p.k >= least_depth;
  const bool wins = o.few.count <= most_few && (fills_vectors || (!o.are_along_depth() && !is_cached));
  return p.multiply_adds() * (wins ? 0.6 : 2);
}

void run(Queue& queue, const GemmProblem& p) {
  with_real(p.c.dtype, [&](auto zero) { launch<decltype(zero)>(queue, p); });
}

}  // namespace

GemmImplementation gemm_cpu_few_rows() {
  return {"cpu_few_rows", can_take, expected_cost, run};
}

}  // namespace dlprim
