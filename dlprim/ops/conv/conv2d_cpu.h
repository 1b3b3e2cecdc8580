#pragma once

#include <cstdint>

#include "dlprim/ops/conv/conv2d_problem.h"

namespace dlprim::conv_cpu {

/** Kernel argument: mirrors `Stencil` of conv_cpu.cl, where its members are explained. */
struct Stencil {
  std::int64_t images, groups;
  std::int64_t rows, channels;
  std::int64_t taps[2], step[2];
  std::int64_t stride[2], phases_w;
  std::int64_t row_length, phase_size;
  std::int64_t channel_stride, group_stride, image_stride, base, limit;
  std::int64_t out[2];
  std::int64_t y_image, y_channel, y_row, y_column, y_base;
};

/** One dimension of a walk over an input: the taps, how far apart, and the results; padding may be negative
 * (a crop). */
struct Walk {
  std::int64_t taps, step, stride, padding, out;
};

/** An input in the layout that conv_cpu.cl describes. */
struct PhasedInput {
  Tensor data;
  std::int64_t rows, row_length, phases[2];
};

/** `x` [images, channels, H, W] laid out for the two walks; x itself where that is the same and `may_alias`.
 */
PhasedInput make_phased(Queue& queue, const Tensor& x, const Walk& h, const Walk& w, bool may_alias);

/** The part of a stencil that the input and the walks decide. */
Stencil input_stencil(const PhasedInput& x, std::int64_t groups, std::int64_t channels, const Walk& h,
                      const Walk& w);

/** How a weight element of (row, channel, tap) is found in the weight tensor, relative to its group. */
struct WeightWalk {
  std::int64_t start, group, row, channel, tap[2];
};

/** y = stencil(x) * weight + bias, by the register tile or, for narrow groups, directly. */
void run_stencil(Queue& queue, const Stencil& stencil, const PhasedInput& x, const Tensor& weight,
                 const WeightWalk& walk, const Tensor* bias, const Tensor& y);

/** Whether groups are too narrow for the register tile. */
bool is_narrow(std::int64_t rows, std::int64_t groups);

}  // namespace dlprim::conv_cpu
