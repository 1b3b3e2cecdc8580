#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "autograd/ops/conv.h"
#include "autograd/ops/loss_reduction.h"
#include "autograd/ops/operator_results.h"
#include "autograd/ops/pool.h"
#include "autograd/tensor/generator.h"
#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

/** \file Arguments of operators for callers who know the operator by its name alone: another
 * library's face, a file, a test. */

namespace ocl {

/** Nothing (what is left out), a tensor or several, a number or several, a dtype, a device, or a word. */
using OperatorValue = std::variant<std::monostate, Tensor, TensorList, Scalar, std::vector<std::int64_t>,
                                   std::vector<double>, DType, Device, std::string>;

/** Throws TypeError: the value is not what was expected. */
[[noreturn]] void refuse_value(const OperatorValue& value, const char* expected);
/** The number, which has no fraction. Throws TypeError. */
std::int64_t whole_number(const OperatorValue& value);
double real_number(const OperatorValue& value);
bool flag(const OperatorValue& value);
/** One number or several. Throws TypeError. */
std::vector<std::int64_t> whole_numbers(const OperatorValue& value);
/** The format of that name. Throws TypeError. */
MemoryFormat memory_format_of(const OperatorValue& value);

inline bool is_nothing(const OperatorValue& value) {
  return std::holds_alternative<std::monostate>(value);
}

/** How a value becomes a parameter of type T: `T read(value)`. Types without one are those that no value
 * stands for. */
template <class T>
struct ValueReader;

template <>
struct ValueReader<Tensor> {
  static Tensor read(const OperatorValue& value) {
    if (is_nothing(value)) return {};
    if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
    refuse_value(value, "a tensor");
  }
};
template <>
struct ValueReader<TensorList> {
  static TensorList read(const OperatorValue& value) {
    if (const auto* tensors = std::get_if<TensorList>(&value)) return *tensors;
    refuse_value(value, "a list of tensors");
  }
};
template <>
struct ValueReader<Scalar> {
  static Scalar read(const OperatorValue& value) {
    if (const auto* number = std::get_if<Scalar>(&value)) return *number;
    refuse_value(value, "a number");
  }
};
template <>
struct ValueReader<Operand> {
  static Operand read(const OperatorValue& value) {
    if (const auto* number = std::get_if<Scalar>(&value)) return *number;
    if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
    refuse_value(value, "a tensor or a number");
  }
};
template <>
struct ValueReader<std::int64_t> {
  static std::int64_t read(const OperatorValue& value) { return whole_number(value); }
};
template <>
struct ValueReader<double> {
  static double read(const OperatorValue& value) { return real_number(value); }
};
template <>
struct ValueReader<bool> {
  static bool read(const OperatorValue& value) { return flag(value); }
};
template <>
struct ValueReader<std::vector<std::int64_t>> {
  static std::vector<std::int64_t> read(const OperatorValue& value) {
    return is_nothing(value) ? std::vector<std::int64_t>() : whole_numbers(value);
  }
};
template <>
struct ValueReader<std::vector<double>> {
  static std::vector<double> read(const OperatorValue& value) {
    if (is_nothing(value)) return {};
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
    const std::vector<std::int64_t> whole = whole_numbers(value);
    return {whole.begin(), whole.end()};
  }
};
template <>
struct ValueReader<DType> {
  static DType read(const OperatorValue& value) {
    if (const auto* dtype = std::get_if<DType>(&value)) return *dtype;
    refuse_value(value, "a dtype");
  }
};
template <>
struct ValueReader<Device> {
  static Device read(const OperatorValue& value) {
    if (is_nothing(value)) return {};
    if (const auto* device = std::get_if<Device>(&value)) return *device;
    refuse_value(value, "a device");
  }
};
template <>
struct ValueReader<std::string> {
  static std::string read(const OperatorValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    refuse_value(value, "a word");
  }
};
template <>
struct ValueReader<Reduction> {
  static Reduction read(const OperatorValue& value) {
    return reduction_from_name(ValueReader<std::string>::read(value));
  }
};
template <>
struct ValueReader<MemoryFormat> {
  static MemoryFormat read(const OperatorValue& value) { return memory_format_of(value); }
};
/** The default one of the device alone. */
template <>
struct ValueReader<Generator*> {
  static Generator* read(const OperatorValue& value) {
    if (!is_nothing(value)) refuse_value(value, "no generator");
    return nullptr;
  }
};
template <>
struct ValueReader<Single> {
  static Single read(const OperatorValue& value) {
    const std::vector<std::int64_t> given = whole_numbers(value);
    if (given.size() != 1) refuse_value(value, "one number");
    return static_cast<int>(given[0]);
  }
};
template <std::size_t N>
struct ValueReader<EachDim<N>> {
  static EachDim<N> read(const OperatorValue& value) {
    const std::vector<std::int64_t> given = whole_numbers(value);
    if (given.size() == 1) return static_cast<int>(given[0]);
    if (given.size() != N) refuse_value(value, "a number for each dimension, or one");
    std::array<int, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) numbers[i] = static_cast<int>(given[i]);
    return numbers;
  }
};
template <std::size_t N>
struct ValueReader<AdaptiveSizes<N>> {
  static AdaptiveSizes<N> read(const OperatorValue& value) { return ValueReader<EachDim<N>>::read(value); }
};
template <>
struct ValueReader<Padding1d> {
  static Padding1d read(const OperatorValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    return ValueReader<Single>::read(value).value;
  }
};
template <std::size_t N>
struct ValueReader<PaddingOf<N>> {
  static PaddingOf<N> read(const OperatorValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    return ValueReader<EachDim<N>>::read(value);
  }
};
template <class T>
struct ValueReader<std::optional<T>> {
  static std::optional<T> read(const OperatorValue& value) {
    return is_nothing(value) ? std::nullopt : std::optional<T>(ValueReader<T>::read(value));
  }
};

template <class T, class = void>
constexpr bool can_be_read = false;
template <class T>
constexpr bool can_be_read<T, std::void_t<decltype(ValueReader<T>::read(OperatorValue()))>> = true;

}  // namespace ocl
