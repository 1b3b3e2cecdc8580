#include "autograd/tensor/precision.h"

#include <atomic>

#include "dlprim/core/error.h"

namespace ocl {
namespace {

using dlprim::MatmulPrecision;

constexpr const char* names[] = {"highest", "high", "medium"};  // in MatmulPrecision's order

std::atomic<MatmulPrecision> current{MatmulPrecision::highest};

}  // namespace

void set_float32_matmul_precision(const std::string& precision) {
  for (const MatmulPrecision each :
       {MatmulPrecision::highest, MatmulPrecision::high, MatmulPrecision::medium})
    if (precision == names[static_cast<std::size_t>(each)]) return set_matmul_precision(each);
  throw dlprim::ValueError(dlprim::concat(
      "set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got '", precision, "'"));
}

void set_matmul_precision(dlprim::MatmulPrecision precision) {
  current.store(precision, std::memory_order_relaxed);
}

std::string get_float32_matmul_precision() {
  return names[static_cast<std::size_t>(float32_matmul_precision())];
}

dlprim::MatmulPrecision float32_matmul_precision() {
  return current.load(std::memory_order_relaxed);
}

}  // namespace ocl
