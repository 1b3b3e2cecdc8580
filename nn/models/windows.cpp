#include "nn/models/windows.h"

#include "autograd/ops/index.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"

namespace ocl::models {

Tensor relative_position_index(std::int64_t height, std::int64_t width) {
  std::vector<std::int64_t> rows;
  const std::int64_t places = height * width;
  for (std::int64_t i = 0; i < places; ++i)
    for (std::int64_t j = 0; j < places; ++j) {
      const std::int64_t down = i / width - j / width + height - 1, right = i % width - j % width + width - 1;
      rows.push_back(down * (2 * width - 1) + right);
    }
  return tensor(rows, {places, places});
}

Tensor relative_position_bias(const Tensor& table, const Tensor& index, std::int64_t places) {
  const Tensor rows = index_select(table, 0, flatten(index));
  return unsqueeze(permute(reshape(rows, {places, places, -1}), {2, 0, 1}), 0);
}

}  // namespace ocl::models
