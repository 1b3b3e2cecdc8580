#include "dlprim/core/dims.h"

#include "dlprim/core/checked.h"

namespace dlprim {
namespace {

void require_countable(bool countable, const Dims& shape) {
  require(countable, "shape ", shape, " has more elements than 64 bits count");
}

}  // namespace

std::int64_t product(const Dims& shape) {
  std::int64_t n = 1;
  bool fits = true, is_empty = false;
  for (const std::int64_t size : shape) {
    is_empty |= size == 0;
    fits &= size == 0 || try_multiply(n, size, n);
  }
  require_countable(fits, shape);
  return is_empty ? 0 : n;
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides = Dims::filled(shape.size(), 1);
  bool fits = true;
  for (int i = shape.size() - 2; i >= 0; --i)
    fits &= try_multiply(strides[i + 1], std::max<std::int64_t>(shape[i + 1], 1), strides[i]);
  require_countable(fits, shape);
  return strides;
}

int wrap_dim(std::int64_t dim, int rank, const char* op) {
  const int span = std::max(rank, 1);  // a scalar takes dim 0 and -1, as in PyTorch
  require<IndexError>(dim >= -span && dim < span, op,
                      ": dimension out of range (expected to be in range of [", -span, ", ", span - 1,
                      "], but got ", dim, ")");
  return static_cast<int>(dim < 0 ? dim + span : dim);
}

Dims broadcast_shapes(const Dims& a, const Dims& b, const char* op) {
  const int rank = std::max(a.size(), b.size());
  Dims shape = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    require(x == y || x == 1 || y == 1, op, ": shapes ", a, " and ", b, " do not broadcast: sizes ", x,
            " and ", y, " at dimension ", rank - i);
    shape[rank - i] = x == 1 ? y : x;
  }
  return shape;
}

}  // namespace dlprim
