#include "dlprim/core/layout.h"

#include "dlprim/core/checked.h"

namespace dlprim {

std::int64_t Layout::numel() const {
  std::int64_t n = 1;
  for (std::int64_t size : sizes) n *= size;
  return n;
}

bool Layout::is_flat() const {
  if (sizes.empty()) return true;
  if (sizes.size() > 1) return false;
  for (const auto& operand : strides)
    if (operand[0] != 1) return false;
  return true;
}

bool Layout::fits_32_bits() const {
  if (numel() > max_kernel_int) return false;
  for (const auto& operand : strides) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) last += std::abs(operand[d]) * (sizes[d] - 1);
    if (last > max_kernel_int) return false;
  }
  return true;
}

Layout merged_layout(const Dims& shape, const std::vector<Dims>& operand_strides) {
  Layout layout;
  layout.strides.resize(operand_strides.size());
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merges = !layout.sizes.empty();
    for (std::size_t k = 0; merges && k < operand_strides.size(); ++k)
      merges = layout.strides[k].back() == operand_strides[k][d] * shape[d];
    if (merges) {
      layout.sizes.back() *= shape[d];
    } else {
      layout.sizes.push_back(shape[d]);
    }
    for (std::size_t k = 0; k < operand_strides.size(); ++k) {
      if (!merges) layout.strides[k].push_back(0);
      layout.strides[k].back() = operand_strides[k][d];
    }
  }
  return layout;
}

Layout elementwise_layout(const Dims& shape, const std::vector<Dims>& operand_strides) {
  const Dims& leading = operand_strides.back();
  Dims order;
  bool is_sorted = true;
  for (int d = 0; d < shape.size(); ++d) {
    int place = order.size();
    while (place > 0 && leading[static_cast<int>(order[place - 1])] < leading[d]) --place;
    is_sorted = is_sorted && place == order.size();
    order.insert(place, d);
  }
  if (is_sorted) return merged_layout(shape, operand_strides);
  const auto ordered = [&](const Dims& of) {
    Dims result;
    for (const std::int64_t d : order) result.push_back(of[static_cast<int>(d)]);
    return result;
  };
  std::vector<Dims> strides;
  strides.reserve(operand_strides.size());
  for (const Dims& of_operand : operand_strides) strides.push_back(ordered(of_operand));
  return merged_layout(ordered(shape), strides);
}

}  // namespace dlprim
