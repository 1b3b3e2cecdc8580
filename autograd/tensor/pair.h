#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "dlprim/core/arguments.h"

namespace ocl {

/** The number of the one dimension, given by itself or as a tuple of one. */
struct Single {
  int value = 1;
  bool is_one_number = true;  // how it was given, for what prints it
  Single() = default;
  Single(int v) : value(v) {}
  operator int() const { return value; }
};

inline dlprim::ArgumentValue argument_value(const Single& number) {
  return std::int64_t{number.value};
}

/** One number for all of N dimensions, or one for each, first to last. */
template <std::size_t N>
struct EachDim {
  std::array<int, N> values;
  bool is_one_number = false;  // how it was given, for what prints it
  EachDim() : EachDim(1) { is_one_number = false; }
  EachDim(int all) : is_one_number(true) { values.fill(all); }
  template <class... Rest, std::enable_if_t<sizeof...(Rest) + 1 == N, int> = 0>
  EachDim(int first, Rest... rest) : values{first, rest...} {}
  EachDim(const std::array<int, N>& v) : values(v) {}
  int operator[](int i) const { return values[static_cast<std::size_t>(i)]; }
};
using Pair = EachDim<2>;    // {height, width}
using Triple = EachDim<3>;  // {depth, height, width}

template <std::size_t N>
dlprim::ArgumentValue argument_value(const EachDim<N>& numbers) {
  return dlprim::value_of(numbers.values);
}

}  // namespace ocl
