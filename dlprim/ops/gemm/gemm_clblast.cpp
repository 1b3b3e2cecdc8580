#include <clblast.h>

#include "dlprim/core/error.h"
#include "dlprim/ops/gemm/gemm_engine.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

struct Operand {
  clblast::Transpose transpose;
  std::size_t leading;
};

Operand operand(std::int64_t row, std::int64_t column) {
  if (column == 1) return {clblast::Transpose::kNo, static_cast<std::size_t>(row)};
  return {clblast::Transpose::kYes, static_cast<std::size_t>(column)};
}

// Where the tensor's data starts in its buffer, in floats.
std::size_t start(const Tensor& t) {
  return t.storage->byte_offset() / sizeof(float) + static_cast<std::size_t>(t.offset);
}

}  // namespace

void gemm_clblast(Queue& queue, const GemmProblem& p) {
  const Operand a = operand(p.a_row, p.a_column), b = operand(p.b_row, p.b_column);
  const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  queue.enqueue_foreign("clblast gemm", [&](cl_command_queue handle, cl_event* event) {
    const auto row_major = clblast::Layout::kRowMajor;
    const auto status =
        p.batches == 1
            ? clblast::Gemm<float>(row_major, a.transpose, b.transpose, size(p.m), size(p.n), size(p.k),
                                   alpha, p.a.storage->buffer()(), start(p.a), a.leading,
                                   p.b.storage->buffer()(), start(p.b), b.leading, beta,
                                   p.c.storage->buffer()(), start(p.c), size(p.n), &handle, event)
            : clblast::GemmStridedBatched<float>(
                  row_major, a.transpose, b.transpose, size(p.m), size(p.n), size(p.k), alpha,
                  p.a.storage->buffer()(), start(p.a), a.leading, size(p.a_batch), p.b.storage->buffer()(),
                  start(p.b), b.leading, size(p.b_batch), beta, p.c.storage->buffer()(), start(p.c),
                  size(p.n), size(p.m * p.n), size(p.batches), &handle, event);
    require<DeviceError>(status == clblast::StatusCode::kSuccess, "gemm: CLBlast failed with status ",
                         static_cast<int>(status), " on c ", p.c.shape);
  });
}

}  // namespace dlprim
