#pragma once

#include <string>
#include <variant>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** Zeros on both sides, or "valid" (none) or "same" (as many as keep the size, one more behind than before
 * where their number is odd; stride 1 only). */
using Padding1d = std::variant<int, std::string>;
/** As Padding1d, for height and width. */
struct Padding2d : std::variant<Pair, std::string> {
  Padding2d(int both = 0) : variant(Pair(both)) {}
  Padding2d(int height, int width) : variant(Pair(height, width)) {}
  Padding2d(Pair sizes) : variant(sizes) {}
  Padding2d(const char* word) : variant(std::string(word)) {}
  Padding2d(const std::string& word) : variant(word) {}
};
inline dlprim::ArgumentValue argument_value(const Padding2d& padding) {
  return dlprim::value_of(static_cast<const std::variant<Pair, std::string>&>(padding));
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

}  // namespace ocl
