#include "dlprim/ops/index/places.h"

#include <algorithm>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void require_lines(const char* op, const Tensor& named, const Tensor& index, const Tensor& moved) {
  require<TypeError>(index.dtype == DType::int64, op, ": expected an index of dtype int64, got ",
                     name(index.dtype));
  require<TypeError>(named.dtype == moved.dtype, op, ": expected tensors of one dtype, got ",
                     name(named.dtype), " and ", name(moved.dtype));
  require(index.rank() == 3 && moved.shape == index.shape, op,
          ": expected an index [outer, along, inner] and a tensor of its shape, got ", index.shape, " and ",
          moved.shape);
  require(named.shape == Dims{index.shape[0], named.size(1), index.shape[2]}, op, ": an index of shape ",
          index.shape, " does not fit a tensor of shape ", named.shape);
}

Places places_of(const Tensor& index, std::int64_t bound, Negative negative) {
  Places places{};
  for (int d = 0; d < 3; ++d) places.size[d] = index.shape[d];
  copy_strides(index, places.index);
  places.bound = bound;
  places.wraps = negative == Negative::wraps;
  return places;
}

Range owners_range(const Queue& queue, const Tensor& index) {
  constexpr std::int64_t least_elements =
      4096;  // below it the launch of a work group costs more than its work
  const std::int64_t cores = queue.device().info().compute_units, lines = index.shape[0] * index.shape[2];
  // Lines are shared out in several parts a core; those that share one read all of its index, so they are
  // few.
  const std::int64_t most = lines >= 4 * cores ? 4 * cores : cores;
  return Range::groups(1, std::clamp<std::int64_t>(index.numel() / least_elements, 1, most));
}

bool groups_take_lines(const DeviceInfo& device, const Tensor& index, std::int64_t bound, std::size_t bytes) {
  constexpr std::uint64_t most_bytes = 24 << 10;
  constexpr std::int64_t few_elements = 1 << 14;
  const auto is_broadcast = [&](int d) { return index.strides[d] == 0 && index.shape[d] > 1; };
  return index.shape[1] <= LINE_STRETCH * work_group(device) &&
         static_cast<std::uint64_t>(bound) <= std::min(most_bytes, device.local_memory) / bytes &&
         !is_broadcast(0) && !is_broadcast(2) && (index.shape[2] == 1 || index.numel() <= few_elements);
}

Range lines_range(const DeviceInfo& device, const Tensor& index) {
  return Range::groups(work_group(device), index.shape[0] * index.shape[2]);
}

LocalMemory memory_of_places(std::int64_t bound, std::size_t bytes) {
  return {static_cast<std::size_t>(std::max<std::int64_t>(bound, 1)) * bytes};
}

void copy_strides(const Tensor& t, cl_long* strides) {
  for (int d = 0; d < 3; ++d) strides[d] = t.strides[d];
}

}  // namespace dlprim
