#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "dlprim/core/dtype.h"
#include "dlprim/core/fields.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"

/** \file The arguments of calls (call.h) as values: to be read by a listener, and to be kept for another
 * call. */

namespace dlprim {

struct Argument;

/** Nothing, a tensor, a flag, a number, a text, or several values (named where they are a struct's fields).
 * Enumerators are their numbers; rows of tables, dtypes, formats and devices their names. */
using ArgumentValue =
    std::variant<std::monostate, Tensor, bool, std::int64_t, double, std::string, std::vector<Argument>>;

struct Argument {
  std::string name;  // empty in a list
  ArgumentValue value;
};

/** The tensors among arguments, in order, those within lists too. */
std::vector<Tensor> tensors_in(const std::vector<Argument>& arguments);

/** The pieces of "a, f(b, c)", commas within brackets left alone, without spaces before them. */
std::vector<std::string> split_at_commas(std::string_view list);

/** "a, b" as {"a", "b"}; of declared parameters, "(int a, int b = 1)", the same. */
std::vector<std::string> split_names(std::string_view names);

/** Memory that stands for other memory, storage by storage. Where there is none yet for a tensor it makes
 * some, of the same size on the same device, unless it is the identity. */
class MemoryMap {
 public:
  /** The identity. */
  MemoryMap() = default;
  /** One that makes memory, through `make`, for whatever it does not know. */
  using Make = std::function<std::shared_ptr<Storage>(const Tensor& original)>;
  explicit MemoryMap(Make make) : make_(std::move(make)) {}

  /** The view `tensor`, of the memory that stands for that of `tensor`. */
  Tensor of(Tensor tensor);
  /** From now on the memory of `replacement` stands for that of `original`. */
  void put(const Tensor& original, const Tensor& replacement);

 private:
  Make make_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> map_;
};

// ---- what an argument's type is made of

template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};
template <class T, std::size_t N>
struct is_list<std::array<T, N>> : std::true_type {};
template <>
struct is_list<Dims> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_variant : std::false_type {};
template <class... T>
struct is_variant<std::variant<T...>> : std::true_type {};

/** A type with a value of its own: `ArgumentValue argument_value(const T&)` beside it. */
template <class T, class = void>
struct has_argument_value : std::false_type {};
template <class T>
struct has_argument_value<T, std::void_t<decltype(argument_value(std::declval<const T&>()))>>
    : std::true_type {};

/** State that a call only uses to be quicker says `using IsCallState = void`. */
template <class T, class = void>
struct is_call_state : std::false_type {};
template <class T>
struct is_call_state<T, typename T::IsCallState> : std::true_type {};

template <class T>
constexpr bool points_to_row =
    std::is_pointer_v<T> && is_static_row<std::remove_cv_t<std::remove_pointer_t<T>>>::value;

template <class T>
ArgumentValue value_of(const T& value) {
  if constexpr (has_argument_value<T>::value) {
    return argument_value(value);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return value.defined() ? ArgumentValue(value) : ArgumentValue();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, MemoryFormat>) {
    return std::string(name(value));
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, Scalar>) {
    if (value.kind() == Scalar::Kind::boolean) return value.integer() != 0;
    return value.kind() == Scalar::Kind::integer ? ArgumentValue(value.integer())
                                                 : ArgumentValue(value.real());
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    return std::string(value);
  } else if constexpr (std::is_pointer_v<T> || is_optional<T>::value) {
    return value ? value_of(*value) : ArgumentValue();
  } else if constexpr (is_list<T>::value) {
    std::vector<Argument> list;
    for (const auto& element : value) list.push_back({{}, value_of(element)});
    return list;
  } else if constexpr (is_variant<T>::value) {
    return std::visit([](const auto& held) { return value_of(held); }, value);
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    return {};
  } else if constexpr (is_static_row<T>::value) {
    return std::string(value.name);
  } else if constexpr (is_call_state<T>::value) {
    return {};
  } else {
    static_assert(has_fields<T>::value, "an argument's struct needs FIELDS (fields.h)");
    const std::vector<std::string> names = split_names(T::field_names);
    std::vector<Argument> list;
    std::apply([&](const auto&... field) { (list.push_back({names[list.size()], value_of(field)}), ...); },
               value.fields());
    return list;
  }
}

template <class... T>
std::vector<Argument> arguments_of(const char* names, const T&... values) {
  const std::vector<std::string> split = split_names(names);
  std::vector<Argument> arguments;
  (arguments.push_back({split[arguments.size()], value_of(values)}), ...);
  return arguments;
}

/** Calls visit(tensor) or visit_pointer(pointer to a tensor) for each in `value`, in order. */
template <class T, class Visit, class VisitPointer>
void walk_tensors(T& value, const Visit& visit, const VisitPointer& visit_pointer) {
  const auto walk = [&](auto& inner) { walk_tensors(inner, visit, visit_pointer); };
  if constexpr (std::is_same_v<T, Tensor>) {
    visit(value);
  } else if constexpr (std::is_same_v<T, const Tensor*>) {
    visit_pointer(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                       std::is_convertible_v<T, std::string> || std::is_same_v<T, Scalar> ||
                       std::is_same_v<T, Dims> || points_to_row<T>) {
  } else if constexpr (is_optional<T>::value) {
    if (value) walk(*value);
  } else if constexpr (is_list<T>::value) {
    for (auto& element : value) walk(element);
  } else if constexpr (is_variant<T>::value) {
    std::visit(walk, value);
  } else {
    static_assert(has_fields<T>::value, "an argument's struct needs FIELDS (fields.h)");
    auto fields = value.fields();
    std::apply([&](auto&... field) { (walk(field), ...); }, fields);
  }
}

template <class T, class Visit>
void for_each_tensor(T& value, const Visit& visit) {
  walk_tensors(value, visit, [](const Tensor*&) {});
}

/** An argument kept beyond its call. */
template <class T, class = void>
class Kept {
 public:
  explicit Kept(const T& value) : value_(value) {}
  /** Turns to other memory; tensors that it points to go to `owned`. */
  void adopt(MemoryMap& memory, std::deque<Tensor>& owned) {
    walk_tensors(
        value_, [&](Tensor& t) { t = memory.of(t); },
        [&](const Tensor*& p) {
          if (p) p = &owned.emplace_back(memory.of(*p));
        });
  }
  T& get() { return value_; }

 private:
  T value_;
};

/** A row of a table is kept as the row itself. */
template <class T>
class Kept<T, std::enable_if_t<is_static_row<T>::value>> {
 public:
  explicit Kept(const T& row) : row_(&row) {}
  void adopt(MemoryMap&, std::deque<Tensor>&) {}
  const T& get() { return *row_; }

 private:
  const T* row_;
};

/** State that only saves time is not kept: each call has a fresh one. */
template <class T>
class Kept<T, std::enable_if_t<is_call_state<T>::value>> {
 public:
  explicit Kept(const T&) {}
  Kept(const Kept&) {}
  void adopt(MemoryMap&, std::deque<Tensor>&) {}
  T& get() { return value_; }

 private:
  T value_;
};

}  // namespace dlprim
