#include "support/elements.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

namespace testing_support {

using dlprim::Dims;
using dlprim::DType;
using dlprim::Tensor;

namespace {

template <class T>
T load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
void store(T value, void* element) {
  std::memcpy(element, &value, sizeof value);
}

/** A binary format of 16 bits: sign, exponent, `mantissa` bits. */
struct SmallFormat {
  int mantissa, bias;

  double value(std::uint16_t bits) const {
    const int exponent_bits = 15 - mantissa, fraction = bits & ((1 << mantissa) - 1);
    const int exponent = bits >> mantissa & ((1 << exponent_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? std::nan("") : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
    return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  }

  std::uint16_t bits(double v) const {
    const auto sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
    const int infinity = 0x7fff >> mantissa << mantissa;
    if (std::isnan(v)) return static_cast<std::uint16_t>(infinity | 1 << (mantissa - 1));
    const int exponent = v == 0 || std::isinf(v) ? 1 - bias : std::max(std::ilogb(v), 1 - bias);
    if (std::isinf(v)) return static_cast<std::uint16_t>(sign | infinity);
    // In steps of the last place; a carry runs on into the exponent's bits.
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(std::abs(v), mantissa - exponent)));
    return static_cast<std::uint16_t>(sign | std::min(steps + ((exponent + bias - 1) << mantissa), infinity));
  }
};

constexpr SmallFormat half_format{10, 15}, bfloat_format{7, 127};

}  // namespace

double decode(DType dtype, const void* element) {
  switch (dtype) {
    case DType::float32:
      return load<float>(element);
    case DType::float64:
      return load<double>(element);
    case DType::float16:
      return half_format.value(load<std::uint16_t>(element));
    case DType::bfloat16:
      return bfloat_format.value(load<std::uint16_t>(element));
    case DType::int64:
      return static_cast<double>(load<std::int64_t>(element));
    case DType::int32:
      return load<std::int32_t>(element);
    case DType::int16:
      return load<std::int16_t>(element);
    case DType::int8:
      return load<std::int8_t>(element);
    case DType::complex64:  // the real part
      return load<float>(element);
    case DType::complex128:
      return load<double>(element);
    default:
      return load<std::uint8_t>(element);
  }
}

void encode(DType dtype, double value, void* element) {
  switch (dtype) {
    case DType::float32:
      return store(static_cast<float>(value), element);
    case DType::float64:
      return store(value, element);
    case DType::float16:
      return store(half_format.bits(value), element);
    case DType::bfloat16:
      return store(bfloat_format.bits(value), element);
    case DType::int64:
      return store(static_cast<std::int64_t>(value), element);
    case DType::int32:
      return store(static_cast<std::int32_t>(value), element);
    case DType::int16:
      return store(static_cast<std::int16_t>(value), element);
    case DType::int8:
      return store(static_cast<std::int8_t>(value), element);
    case DType::uint8:
      return store(static_cast<std::uint8_t>(value), element);
    case DType::boolean:
      return store(static_cast<std::uint8_t>(value != 0), element);
    case DType::complex64:
      return store(std::complex<float>(static_cast<float>(value)), element);
    case DType::complex128:
      return store(std::complex<double>(value), element);
  }
}

Tensor upload_as(DType dtype, const std::vector<double>& values, const Dims& shape) {
  const std::size_t bytes = size_of(dtype);
  std::vector<char> elements(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i) encode(dtype, values[i], elements.data() + i * bytes);
  const Tensor t = Tensor::empty(device(), shape, dtype);
  EXPECT_EQ(static_cast<std::int64_t>(values.size()), t.numel());
  queue().write(t, elements.data(), elements.size());
  return t;
}

std::vector<double> download_values(const Tensor& t) {
  const std::size_t bytes = size_of(t.dtype);
  std::vector<double> values(static_cast<std::size_t>(t.numel()));
  std::vector<char> elements(values.size() * bytes);
  queue().read(t, elements.data(), elements.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = decode(t.dtype, elements.data() + i * bytes);
  return values;
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return std::ldexp(1, -23);
    case DType::float64:
      return std::ldexp(1, -52);
    case DType::float16:
      return std::ldexp(1, -10);
    case DType::bfloat16:
      return std::ldexp(1, -7);
    default:
      return 0;
  }
}

double rounding_of(DType dtype) {
  return size_of(dtype) == 2 ? epsilon(dtype) / 2 : 0;
}

bool supports(DType dtype) {
  return dtype != DType::float64 || device().info().fp64;
}

Sample sample(std::mt19937& random, DType dtype, const Dims& shape, Placement placement) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto draw_value = [&]() -> double {
    if (dtype == DType::boolean) return draw(0, 1);
    if (dtype == DType::uint8) return draw(0, 8);
    return is_floating(dtype) ? draw(-32, 32) / 4.0 : draw(-8, 8);
  };
  Sample s;
  Dims strides = dlprim::contiguous_strides(shape);
  std::int64_t offset = 0, length = dlprim::product(shape);
  if (placement != Placement::contiguous && length > 0) {
    const bool gaps = placement == Placement::strided;
    std::vector<int> order(static_cast<std::size_t>(shape.size()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t stride = gaps ? draw(1, 2) : 1;
    for (const int d : order) {
      strides[d] = placement == Placement::expanded && draw(0, 2) == 0 ? 0 : stride;
      if (strides[d] != 0) stride = stride * shape[d] + (gaps ? draw(0, 2) : 0);
    }
    offset = gaps ? draw(0, 5) : 0;
    length = offset + 1;
    for (int d = 0; d < shape.size(); ++d) length += strides[d] * (shape[d] - 1);
  }
  std::vector<double> memory(static_cast<std::size_t>(length));
  for (double& value : memory) value = draw_value();
  s.tensor = upload_as(dtype, memory, {length});
  s.tensor.shape = shape;
  s.tensor.strides = strides;
  s.tensor.offset = offset;
  for_each_element(shape, [&](const Dims& at) {
    std::int64_t index = offset;
    for (int d = 0; d < shape.size(); ++d) index += at[d] * strides[d];
    s.values.push_back(memory[static_cast<std::size_t>(index)]);
  });
  return s;
}

std::size_t element_number(const Dims& shape, const Dims& at) {
  std::int64_t number = 0;
  for (int d = 0; d < shape.size(); ++d) {
    const std::int64_t coordinate = at[at.size() - shape.size() + d];
    number = number * shape[d] + (shape[d] == 1 ? 0 : coordinate);
  }
  return static_cast<std::size_t>(number);
}

}  // namespace testing_support
