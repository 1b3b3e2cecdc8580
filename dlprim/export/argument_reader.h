#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/error.h"
#include "dlprim/core/philox_state.h"

/** \file Arguments of a primitive made of values: what value_of (core/arguments.h) made values of. */

namespace dlprim {

/** The things reading needs beside the value. */
struct ArgumentContext {
  /** The tensor to use in place of one that a value holds. */
  std::function<Tensor(const Tensor&)> tensor;
  /** The state to use in place of one that a value holds. */
  std::function<PhiloxState(PhiloxState)> random;
  std::deque<Tensor> owned{};  // those that arguments point to
};

/** The number of enumerators of an enum that is an argument: `constexpr int enumerators<E> = n`. */
template <class E>
constexpr int enumerators = 0;

[[noreturn]] void refuse_value(const char* expected, const ArgumentValue& value);
double number_of(const ArgumentValue& value);
std::int64_t whole_number_of(const ArgumentValue& value, std::int64_t least, std::int64_t most);
const std::vector<Argument>& list_of(const ArgumentValue& value);
const std::string& text_of_value(const ArgumentValue& value);

/** The row of a table that has that name: a specialisation for each type with is_static_row. */
template <class T>
const T& row_named(const std::string& name);

/** A type that is read by a function of its own. */
template <class T>
struct OwnReader : std::false_type {};

template <class T>
decltype(auto) read_argument(const ArgumentValue& value, ArgumentContext& context) {
  const auto is_none = [&] { return std::holds_alternative<std::monostate>(value); };
  if constexpr (OwnReader<T>::value) {
    return OwnReader<T>::read(value, context);
  } else if constexpr (is_static_row<T>::value) {
    return row_named<T>(text_of_value(value));
  } else if constexpr (std::is_same_v<T, Tensor>) {
    if (is_none()) return Tensor{};
    if (!std::holds_alternative<Tensor>(value)) refuse_value("a tensor", value);
    return context.tensor(std::get<Tensor>(value));
  } else if constexpr (std::is_same_v<T, const Tensor*>) {
    const Tensor tensor = read_argument<Tensor>(value, context);
    return tensor.defined() ? static_cast<const Tensor*>(&context.owned.emplace_back(tensor)) : nullptr;
  } else if constexpr (points_to_row<T>) {
    return is_none() ? T{} : &row_named<std::remove_cv_t<std::remove_pointer_t<T>>>(text_of_value(value));
  } else if constexpr (std::is_same_v<T, PhiloxState>) {
    const std::vector<Argument>& fields = list_of(value);
    if (fields.size() != 2) refuse_value("a seed and an offset", value);
    const auto word = [](const ArgumentValue& number) {  // 64 bits without a sign
      return static_cast<std::uint64_t>(whole_number_of(number, INT64_MIN, INT64_MAX));
    };
    return context.random({word(fields[0].value), word(fields[1].value)});
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!std::holds_alternative<bool>(value)) refuse_value("true or false", value);
    return std::get<bool>(value);
  } else if constexpr (std::is_same_v<T, DType>) {
    return dtype_from_name(text_of_value(value));
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(enumerators<T> > 0, "an argument's enum needs its number of enumerators");
    return static_cast<T>(whole_number_of(value, 0, enumerators<T> - 1));
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    return static_cast<T>(
        whole_number_of(value, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                        static_cast<std::int64_t>(std::min<std::uint64_t>(most, INT64_MAX))));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number_of(value));
  } else if constexpr (std::is_same_v<T, Scalar>) {
    if (const auto* flag = std::get_if<bool>(&value)) return Scalar(*flag);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return Scalar(*whole);
    return Scalar(number_of(value));
  } else if constexpr (is_optional<T>::value) {
    return is_none() ? T{} : T(read_argument<typename T::value_type>(value, context));
  } else if constexpr (std::is_same_v<T, std::variant<Tensor, Scalar>>) {
    return std::holds_alternative<Tensor>(value) ? T(read_argument<Tensor>(value, context))
                                                 : T(read_argument<Scalar>(value, context));
  } else if constexpr (std::is_same_v<T, Dims>) {
    Dims dims;
    for (const Argument& element : list_of(value))
      dims.push_back(read_argument<std::int64_t>(element.value, context));
    return dims;
  } else if constexpr (is_list<T>::value) {
    const std::vector<Argument>& list = list_of(value);
    T result{};
    if constexpr (std::is_same_v<T, std::vector<typename T::value_type>>)
      result.resize(list.size());
    else if (list.size() != result.size())
      refuse_value("a list of another length", value);
    for (std::size_t i = 0; i < list.size(); ++i)
      result[i] = read_argument<typename T::value_type>(list[i].value, context);
    return result;
  } else if constexpr (is_call_state<T>::value) {
    return T{};
  } else {
    static_assert(has_fields<T>::value, "an argument's struct needs FIELDS (fields.h)");
    const std::vector<Argument>& list = list_of(value);
    T result{};
    auto fields = result.fields();
    if (list.size() != std::tuple_size_v<decltype(fields)>) refuse_value("as many fields as it has", value);
    std::size_t next = 0;
    std::apply(
        [&](auto&... field) {
          ((field = read_argument<std::decay_t<decltype(field)>>(list[next++].value, context)), ...);
        },
        fields);
    return result;
  }
}

}  // namespace dlprim
