#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_cpu.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

constexpr std::int64_t chunk_pixels = 512;  // summed in one go

using namespace conv_cpu;

/** The input, laid out for `way`, and the walk over it. */
struct Work {
  PhasedInput input;
  Stencil stencil;

  Work(Queue& queue, const ConvSizes& p, const Tensor& x, Way way) {
    const Walk h{p.kernel[0], p.dilation[0], p.stride[0], p.padding[0], p.out_size[0]};
    const Walk w{p.kernel[1], p.dilation[1], p.stride[1], p.padding[1], p.out_size[1]};
    input = make_phased(queue, way, x, h, w, true);
    stencil = input_stencil(input, p.groups, p.in_channels, h, w);
    stencil.images = p.images;
    stencil.rows = p.out_channels;
  }
};

bool can_take(const DeviceInfo& device, const ConvBackwardWeightProblem&) {
  return device.runs_cpu_kernels();
}

template <Way way>
double expected_cost(const DeviceInfo&, const ConvBackwardWeightProblem& p) {
  return p.sizes.multiply_adds() * cost_of_multiply_add(way, p.sizes.out_channels, p.sizes.groups);
}

void tiles(Queue& queue, const ConvBackwardWeightProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const Tensor &dy = problem.dy, &dw = problem.dw;
  const auto [input, s] = Work(queue, p, problem.x, Way::tiles);
  const Tensor& x = input.data;
  constexpr const char* op = "conv2d";
  const DType packed = x.dtype;
  const Defines defines = cpu_tile::defines(dw.dtype);
  const int columns = cpu_tile::tile_columns(packed);
  const std::int64_t chunk_rows = std::clamp<std::int64_t>(chunk_pixels / p.out_size[1], 1, p.out_size[0]);
  const std::int64_t chunk_images =
      chunk_rows < p.out_size[0] ? 1 : std::clamp<std::int64_t>(chunk_pixels / p.out_pixels(), 1, p.images);
  const std::int64_t chunks = ceil_div(p.images, chunk_images) * ceil_div(p.out_size[0], chunk_rows);
  const std::int64_t panels = ceil_div(p.out_channels, columns), all = p.in_channels * p.taps();
  const std::int64_t jobs = p.groups * panels;
  const std::int64_t parts =
      std::clamp<std::int64_t>(8 * queue.device().info().compute_units / jobs, 1, chunks);
  const std::int64_t slice = chunk_images * chunk_rows * p.out_size[1] * columns;
  const Tensor scratch = queue.scratch({jobs * parts, slice}, packed);
  const std::int64_t sum_rows = ceil_div(all, TILE_ROWS) * TILE_ROWS;
  const Tensor partials = queue.scratch({parts, jobs, sum_rows, columns}, packed);
  queue.launch(queue.kernel("ops/conv/conv_weight_cpu.cl", "weight_partials", defines),
               Range::groups(1, jobs * parts), dy, x, partials, scratch, s, static_cast<int>(chunk_images),
               static_cast<int>(chunk_rows), static_cast<int>(parts), slice);
  queue.launch(queue.kernel("ops/conv/conv_weight_cpu.cl", "weight_sum", defines),
               Range::groups(1, ceil_div(all, columns / 2), jobs), partials, dw,
               kernel_int(p.groups, op, "a number of groups"),
               kernel_int(p.out_channels, op, "a number of channels"), kernel_int(all, op, "a filter"),
               static_cast<int>(parts));
}

void direct(Queue& queue, const ConvBackwardWeightProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const auto [input, s] = Work(queue, p, problem.x, Way::direct);
  const DType packed = compute_dtype(problem.dw.dtype);
  const std::int64_t sums = round_up(p.taps(), CONV_TAPS) * cpu_tile::tile_columns(packed) / TILE_VECTORS;
  const std::int64_t slice = sums + phased_size(input.shape, 1),
                     filters = p.groups * p.out_channels * p.in_channels;
  const std::int64_t items = direct_items(queue.device(), filters, slice);
  const Tensor scratch = queue.scratch({items, slice}, packed);
  queue.launch(
      queue.kernel("ops/conv/conv_direct_cpu.cl", "weight_direct", cpu_tile::defines(problem.dw.dtype)),
      Range::groups(1, items), problem.dy, input.data, problem.dw, scratch, s, input.shape, slice);
}

}  // namespace

ConvBackwardWeight conv2d_backward_weight_cpu_tiles() {
  return {"cpu_tiles", can_take, expected_cost<Way::tiles>, tiles};
}
ConvBackwardWeight conv2d_backward_weight_cpu_direct() {
  return {"cpu_direct", can_take, expected_cost<Way::direct>, direct};
}

}  // namespace dlprim
