#pragma once

#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** What adaptive pooling brings the last N dimensions to; nothing keeps the input's size. */
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

/** torch.nn.functional.max_pool2d over [N, C, H, W] or [C, H, W]; stride defaults to the kernel's size. */
Tensor max_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride = std::nullopt,
                  Pair padding = 0, Pair dilation = 1, bool ceil_mode = false);
/** As max_pool2d, with the places of the maxima (h * W + w in their plane), int64. */
TensorList max_pool2d_with_indices(const Tensor& x, Pair kernel_size,
                                   std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                                   Pair dilation = 1, bool ceil_mode = false);
/** torch.nn.functional.max_pool1d over [N, C, L] or [C, L]. */
Tensor max_pool1d(const Tensor& x, int kernel_size, std::optional<int> stride = std::nullopt, int padding = 0,
                  int dilation = 1, bool ceil_mode = false);
/** As max_pool1d, with the places of the maxima along L, int64. */
TensorList max_pool1d_with_indices(const Tensor& x, int kernel_size, std::optional<int> stride = std::nullopt,
                                   int padding = 0, int dilation = 1, bool ceil_mode = false);

/** torch.nn.functional.max_pool3d over [N, C, D, H, W] or [C, D, H, W]. */
Tensor max_pool3d(const Tensor& x, Triple kernel_size, std::optional<Triple> stride = std::nullopt,
                  Triple padding = 0, Triple dilation = 1, bool ceil_mode = false);
/** As max_pool3d, with the places of the maxima ((d * H + h) * W + w in their volume), int64. */
TensorList max_pool3d_with_indices(const Tensor& x, Triple kernel_size,
                                   std::optional<Triple> stride = std::nullopt, Triple padding = 0,
                                   Triple dilation = 1, bool ceil_mode = false);

/** torch.nn.functional.avg_pool2d. */
Tensor avg_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride = std::nullopt,
                  Pair padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<std::int64_t> divisor_override = std::nullopt);
/** torch.nn.functional.avg_pool1d over [N, C, L] or [C, L]. */
Tensor avg_pool1d(const Tensor& x, int kernel_size, std::optional<int> stride = std::nullopt, int padding = 0,
                  bool ceil_mode = false, bool count_include_pad = true);

/** torch.nn.functional.avg_pool3d over [N, C, D, H, W] or [C, D, H, W]. */
Tensor avg_pool3d(const Tensor& x, Triple kernel_size, std::optional<Triple> stride = std::nullopt,
                  Triple padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<std::int64_t> divisor_override = std::nullopt);

/** torch.nn.functional.adaptive_avg_pool2d: averages to the given size. */
Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveSize& output_size);
/** torch.nn.functional.adaptive_avg_pool1d over [N, C, L] or [C, L]. */
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t output_size);
/** torch.nn.functional.adaptive_max_pool2d: the largest elements of windows as in adaptive_avg_pool2d. */
Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveSize& output_size);
/** As adaptive_max_pool2d, with the places of the maxima (h * W + w in their plane), int64. */
TensorList adaptive_max_pool2d_with_indices(const Tensor& x, const AdaptiveSize& output_size);
/** torch.nn.functional.adaptive_max_pool1d over [N, C, L] or [C, L]. */
Tensor adaptive_max_pool1d(const Tensor& x, std::int64_t output_size);
/** As adaptive_max_pool1d, with the places of the maxima along L, int64. */
TensorList adaptive_max_pool1d_with_indices(const Tensor& x, std::int64_t output_size);
/** torch.nn.functional.adaptive_avg_pool3d over [N, C, D, H, W] or [C, D, H, W]. */
Tensor adaptive_avg_pool3d(const Tensor& x, const AdaptiveSize3d& output_size);
/** torch.nn.functional.adaptive_max_pool3d over [N, C, D, H, W] or [C, D, H, W]. */
Tensor adaptive_max_pool3d(const Tensor& x, const AdaptiveSize3d& output_size);
/** As adaptive_max_pool3d, with the places of the maxima as in max_pool3d_with_indices. */
TensorList adaptive_max_pool3d_with_indices(const Tensor& x, const AdaptiveSize3d& output_size);

}  // namespace ocl
