#pragma once

#include <string>
#include <variant>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** Zeros on both sides, or "valid" (none) or "same" (as many as keep the size, one more behind than before
 * where their number is odd; stride 1 only). */
using Padding1d = std::variant<int, std::string>;
/** As Padding1d, for the last N dimensions. */
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

/**
 * torch.nn.functional.conv1d: x [N, C, L] (or [C, L]), weight [O, C / groups, K], bias [O] -> [N, O, OL];
 * OL as in conv2d. Throws ValueError, TypeError.
 */
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, int stride = 1,
              const Padding1d& padding = 0, int dilation = 1, std::int64_t groups = 1);
/**
 * torch.nn.functional.conv2d: x [N, C, H, W] (or [C, H, W]), weight [O, C / groups, KH, KW], bias [O] ->
 * [N, O, OH, OW] with OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1. Throws ValueError,
 * TypeError.
 */
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Pair stride = 1,
              const Padding2d& padding = 0, Pair dilation = 1, std::int64_t groups = 1);
/** torch.nn.functional.conv3d: x [N, C, D, H, W] (or [C, D, H, W]), weight [O, C / groups, KD, KH, KW], bias
 * [O] -> [N, O, OD, OH, OW]; sizes as in conv2d. Throws ValueError, TypeError. */
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Triple stride = 1,
              const Padding3d& padding = 0, Triple dilation = 1, std::int64_t groups = 1);

/** torch.nn.functional.conv_transpose1d: x [N, C, L] (or [C, L]), weight [C, O / groups, K], bias [O] ->
 * [N, O, OL]; OL as in conv_transpose2d. Throws ValueError, TypeError. */
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, int stride = 1,
                        int padding = 0, int output_padding = 0, std::int64_t groups = 1, int dilation = 1);
/**
 * torch.nn.functional.conv_transpose2d: x [N, C, H, W] (or [C, H, W]), weight [C, O / groups, KH, KW], bias
 * [O] -> [N, O, OH, OW] with OH = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1; the
 * gradient of conv2d with respect to its input. Throws ValueError, TypeError.
 */
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Pair stride = 1,
                        Pair padding = 0, Pair output_padding = 0, std::int64_t groups = 1,
                        Pair dilation = 1);
/** torch.nn.functional.conv_transpose3d: x [N, C, D, H, W] (or [C, D, H, W]), weight [C, O / groups, KD, KH,
 * KW], bias [O] -> [N, O, OD, OH, OW]; sizes as in conv_transpose2d. Throws ValueError, TypeError. */
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Triple stride = 1,
                        Triple padding = 0, Triple output_padding = 0, std::int64_t groups = 1,
                        Triple dilation = 1);

}  // namespace ocl
