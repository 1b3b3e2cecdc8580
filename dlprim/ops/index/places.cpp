#include "dlprim/ops/index/places.h"

#include <algorithm>

#include "dlprim/runtime/device.h"

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

void copy_strides(const Tensor& t, cl_long* strides) {
  for (int d = 0; d < 3; ++d) strides[d] = t.strides[d];
}

}  // namespace dlprim
