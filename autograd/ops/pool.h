#pragma once

#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** The sizes that adaptive pooling gives the last N dimensions; no value keeps the input's size. */
template <std::size_t N>
struct AdaptiveSizes {
  std::array<std::optional<std::int64_t>, N> values;
  bool is_one_number = true;  // how it was given, for what prints it
  AdaptiveSizes() = default;
  AdaptiveSizes(std::int64_t all) { values.fill(all); }
  AdaptiveSizes(int all) : AdaptiveSizes(std::int64_t{all}) {}
  AdaptiveSizes(const EachDim<N>& size) : is_one_number(size.is_one_number) {
    for (std::size_t i = 0; i < N; ++i) values[i] = size.values[i];
  }
  template <class... Rest, std::enable_if_t<sizeof...(Rest) + 1 == N, int> = 0>
  AdaptiveSizes(std::optional<std::int64_t> first, Rest... rest)
      : values{first, rest...}, is_one_number(false) {}
};
using AdaptiveSize = AdaptiveSizes<2>;    // of height and width
using AdaptiveSize3d = AdaptiveSizes<3>;  // of depth, height and width

template <std::size_t N>
dlprim::ArgumentValue argument_value(const AdaptiveSizes<N>& size) {
  return dlprim::value_of(size.values);
}

#include "autograd/ops/declare.def"

#include "autograd/ops/pool.def"

#include "autograd/ops/declare_end.def"

/** Like max_pool2d, with the places of the maxima (h * W + w in their plane), int64. */
TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size,
                                   std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                                   Pair dilation = 1, bool ceil_mode = false);

/** Like max_pool1d, with the places of the maxima along L, int64. */
TensorList max_pool1d_with_indices(const Tensor& x, Single kernel_size,
                                   std::optional<Single> stride = std::nullopt, Single padding = 0,
                                   Single dilation = 1, bool ceil_mode = false);

/** Like max_pool3d, with the places of the maxima ((d * H + h) * W + w in their volume), int64. */
TensorList max_pool3d_with_indices(const Tensor& x, Triple kernel_size,
                                   std::optional<Triple> stride = std::nullopt, Triple padding = 0,
                                   Triple dilation = 1, bool ceil_mode = false);

/** Like adaptive_max_pool2d, with the places of the maxima (h * W + w in their plane), int64. */
TensorList adaptive_max_pool2d_with_indices(const Tensor& x, const AdaptiveSize& output_size);

/** Like adaptive_max_pool1d, with the places of the maxima along L, int64. */
TensorList adaptive_max_pool1d_with_indices(const Tensor& x, Single output_size);

/** Like adaptive_max_pool3d, with the places of the maxima as in max_pool3d_with_indices. */
TensorList adaptive_max_pool3d_with_indices(const Tensor& x, const AdaptiveSize3d& output_size);

}  // namespace ocl
