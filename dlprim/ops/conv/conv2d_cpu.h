#pragma once

#include <cstdint>

#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/conv/conv_shared.h"

namespace dlprim::conv_cpu {

/** One dimension of a walk over an input: the taps, how far apart, and the results; padding may be negative
 * (a crop). */
struct Walk {
  std::int64_t taps, step, stride, padding, out;
};

/** How results are added up: by the register tile, or one vector of a row at a time, which reads beyond the
 * rows of phased planes and lays them out itself. */
enum class Way { tiles, direct };

/** An input in the layout that conv_cpu.cl describes; for direct sums, as it is. */
struct PhasedInput {
  Tensor data;
  Phases shape;
};

/** `x` [images, channels, H, W] laid out for the two walks; x itself where that is the same and `may_alias`.
 */
PhasedInput make_phased(Queue& queue, Way way, const Tensor& x, const Walk& h, const Walk& w, bool may_alias);

/** The part of a stencil that the input and the walks decide. */
Stencil input_stencil(const PhasedInput& x, std::int64_t groups, std::int64_t channels, const Walk& h,
                      const Walk& w);

/** Elements of scratch that `planes` phased ones take. */
std::int64_t phased_size(const Phases& shape, std::int64_t planes);

/** Work items that share jobs of direct sums, with so many elements of scratch each. */
std::int64_t direct_items(const Device& device, std::int64_t jobs, std::int64_t slice);

/** How a weight element of (row, channel, tap) is found in the weight tensor, relative to its group. */
struct WeightWalk {
  std::int64_t start, group, row, channel, tap[2];
};

/** y = stencil(x) * weight + bias, and what the epilogue makes of that. */
void run_stencil(Queue& queue, Way way, const Stencil& stencil, const PhasedInput& x, const Tensor& weight,
                 const WeightWalk& walk, const Tensor* bias, const Tensor& y, const Epilogue& epilogue);

/** The cost of a multiply-add for an implementation whose tile has `rows` to fill: direct sums pay for the
 * narrow groups that waste most of a tile. With one group the tile always runs: not measured. */
double cost_of_multiply_add(Way way, std::int64_t rows, std::int64_t groups);

/** Whether direct sums of that many terms keep what half types need: what is longer passes through memory. */
bool sums_in_registers(DType dtype, std::int64_t terms);

}  // namespace dlprim::conv_cpu
