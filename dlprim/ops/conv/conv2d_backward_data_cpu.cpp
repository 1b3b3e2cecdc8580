#include <algorithm>
#include <numeric>
#include <vector>

#include "dlprim/ops/conv/conv2d_cpu.h"

namespace dlprim {
namespace {

using conv_cpu::Walk;

/**
 * The results of one dimension whose position is `remainder` modulo the stride: a stencil of unit stride over dy.
 * Result i of it is dx[remainder + stride * i] = sum over t of dy[i + first + t * walk.step] * weight[tap - t * tap_step].
 */
struct Phase {
  std::int64_t remainder, first, tap, tap_step;
  Walk walk;
};

// dx[ih] gathers dy[oh] with oh * stride - padding + kh * dilation = ih; the taps that hit whole oh are evenly spaced.
std::vector<Phase> phases_of(const ConvProblem& p, int dim) {
  const std::int64_t stride = p.stride[dim], dilation = p.dilation[dim], common = std::gcd(stride, dilation);
  std::vector<Phase> phases;
  for (std::int64_t r = 0; r < std::min(stride, p.size[dim]); ++r) {
    Phase phase{r, 0, 0, stride / common, {0, dilation / common, 1, 0, (p.size[dim] - r + stride - 1) / stride}};
    for (std::int64_t tap = 0; tap < p.kernel[dim]; ++tap) {
      const std::int64_t position = r + p.padding[dim] - tap * dilation;
      if (position % stride != 0) continue;
      ++phase.walk.taps;
      phase.tap = tap;
      phase.first = position / stride;
    }
    phases.push_back(phase);
  }
  return phases;
}

// One padded copy of dy serves every phase: its walk covers what all of them read.
Walk covering_walk(const std::vector<Phase>& phases) {
  std::int64_t lowest = phases.front().first, highest = lowest + 1;
  for (const Phase& phase : phases) {
    if (phase.walk.taps == 0) continue;
    lowest = std::min(lowest, phase.first);
    highest = std::max(highest, phase.first + phase.walk.out + (phase.walk.taps - 1) * phase.walk.step);
  }
  return {1, 1, 1, -lowest, highest - lowest};
}

}  // namespace

void conv2d_backward_data_cpu(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& weight,
                              const Tensor& dx) {
  using namespace conv_cpu;
  const std::vector<Phase> rows = phases_of(p, 0), columns = phases_of(p, 1);
  const Walk cover_h = covering_walk(rows), cover_w = covering_walk(columns);
  const bool same_size = cover_h.out <= p.out_size[0] && cover_w.out <= p.out_size[1];
  const PhasedInput input = make_phased(queue, dy, cover_h, cover_w, same_size && !is_narrow(p.in_channels, p.groups));
  const std::int64_t taps = p.taps(), filter = p.in_channels * taps;
  for (const Phase& h : rows)
    for (const Phase& w : columns) {
      Stencil s = input_stencil(input, p.groups, p.out_channels, h.walk, w.walk);
      s.base = (h.first + cover_h.padding) * input.row_length + w.first + cover_w.padding;
      if (h.walk.taps == 0 || w.walk.taps == 0) s.base = s.taps[0] = s.taps[1] = 0;
      s.images = p.images;
      s.rows = p.in_channels;
      s.y_channel = p.in_pixels();
      s.y_image = p.groups * p.in_channels * s.y_channel;
      s.y_row = p.stride[0] * p.size[1];
      s.y_column = p.stride[1];
      s.y_base = h.remainder * p.size[1] + w.remainder;
      const WeightWalk walk{h.tap * p.kernel[1] + w.tap, p.out_channels * filter, taps, filter,
                            {-h.tap_step * p.kernel[1], -w.tap_step}};
      run_stencil(queue, s, input, weight, walk, nullptr, dx);
    }
}

}  // namespace dlprim
