#include <clblast.h>

#include <array>
#include <optional>

#include "dlprim/core/error.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

struct Operand {
  clblast::Transpose transpose;
  std::size_t leading;
};

/** How CLBlast, which wants a unit stride and a leading dimension of at least the row, sees a matrix; nothing
 * where it cannot. */
std::optional<Operand> operand(std::int64_t rows, std::int64_t columns, std::int64_t row,
                               std::int64_t column) {
  if (column == 1 && row >= columns) return Operand{clblast::Transpose::kNo, static_cast<std::size_t>(row)};
  if (row == 1 && column >= rows) return Operand{clblast::Transpose::kYes, static_cast<std::size_t>(column)};
  return std::nullopt;
}
std::optional<Operand> left(const GemmProblem& p) {
  return operand(p.m, p.k, p.a_row, p.a_column);
}
std::optional<Operand> right(const GemmProblem& p) {
  return operand(p.k, p.n, p.b_row, p.b_column);
}

// Where the tensor's data starts in its buffer, in floats.
std::size_t start(const Tensor& t) {
  return t.storage->byte_offset() / sizeof(float) + static_cast<std::size_t>(t.offset);
}

void require_success(clblast::StatusCode status, const Dims& shape) {
  require<DeviceError>(status == clblast::StatusCode::kSuccess, "gemm: CLBlast failed with status ",
                       static_cast<int>(status), " on c ", shape);
}

/**
 * Memory for CLBlast's padded copies: a part of a scratch tensor as a buffer of its own. Without it CLBlast
 * makes and releases a buffer in every call, and NVIDIA's driver waits for the queue at the release.
 */
struct Workspace {
  Tensor memory;
  cl::Buffer part;

  Workspace(Queue& queue, std::size_t bytes) {
    if (bytes == 0) return;
    const std::size_t alignment = queue.device().handle().getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
    memory = queue.scratch({static_cast<std::int64_t>((bytes + alignment) / sizeof(float)) + 1});
    const std::size_t first = (memory.storage->byte_offset() + alignment - 1) / alignment * alignment;
    cl_buffer_region region{first, bytes};
    cl::Buffer whole = memory.storage->buffer();
    part = whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
  }
};

bool can_take(const DeviceInfo&, const GemmProblem& p) {
  return p.c.dtype == DType::float32 && !p.bias && p.m > 0 && p.n > 0 && p.k > 0 && left(p) && right(p);
}

// On two AVX-512 cores it makes 25 GFLOP/s, our tiles 224; on an H200 31 TFLOP/s at 4096, on an H100 our
// larger tile 37. The cost of its copies into padded buffers is an estimate.
double expected_cost(const DeviceInfo& device, const GemmProblem& p) {
  if (device.runs_cpu_kernels()) return 9 * p.multiply_adds();
  constexpr double speed = 0.85, copies = 512.0 * 512 * 512 / 2;
  return product_tiles[0].cost(device, {p.m, p.n, p.k, p.batches}) / speed +
         copies * static_cast<double>(p.batches);
}

void run(Queue& queue, const GemmProblem& p) {
  const Operand a = *left(p), b = *right(p);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::size_t m = size(p.m), n = size(p.n), k = size(p.k);
  const auto row_major = clblast::Layout::kRowMajor;
  cl_command_queue handle = queue.handle()();
  const auto a_start = [&](std::int64_t batch) { return start(p.a) + size(batch * p.a_batch); };
  const auto b_start = [&](std::int64_t batch) { return start(p.b) + size(batch * p.b_batch); };
  const auto c_start = [&](std::int64_t batch) { return start(p.c) + size(batch * p.m * p.n); };
  // The memory of the last product of a batch: one that starts at 0 may need less.
  const std::int64_t last = p.batches - 1;
  std::size_t bytes = 0;
  require_success(clblast::GemmTempBufferSize<float>(row_major, a.transpose, b.transpose, m, n, k,
                                                     a_start(last), a.leading, b_start(last), b.leading,
                                                     c_start(last), n, &handle, bytes),
                  p.c.shape);
  const Workspace workspace(queue, bytes);
  const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  const std::array buffers{p.a.storage->buffer(), p.b.storage->buffer(), p.c.storage->buffer()};
  for (std::int64_t batch = 0; batch < p.batches; ++batch)
    queue.enqueue_foreign(
        "clblast gemm", {&p.a, &p.b, &p.c},
        [=, shape = p.c.shape, a_first = a_start(batch), b_first = b_start(batch), c_first = c_start(batch)](
            cl_command_queue command_queue, cl_event* event) {
          require_success(
              clblast::Gemm<float>(row_major, a.transpose, b.transpose, m, n, k, alpha, buffers[0](), a_first,
                                   a.leading, buffers[1](), b_first, b.leading, beta, buffers[2](), c_first,
                                   n, &command_queue, event, workspace.part()),
              shape);
        });
}

}  // namespace

GemmImplementation gemm_clblast() {
  return {"clblast", can_take, expected_cost, run};
}

}  // namespace dlprim
