#pragma once

/** \file What programs for libtorch write, an idiom a function. Compiled with libtorch (-DWITH_LIBTORCH) and
 * with `ocl` in the place of `torch`, each prints what it computes. tests/python/idioms/test_libtorch.py
 * compares them. */

#include <iostream>
#include <string>
#include <vector>

#ifdef WITH_LIBTORCH
#include <torch/torch.h>

using Sizes = torch::IntArrayRef;
#else
#include "nn/nn.h"

namespace torch = ocl;
using Sizes = ocl::Dims;
#endif

struct Idiom {
  const char* name;
  void (*run)();
};

inline std::vector<Idiom>& idioms() {
  static std::vector<Idiom> all;
  return all;
}

struct Listed {
  Listed(const char* name, void (*run)()) { idioms().push_back({name, run}); }
};

#define IDIOM(name)                  \
  static void name();                \
  const Listed name##_(#name, name); \
  static void name()

/** The folder of files that are read and written. */
inline std::string& folder() {
  static std::string path;
  return path;
}

inline void show(Sizes sizes) {
  for (const std::int64_t size : sizes) std::cout << size << ' ';
  std::cout << '\n';
}

inline void show(const torch::Tensor& tensor) {
  show(tensor.sizes());
#ifdef WITH_LIBTORCH
  const torch::Tensor copy = tensor.detach().to(torch::kFloat64).contiguous();
  const std::vector<double> numbers(copy.data_ptr<double>(), copy.data_ptr<double>() + copy.numel());
#else
  const std::vector<double> numbers = tensor.to_vector<double>();
#endif
  for (const double number : numbers) std::cout << number << ' ';
  std::cout << '\n';
}

template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
void show(Number number) {
  std::cout << static_cast<double>(number) << '\n';
}
