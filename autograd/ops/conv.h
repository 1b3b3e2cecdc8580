#pragma once

#include <string>
#include <variant>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** Zeros on both sides, or "valid" (none) or "same" (as many as keep the size, one more behind than before
 * where their number is odd; stride 1 only). */
using Padding1d = std::variant<int, std::string>;
/** Like Padding1d, for the last N dimensions. */
template <std::size_t N>
struct PaddingOf : std::variant<EachDim<N>, std::string> {
  using Base = std::variant<EachDim<N>, std::string>;
  PaddingOf(int all = 0) : Base(EachDim<N>(all)) {}
  template <class... Rest, std::enable_if_t<sizeof...(Rest) + 1 == N, int> = 0>
  PaddingOf(int first, Rest... rest) : Base(EachDim<N>(first, rest...)) {}
  PaddingOf(EachDim<N> sizes) : Base(sizes) {}
  PaddingOf(const char* word) : Base(std::string(word)) {}
  PaddingOf(const std::string& word) : Base(word) {}
};
using Padding2d = PaddingOf<2>;  // {height, width}
using Padding3d = PaddingOf<3>;  // {depth, height, width}

template <std::size_t N>
dlprim::ArgumentValue argument_value(const PaddingOf<N>& padding) {
  return dlprim::value_of(static_cast<const typename PaddingOf<N>::Base&>(padding));
}

#include "autograd/ops/declare.def"

#include "autograd/ops/conv.def"

#include "autograd/ops/declare_end.def"

}  // namespace ocl
