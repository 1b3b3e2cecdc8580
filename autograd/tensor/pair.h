#pragma once

#include <array>
#include <cstddef>

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

/** One number for both of height and width, or a pair {height, width}. */
struct Pair {
  std::array<int, 2> values{1, 1};
  bool is_one_number = false;  // how it was given, for what prints it
  Pair() = default;
  Pair(int both) : values{both, both}, is_one_number(true) {}
  Pair(int height, int width) : values{height, width} {}
  Pair(const std::array<int, 2>& v) : values(v) {}
  int operator[](int i) const { return values[static_cast<std::size_t>(i)]; }
};
inline dlprim::ArgumentValue argument_value(const Pair& pair) {
  return dlprim::value_of(pair.values);
}

}  // namespace ocl
