#include "dlprim/core/promotion.h"

namespace dlprim {

bool can_cast(DType from, DType to) {
  return info(from).kind <= info(to).kind;
}

}  // namespace dlprim
