#include "dlprim/core/promotion.h"

namespace dlprim {

bool can_cast(DType from, DType to) {
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : dtype == DType::boolean ? 0 : 1; };
  return kind(from) <= kind(to);
}

}  // namespace dlprim
