#pragma once

#include <tuple>
#include <type_traits>

/** \file The fields of a struct as a tuple, for what goes through the arguments of calls (call.h). */

/**
 * Inside a struct: names all its fields, in order.
 *
 *     struct Conv2dGeometry {
 *       std::array<int, 2> stride, padding;
 *       FIELDS(stride, padding)
 *     };
 */
#define FIELDS(...)                                        \
  static constexpr const char* field_names = #__VA_ARGS__; \
  auto fields() {                                          \
    return std::tie(__VA_ARGS__);                          \
  }                                                        \
  auto fields() const {                                    \
    return std::tie(__VA_ARGS__);                          \
  }

namespace dlprim {

template <class T, class = void>
struct has_fields : std::false_type {};
template <class T>
struct has_fields<T, std::void_t<decltype(T::field_names)>> : std::true_type {};

/** Whether all objects of a type live as long as the process (rows of tables): a reference to one may be
 * kept. */
template <class T>
struct is_static_row : std::false_type {};

}  // namespace dlprim
