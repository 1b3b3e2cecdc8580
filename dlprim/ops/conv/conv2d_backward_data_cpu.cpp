#include <algorithm>
#include <numeric>
#include <vector>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_cpu.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

using namespace conv_cpu;

/**
 * The results of one dimension whose position is `remainder` modulo the stride: a stencil of unit stride over
 * dy. Result i of it is dx[remainder + stride * i] = sum over t of dy[i + first + t * walk.step] * weight[tap
 * - t * tap_step].
 */
struct Phase {
  std::int64_t remainder, first, tap, tap_step;
  Walk walk;
};

// dx[ih] gathers dy[oh] with oh * stride - padding + kh * dilation = ih; the taps that hit whole oh are
// evenly spaced.
std::vector<Phase> phases_of(const ConvSizes& p, int dim) {
  const std::int64_t stride = p.stride[dim], dilation = p.dilation[dim], common = std::gcd(stride, dilation);
  std::vector<Phase> phases;
  for (std::int64_t r = 0; r < std::min(stride, p.size[dim]); ++r) {
    Phase phase{
        r, 0, 0, stride / common, {0, dilation / common, 1, 0, (p.size[dim] - r + stride - 1) / stride}};
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

template <Way way>
void gather(Queue& queue, const ConvBackwardDataProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const std::vector<Phase> rows = phases_of(p, 0), columns = phases_of(p, 1);
  const Walk cover_h = covering_walk(rows), cover_w = covering_walk(columns);
  const bool same_size = cover_h.out <= p.out_size[0] && cover_w.out <= p.out_size[1];
  const PhasedInput input = make_phased(queue, way, problem.dy, cover_h, cover_w, same_size);
  const std::int64_t taps = p.taps(), filter = p.in_channels * taps;
  for (const Phase& h : rows)
    for (const Phase& w : columns) {
      Stencil s = input_stencil(input, p.groups, p.out_channels, h.walk, w.walk);
      s.base = (h.first + cover_h.padding) * input.shape.row_length + w.first + cover_w.padding;
      if (h.walk.taps == 0 || w.walk.taps == 0) s.base = s.taps_h = s.taps_w = 0;
      s.images = p.images;
      s.rows = p.in_channels;
      s.y_channel = p.in_pixels();
      s.y_image = p.groups * p.in_channels * s.y_channel;
      s.y_row = p.stride[0] * p.size[1];
      s.y_column = p.stride[1];
      s.y_base = h.remainder * p.size[1] + w.remainder;
      const WeightWalk walk{h.tap * p.kernel[1] + w.tap,
                            p.out_channels * filter,
                            taps,
                            filter,
                            {-h.tap_step * p.kernel[1], -w.tap_step}};
      run_stencil(queue, way, s, input, problem.weight, walk, nullptr, problem.dx, {});
    }
}

constexpr std::int64_t contribution_budget = 96 * 1024;  // elements of one job, to stay in a level-2 cache

template <Way way>
bool can_gather(const DeviceInfo& device, const ConvBackwardDataProblem& p) {
  return device.runs_cpu_kernels() &&
         (way == Way::tiles || sums_in_registers(p.dx.dtype, p.sizes.out_channels * p.sizes.taps()));
}

template <Way way>
double cost_of_gather(const DeviceInfo&, const ConvBackwardDataProblem& problem) {
  const ConvSizes& p = problem.sizes;
  double taps = 0;
  for (const Phase& h : phases_of(p, 0))
    for (const Phase& w : phases_of(p, 1))
      taps += static_cast<double>(h.walk.out * w.walk.out * h.walk.taps * w.walk.taps);
  return taps * static_cast<double>(p.images * p.groups * p.in_channels * p.out_channels) *
         cost_of_multiply_add(way, p.in_channels, p.groups);
}

bool can_scatter(const DeviceInfo& device, const ConvBackwardDataProblem&) {
  return device.runs_cpu_kernels();
}

// In multiply-adds of whole register tiles; what a contribution's addition costs was measured.
double cost_of_scatter(const DeviceInfo&, const ConvBackwardDataProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const int columns = cpu_tile::tile_columns(problem.dx.dtype);
  const double addition = p.stride[1] <= 2 ? 12 : 32;
  return static_cast<double>(p.images * p.groups * round_up(p.out_pixels(), columns)) *
         static_cast<double>(round_up(p.in_channels * p.taps(), TILE_ROWS)) *
         (static_cast<double>(p.out_channels) + addition);
}

void scatter(Queue& queue, const ConvBackwardDataProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const Tensor &dy = problem.dy, &weight = problem.weight, &dx = problem.dx;
  constexpr std::int64_t slack = 32;  // elements that vectors may touch beyond a row
  const int columns = cpu_tile::tile_columns(dx.dtype);
  const std::int64_t taps = p.taps(), rows = p.in_channels * taps,
                     aligned = 8 / std::gcd<std::int64_t>(8, taps);
  Scatter s{};
  s.images = p.images, s.groups = p.groups;
  s.in_channels = p.in_channels, s.out_channels = p.out_channels;
  s.height = p.size[0], s.width = p.size[1];
  s.out_h = p.out_size[0], s.out_w = p.out_size[1];
  s.taps_h = p.kernel[0], s.taps_w = p.kernel[1];
  s.stride_h = p.stride[0], s.stride_w = p.stride[1];
  s.pad_h = p.padding[0], s.pad_w = p.padding[1];
  s.dilation_h = p.dilation[0], s.dilation_w = p.dilation[1];
  s.plane_rows = p.size[0] + 2 * p.padding[0];
  // Long enough that a vector beyond the end of one row never meets the next one. MNIST's second
  // convolution: 4.0 ms against 5.1 with tight rows; its first: no difference. (Supposed cause: loads that
  // wait for an overlapping store.)
  s.row_length =
      std::max(p.size[1] + 2 * p.padding[1],
               (p.kernel[1] - 1) * p.dilation[1] + round_up(p.out_size[1], columns / 2) * p.stride[1]);
  s.chunk_rows = std::clamp<std::int64_t>(512 / p.out_size[1], 1, p.out_size[0]);
  s.chunk_columns = round_up(s.chunk_rows * p.out_size[1], columns);
  // Blocks of channels start at a panel of packed weights.
  s.block_channels =
      round_up(std::max<std::int64_t>(1, contribution_budget / (taps * s.chunk_columns)), aligned);
  const std::int64_t block_rows = round_up(std::min(s.block_channels * taps, rows), TILE_ROWS);
  s.sums_at = p.out_channels * columns + block_rows * s.chunk_columns + slack;
  s.slice = s.sums_at + std::min(s.block_channels, p.in_channels) * s.plane_rows * s.row_length + slack;
  const std::int64_t jobs = p.images * p.groups * ceil_div(p.in_channels, s.block_channels);
  const std::int64_t items = cpu_tile::items_for(queue.device(), jobs);
  const Tensor scratch = queue.scratch({items, s.slice}, compute_dtype(dx.dtype));
  const Tensor left = cpu_tile::pack_weights(queue, {weight, p.groups, p.out_channels * rows, rows, 1},
                                             {0, {1, 1, p.out_channels}, {0, 0, rows}});
  queue.launch(queue.kernel("ops/conv/conv_scatter_cpu.cl", "conv_scatter", cpu_tile::defines(dx.dtype)),
               Range::groups(1, items), left, dy, dx, scratch, s);
}

}  // namespace

ConvBackwardData conv2d_backward_data_cpu_tiles() {
  return {"cpu_tiles", can_gather<Way::tiles>, cost_of_gather<Way::tiles>, gather<Way::tiles>};
}
ConvBackwardData conv2d_backward_data_cpu_direct() {
  return {"cpu_direct", can_gather<Way::direct>, cost_of_gather<Way::direct>, gather<Way::direct>};
}
ConvBackwardData conv2d_backward_data_cpu_scatter() {
  return {"cpu_scatter", can_scatter, cost_of_scatter, scatter};
}

}  // namespace dlprim
