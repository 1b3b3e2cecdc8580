#include "dlprim/ops/gemm/tensor_map.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/alignment.h"

namespace dlprim {
namespace {

constexpr std::int64_t map_alignment = 16;  // bytes

TensorMapShape shape_of(const MappedTensor& t, const std::array<int, TENSOR_MAP_RANK>& box) {
  const int bytes = static_cast<int>(size_of(t.dtype));
  TensorMapShape shape{};
  shape.element_bytes = bytes;
  for (std::size_t i = 0; i < TENSOR_MAP_RANK; ++i) {
    shape.size[i] = kernel_int(t.size[i], "product", "a dimension");
    shape.box[i] = box[i];
    if (i == 0) continue;
    const bool has_next = t.size[i] > 1;
    shape.bytes[i - 1] = has_next ? t.stride[i - 1] * bytes : map_alignment;  // else any
  }
  return shape;
}

}  // namespace

bool MappedTensor::can_map() const {
  constexpr std::int64_t max_stride = (std::int64_t{1} << 38) - 1;
  const std::int64_t aligned_elements = map_alignment / static_cast<std::int64_t>(size_of(dtype));
  if (tensor && (tensor->dtype != dtype || !is_aligned_to(static_cast<int>(aligned_elements), *tensor)))
    return false;
  for (std::size_t i = 0; i < TENSOR_MAP_RANK; ++i) {
    if (size[i] > max_kernel_int) return false;
    if (i > 0 && size[i] > 1 &&
        (stride[i - 1] <= 0 || stride[i - 1] > max_stride || stride[i - 1] % aligned_elements != 0))
      return false;
  }
  return true;
}

Tensor describe_operands(Queue& queue, const MappedTensor& left,
                         const std::array<int, TENSOR_MAP_RANK>& left_box, const MappedTensor& right,
                         const std::array<int, TENSOR_MAP_RANK>& right_box) {
  constexpr int words = TENSOR_MAP_BYTES / 4;
  Tensor maps = queue.scratch({2, words}, DType::int32);
  queue.launch(queue.kernel("ops/gemm/tensor_map_simt.cl", "describe_operands"), Range::groups(words, 2),
               *left.tensor, *right.tensor, maps, shape_of(left, left_box), shape_of(right, right_box));
  return maps;
}

}  // namespace dlprim
