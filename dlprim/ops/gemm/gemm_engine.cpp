#include "dlprim/ops/gemm/gemm_engine.h"

#include <cstdlib>
#include <string>

#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

// An estimate, not measured: below it CLBlast's copies into padded buffers should not pay off.
constexpr std::int64_t clblast_worth = 512LL * 512 * 512;

bool unit_stride(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

// CLBlast takes a leading dimension of at least the row length, and indexes with size_t.
bool clblast_can(const GemmProblem& p) {
  return p.c.dtype == DType::float32 && !p.bias && p.m > 0 && p.n > 0 && p.k > 0 &&
         unit_stride(p.m, p.k, p.a_row, p.a_column) && unit_stride(p.k, p.n, p.b_row, p.b_column);
}

}  // namespace

GemmEngine choose_gemm_engine(const Device& device, const GemmProblem& problem) {
  const char* wanted = std::getenv("OCL_GEMM_ENGINE");
  const std::string forced = wanted ? wanted : "";
  const bool cpu = device.info().runs_cpu_kernels();
  const bool worth = !cpu && problem.m * problem.n * problem.k >= clblast_worth;
  if ((forced == "clblast" || (worth && forced != "own")) && clblast_can(problem)) return GemmEngine::clblast;
  return cpu ? GemmEngine::cpu_kernel : GemmEngine::simt_kernel;
}

}  // namespace dlprim
