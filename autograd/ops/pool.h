#pragma once

#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** What adaptive pooling brings height and width to; nothing keeps the input's size. */
struct AdaptiveSize {
  std::array<std::optional<std::int64_t>, 2> values;
  bool is_one_number = true;  // how it was given, for what prints it
  AdaptiveSize() = default;
  AdaptiveSize(std::int64_t both) : values{both, both} {}
  AdaptiveSize(int both) : AdaptiveSize(std::int64_t{both}) {}
  AdaptiveSize(Pair size) : values{size[0], size[1]}, is_one_number(size.is_one_number) {}
  AdaptiveSize(std::optional<std::int64_t> height, std::optional<std::int64_t> width)
      : values{height, width}, is_one_number(false) {}
};
inline dlprim::ArgumentValue argument_value(const AdaptiveSize& size) {
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

/** torch.nn.functional.avg_pool2d. */
Tensor avg_pool2d(const Tensor& x, Pair kernel_size, std::optional<Pair> stride = std::nullopt,
                  Pair padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<std::int64_t> divisor_override = std::nullopt);
/** torch.nn.functional.avg_pool1d over [N, C, L] or [C, L]. */
Tensor avg_pool1d(const Tensor& x, int kernel_size, std::optional<int> stride = std::nullopt, int padding = 0,
                  bool ceil_mode = false, bool count_include_pad = true);

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

}  // namespace ocl
