#pragma once

#include <array>
#include <string>

#include "autograd/tensor.h"

namespace ocl {

/** One number for both of height and width, or a pair {height, width}. */
struct Pair {
  std::array<int, 2> values{1, 1};
  Pair() = default;
  Pair(int both) : values{both, both} {}
  Pair(int height, int width) : values{height, width} {}
  Pair(const std::array<int, 2>& v) : values(v) {}
  int operator[](int i) const { return values[static_cast<std::size_t>(i)]; }
};

/**
 * torch.nn.functional.conv2d: x [N, C, H, W] (or [C, H, W]), weight [O, C / groups, KH, KW], bias [O] ->
 * [N, O, OH, OW] with OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1. Throws ValueError,
 * TypeError.
 */
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Pair stride = 1,
              Pair padding = 0, Pair dilation = 1, int groups = 1);

}  // namespace ocl
