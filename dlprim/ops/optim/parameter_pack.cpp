#include "dlprim/ops/optim/parameter_pack.h"

#include <algorithm>

#include "dlprim/core/error.h"
#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

std::uint64_t first_element(const Tensor& t) {
  return t.storage->byte_offset() / size_of(t.dtype) + static_cast<std::uint64_t>(t.offset);
}

const void* buffer_of(const Tensor& t) {
  return t.storage->buffer()();
}

/** The parameters of one launch and the distinct buffers that they lie in. */
struct Batch {
  std::vector<std::size_t> parameters;
  std::vector<const void*> buffers;
  std::vector<std::pair<int, int>> owners;

  bool has(const void* buffer) const {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  }
};

int missing_buffers(const Batch& batch, const std::vector<const Tensor*>& row) {
  std::vector<const void*> missing;
  for (const Tensor* t : row) {
    const void* buffer = buffer_of(*t);
    if (!batch.has(buffer) && std::find(missing.begin(), missing.end(), buffer) == missing.end())
      missing.push_back(buffer);
  }
  return static_cast<int>(missing.size());
}

// Each parameter goes where it needs the fewest further buffers, which keeps the launches few.
Batch& best_batch(std::vector<Batch>& batches, const std::vector<const Tensor*>& row) {
  Batch* best = nullptr;
  int fewest = PACK_BUFFERS + 1;
  for (Batch& batch : batches) {
    const int missing = missing_buffers(batch, row);
    const bool fits = static_cast<int>(batch.buffers.size()) + missing <= PACK_BUFFERS;
    if (!fits || missing >= fewest) continue;
    best = &batch;
    fewest = missing;
  }
  return best ? *best : batches.emplace_back();
}

std::vector<Batch> batched(const std::vector<std::vector<const Tensor*>>& tensors) {
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].front()->numel() == 0) continue;
    Batch& batch = best_batch(batches, tensors[i]);
    batch.parameters.push_back(i);
    for (std::size_t k = 0; k < tensors[i].size(); ++k) {
      const void* buffer = buffer_of(*tensors[i][k]);
      if (batch.has(buffer)) continue;
      batch.buffers.push_back(buffer);
      batch.owners.emplace_back(static_cast<int>(i), static_cast<int>(k));
    }
  }
  return batches;
}

std::uint64_t place_in(const Batch& batch, const Tensor& t) {
  const auto found = std::find(batch.buffers.begin(), batch.buffers.end(), buffer_of(t));
  const auto number = static_cast<std::uint64_t>(found - batch.buffers.begin());
  return (number << BUFFER_NUMBER_SHIFT) | first_element(t);
}

void append_chunks(std::vector<std::uint64_t>& rows, const Batch& batch,
                   const std::vector<const Tensor*>& tensors, std::int64_t chunk) {
  const std::int64_t numel = tensors.front()->numel();
  for (std::int64_t start = 0; start < numel; start += chunk) {
    for (const Tensor* t : tensors) {
      const std::int64_t first = t->numel() == numel ? start : 0;
      rows.push_back(place_in(batch, *t) + static_cast<std::uint64_t>(first));
    }
    rows.resize(rows.size() + PACK_TENSORS - tensors.size());
    rows.push_back(static_cast<std::uint64_t>(std::min(chunk, numel - start)));
  }
}

}  // namespace

std::vector<ParameterPack::Launch> ParameterPack::prepare(
    Queue& queue, const std::vector<std::vector<const Tensor*>>& tensors) {
  if (!call_state.has_elements) return {};
  std::vector<Place> places;
  std::vector<std::int64_t> counts;
  for (const auto& row : tensors) {
    counts.push_back(row.front()->numel());
    for (const Tensor* t : row) {
      queue.note_reached(*t);
      places.push_back({buffer_of(*t), first_element(*t)});
    }
  }
  if (places != places_ || counts != counts_) lay_out(queue, tensors);
  places_ = std::move(places);
  counts_ = std::move(counts);

  std::vector<Launch> launches;
  for (const Group& group : groups_) {
    Launch launch{group.first_chunk, group.chunks, {}};
    for (const auto& [parameter, tensor] : group.buffer_owners) {
      const Tensor& owner = *tensors[static_cast<std::size_t>(parameter)][static_cast<std::size_t>(tensor)];
      Tensor whole;
      whole.storage = std::make_shared<Storage>(queue.device(), owner.storage->buffer(), 0);
      whole.dtype = owner.dtype;
      launch.buffers.push_back(std::move(whole));
    }
    launch.buffers.resize(PACK_BUFFERS, launch.buffers.front());  // unused ones must still be some buffer
    launches.push_back(std::move(launch));
  }
  return launches;
}

void ParameterPack::lay_out(Queue& queue, const std::vector<std::vector<const Tensor*>>& tensors) {
  // Large enough to be worth a work group, small enough to spread over the device.
  const std::int64_t chunk = queue.device().info().runs_cpu_kernels() ? 16384 : 4096;
  groups_.clear();
  std::vector<std::uint64_t> rows, ranges(2 * tensors.size());
  for (const Batch& batch : batched(tensors)) {
    const std::size_t first = rows.size() / PACK_ROW;
    for (const std::size_t i : batch.parameters) {
      ranges[2 * i] = rows.size() / PACK_ROW;
      append_chunks(rows, batch, tensors[i], chunk);
      ranges[2 * i + 1] = rows.size() / PACK_ROW - ranges[2 * i];
    }
    groups_.push_back({static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(rows.size() / PACK_ROW - first), batch.owners});
  }
  if (rows.empty()) return;
  rows.insert(rows.end(), ranges.begin(), ranges.end());
  const auto length = static_cast<std::int64_t>(rows.size());
  // Who captures keeps the table, which is made once: it is not written again then.
  const CommandGraph::Pause not_captured;
  const bool is_kept = table_.defined() && table_.storage.use_count() > 1;
  if (!table_.defined() || table_.numel() < length || is_kept) table_ = queue.scratch({length}, DType::int64);
  queue.write(table_, rows.data(), rows.size() * sizeof rows[0]);
}

}  // namespace dlprim
