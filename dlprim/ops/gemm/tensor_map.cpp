#include "dlprim/ops/gemm/tensor_map.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/product_tile.h"
#include "dlprim/runtime/alignment.h"

namespace dlprim {
namespace {

TensorMapShape shape_of(const MappedTensor& t, const std::array<int, TENSOR_MAP_RANK>& box) {
  TensorMapShape shape{};
  for (std::size_t i = 0; i < TENSOR_MAP_RANK; ++i) {
    shape.size[i] = kernel_int(t.size[i], "product", "a dimension");
    shape.box[i] = box[i];
    if (i == 0) continue;
    const std::int64_t stride =
        t.size[i] == 1 ? vector_width : t.stride[i - 1];  // of what has no next one: any
    shape.bytes[i - 1] = stride * std::int64_t{sizeof(float)};
  }
  return shape;
}

}  // namespace

bool MappedTensor::can_map() const {
  constexpr std::int64_t max_stride = (std::int64_t{1} << 38) - 1;
  if (tensor && (tensor->dtype != DType::float32 || !is_aligned_to(vector_width, *tensor))) return false;
  for (std::size_t i = 0; i < TENSOR_MAP_RANK; ++i) {
    if (size[i] > max_kernel_int) return false;
    if (i > 0 && size[i] > 1 &&
        (stride[i - 1] <= 0 || stride[i - 1] > max_stride || stride[i - 1] % vector_width != 0))
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
