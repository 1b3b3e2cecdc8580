#pragma once

#include "dlprim/ops/int8/int8_shared.h"
#include "dlprim/runtime/implementation.h"

namespace dlprim {

/** A convolution of int8 with nothing empty, its sizes and formats checked. */
struct Int8ConvProblem {
  Int8Conv sizes;
  Int8Finish finish;
  const Tensor &x, &weight, &scales;
  const Tensor *bias, *addend;
  const Tensor& y;

  std::int64_t taps() const { return std::int64_t{sizes.taps_h} * sizes.taps_w; }
  std::int64_t depth() const { return sizes.channels * taps(); }
  double multiply_adds() const { return static_cast<double>(y.numel()) * static_cast<double>(depth()); }
};

using Int8ConvImplementation = Implementation<Int8ConvProblem>;

/** Products of a register tile (int8_products_cpu.cl). */
Int8ConvImplementation int8_conv_cpu_products();
/** Planes one by one, for groups of one channel. */
Int8ConvImplementation int8_conv_cpu_depthwise();
/** Results one by one, on any device. */
Int8ConvImplementation int8_conv_direct();

}  // namespace dlprim
