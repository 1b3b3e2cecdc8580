#include "dlprim/ops/random/permutation.h"

#include <numeric>
#include <utility>
#include <vector>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/scalar.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {
namespace {

/** Below `range`, from 64 random bits; the bias is below range 2^-64. */
std::uint64_t scaled(std::uint64_t bits, std::uint64_t range) {
  const std::uint64_t high = (bits >> 32) * range, low = (bits & 0xffffffffu) * range;
  return (high + (low >> 32)) >> 32;  // exact for a range below 2^32
}

std::vector<std::int64_t> shuffled(std::int64_t count, PhiloxState state) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::array<std::uint32_t, 4> words{};
  for (std::uint64_t i = 0; i < order.size(); ++i) {  // Fisher and Yates
    if (i % 2 == 0) words = philox_words(state.seed, state.offset + i / 2);
    const std::size_t half = i % 2 * 2;
    const std::uint64_t bits = std::uint64_t{words[half + 1]} << 32 | words[half];
    std::swap(order[i], order[i + scaled(bits, order.size() - i)]);
  }
  return order;
}

}  // namespace

std::int64_t whole_numbers_end(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return (std::int64_t{1} << 24) + 1;
    case DType::float64:
      return (std::int64_t{1} << 53) + 1;
    case DType::float16:
      return (std::int64_t{1} << 11) + 1;
    case DType::bfloat16:
      return (std::int64_t{1} << 8) + 1;
    case DType::int64:
      return INT64_MAX;
    case DType::int32:
    case DType::int16:
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  return integer_range(dtype).second + 1;
}

void require_permutation(const char* op, std::int64_t n, DType dtype) {
  require(n >= 0, op, ": n must be non-negative, got ", n);
  require(n < std::int64_t{1} << 32, op, ": n must be below 2^32, got ", n);
  require(n <= whole_numbers_end(dtype), op, ": ", n, " is more than ", name(dtype), " can count to");
}

void random_permutation(Queue& queue, const Tensor& out, PhiloxState state) {
  ENTER(random_permutation, queue, out, state);
  constexpr const char* op = "random_permutation";
  require(out.rank() == 1, op, ": expected a result of shape [n], got ", out.shape);
  const std::int64_t n = out.shape[0];
  require_permutation(op, n, out.dtype);
  require_contiguous(op, "the result", out);
  const std::vector<std::int64_t> order = shuffled(n, state);
  const Tensor numbers = out.dtype == DType::int64 ? out : queue.scratch({n}, DType::int64);
  upload(queue, {order.data(), order.size() * sizeof order[0]}, numbers);
  if (out.dtype != DType::int64) copy(queue, numbers, out);
}

}  // namespace dlprim
