#include "dlprim/ops/index/places.h"

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

void copy_strides(const Tensor& t, cl_long* strides) {
  for (int d = 0; d < 3; ++d) strides[d] = t.strides[d];
}

}  // namespace dlprim
