#pragma once

#include <cstdint>
#include <vector>

#include "dlprim/core/fields.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** One parameter and what its optimizer step touches. All float32, or all float64; dense, and all lying
 * alike; of one shape.
 */
struct OptimizedParameter {
  Tensor parameter, gradient;
  std::vector<Tensor> state;  // in the order that the optimizer's step documents
  Tensor step = {};           // one number of float32, which the kernel reads; or undefined
  FIELDS(parameter, gradient, state, step)
};

/**
 * Lets one launch reach the tensors of many parameters. A table on the device says, for every chunk of
 * elements, in which buffer and where its parameter, gradient and states lie. The table stays there from step
 * to step and is uploaded anew, without waiting, only when something moved. A launch takes up to PACK_BUFFERS
 * distinct OpenCL buffers; parameters that are spread over more of them go into further launches. Keep one
 * pack per parameter group; not thread safe.
 */
class ParameterPack {
 public:
  using IsCallState = void;  // arguments.h

  /** One launch: `chunks` rows of `table` from `first_chunk` on; `buffers` are whole OpenCL buffers as
   * tensors. */
  struct Launch {
    std::int64_t first_chunk, chunks;
    std::vector<Tensor> buffers;
  };

  /** The launches that reach all `tensors` (per parameter: the tensors of its row, as many elements each; one
   * of another number is the same for all chunks). */
  std::vector<Launch> prepare(Queue& queue, const std::vector<std::vector<const Tensor*>>& tensors);
  const Tensor& table() const { return table_; }
  /** The place in a prepared table that says, per parameter, its first chunk and how many it has. */
  std::int64_t ranges_start() const { return chunks() * PACK_ROW; }
  /** Chunks of all launches together. */
  std::int64_t chunks() const {
    return groups_.empty() ? 0 : groups_.back().first_chunk + groups_.back().chunks;
  }

 private:
  struct Place {
    const void* buffer;
    std::uint64_t start;
    bool operator==(const Place& other) const { return buffer == other.buffer && start == other.start; }
  };
  struct Group {
    std::int64_t first_chunk, chunks;
    std::vector<std::pair<int, int>> buffer_owners;  // (parameter, tensor) that shows where the buffer is
  };

  void lay_out(Queue& queue, const std::vector<std::vector<const Tensor*>>& tensors);

  std::vector<Place> places_;
  std::vector<std::int64_t> counts_;
  std::vector<Group> groups_;
  Tensor table_;
};

}  // namespace dlprim
