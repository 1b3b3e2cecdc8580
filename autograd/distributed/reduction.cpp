#include "autograd/distributed/reduction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dlprim/core/error.h"

namespace ocl::distributed {
namespace {

using dlprim::DType;

// Elements that are reduced at a time: sums stay in the processor's first cache.
constexpr std::size_t block = 2048;

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/** A 16-bit float as it lies in memory, and its conversions, rounding to nearest, ties to even. */
struct BFloat16 {
  std::uint16_t bits;
  explicit operator float() const { return bits_as<float>(static_cast<std::uint32_t>(bits) << 16); }
  static BFloat16 of(float value) {
    const auto wide = bits_as<std::uint32_t>(value);
    if (std::isnan(value)) return {static_cast<std::uint16_t>((wide >> 16) | 0x40)};
    return {static_cast<std::uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16)};
  }
};

struct Float16 {
  std::uint16_t bits;
  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, rest = bits & 0x7fff;
    // The exponent of float32 is larger by 112, which a product with 2^112 adds for small numbers too.
    float value = bits_as<float>(rest << 13) * bits_as<float>(std::uint32_t{(112 + 127) << 23});
    if (rest >= 0x7c00) value = bits_as<float>(0x7f800000u | (rest << 13));
    return bits_as<float>(bits_as<std::uint32_t>(value) | sign);
  }
  static Float16 of(float value) {
    const auto wide = bits_as<std::uint32_t>(value);
    const std::uint32_t sign = (wide >> 16) & 0x8000, rest = wide & 0x7fffffff;
    if (rest > 0x7f800000) return {static_cast<std::uint16_t>(sign | 0x7e00)};
    if (rest >= 0x477ff000) return {static_cast<std::uint16_t>(sign | 0x7c00)};  // from 65520 on
    if (rest < 0x38800000) {  // below 2^-14: float32's own rounding at the bit of 2^-24
      const float shifted = bits_as<float>(rest) + 0.5f;
      return {static_cast<std::uint16_t>(sign | (bits_as<std::uint32_t>(shifted) - 0x3f000000))};
    }
    return {static_cast<std::uint16_t>(sign | ((rest - 0x38000000 + 0xfff + ((rest >> 13) & 1)) >> 13))};
  }
};

template <class T>
struct Computed {
  using Type = T;
};
template <>
struct Computed<BFloat16> {
  using Type = float;
};
template <>
struct Computed<Float16> {
  using Type = float;
};

template <class T, class C>
C load(T value) {
  return static_cast<C>(value);
}
template <class T, class C>
T stored(C value) {
  if constexpr (std::is_class_v<T>)
    return T::of(value);
  else
    return static_cast<T>(value);
}

template <class C>
C combined(C a, C b, ReduceOp op) {
  if constexpr (std::is_integral_v<C> && !std::is_same_v<C, bool>) {  // wraps around
    using U = std::make_unsigned_t<C>;
    if (op == ReduceOp::sum) return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
    if (op == ReduceOp::product)
      return static_cast<C>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    if (op == ReduceOp::sum || op == ReduceOp::avg) return a + b;
    if (op == ReduceOp::product) return a * b;
  }
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
}

template <class T>
void reduce_typed(void* out, const std::vector<const void*>& inputs, std::size_t count, ReduceOp op) {
  using C = typename Computed<T>::Type;
  C sums[block];
  const auto fold = [&](const T* from, std::size_t n, auto combine) {
    for (std::size_t i = 0; i < n; ++i) sums[i] = combine(sums[i], load<T, C>(from[i]));
  };
  for (std::size_t start = 0; start < count; start += block) {
    const std::size_t n = std::min(block, count - start);
    const auto* first = static_cast<const T*>(inputs[0]) + start;
    for (std::size_t i = 0; i < n; ++i) sums[i] = load<T, C>(first[i]);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      const T* next = static_cast<const T*>(inputs[rank]) + start;
      if (op == ReduceOp::sum || op == ReduceOp::avg)  // apart, for the compiler's vectors
        fold(next, n, [](C a, C b) { return combined(a, b, ReduceOp::sum); });
      else
        fold(next, n, [op](C a, C b) { return combined(a, b, op); });
    }
    if constexpr (std::is_floating_point_v<C>)
      if (op == ReduceOp::avg)
        for (std::size_t i = 0; i < n; ++i) sums[i] /= static_cast<C>(inputs.size());
    T* to = static_cast<T*>(out) + start;
    for (std::size_t i = 0; i < n; ++i) to[i] = stored<T, C>(sums[i]);
  }
}

/** Reduces truths: the sum and the greatest are "any", the product and the least are "all". */
void reduce_truths(void* out, const std::vector<const void*>& inputs, std::size_t count, ReduceOp op) {
  const bool any = op == ReduceOp::sum || op == ReduceOp::max;
  reduce_typed<std::uint8_t>(out, inputs, count, any ? ReduceOp::max : ReduceOp::min);
}

}  // namespace

const char* name(ReduceOp op) {
  constexpr const char* names[] = {"SUM", "AVG", "MIN", "MAX", "PRODUCT"};
  return names[static_cast<int>(op)];
}

void require_reducible(DType dtype, ReduceOp op, const char* function) {
  dlprim::require<dlprim::TypeError>(op != ReduceOp::avg || dlprim::is_differentiable(dtype), function,
                                     ": an average is of a floating dtype, got ", dlprim::name(dtype));
  const bool is_of_parts = op == ReduceOp::sum || op == ReduceOp::avg;
  dlprim::require<dlprim::TypeError>(is_of_parts || !dlprim::is_complex(dtype), function,
                                     ": complex numbers have sums and averages alone");
}

void reduce_elements(void* out, const std::vector<const void*>& inputs, std::size_t count, DType dtype,
                     ReduceOp op) {
  switch (dtype) {
    case DType::float32:
      return reduce_typed<float>(out, inputs, count, op);
    case DType::float64:
      return reduce_typed<double>(out, inputs, count, op);
    case DType::float16:
      return reduce_typed<Float16>(out, inputs, count, op);
    case DType::bfloat16:
      return reduce_typed<BFloat16>(out, inputs, count, op);
    case DType::int64:
      return reduce_typed<std::int64_t>(out, inputs, count, op);
    case DType::int32:
      return reduce_typed<std::int32_t>(out, inputs, count, op);
    case DType::int16:
      return reduce_typed<std::int16_t>(out, inputs, count, op);
    case DType::int8:
      return reduce_typed<std::int8_t>(out, inputs, count, op);
    case DType::uint8:
      return reduce_typed<std::uint8_t>(out, inputs, count, op);
    case DType::boolean:
      return reduce_truths(out, inputs, count, op);
    case DType::complex64:
      return reduce_typed<float>(out, inputs, 2 * count, op);
    case DType::complex128:
      return reduce_typed<double>(out, inputs, 2 * count, op);
  }
}

}  // namespace ocl::distributed
