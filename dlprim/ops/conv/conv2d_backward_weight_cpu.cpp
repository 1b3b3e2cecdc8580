#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_cpu.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

constexpr std::int64_t chain = 512;  // CHAIN of cpu_tile.cl: pixels summed in one go

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

void tiled(Queue& queue, const ConvProblem& p, const conv_cpu::Stencil& s, const Tensor& dy, const Tensor& x,
           const Tensor& dw) {
  constexpr const char* op = "conv2d";
  const DType packed = x.dtype;
  const Defines defines = cpu_tile::defines(dw.dtype);
  const int columns = cpu_tile::tile_columns(packed);
  const std::int64_t chunk_rows = std::clamp<std::int64_t>(chain / p.out_size[1], 1, p.out_size[0]);
  const std::int64_t chunk_images =
      chunk_rows < p.out_size[0] ? 1 : std::clamp<std::int64_t>(chain / p.out_pixels(), 1, p.images);
  const std::int64_t chunks = ceil_div(p.images, chunk_images) * ceil_div(p.out_size[0], chunk_rows);
  const std::int64_t panels = ceil_div(p.out_channels, columns), all = p.in_channels * p.taps();
  const std::int64_t jobs = p.groups * panels;
  const std::int64_t parts =
      std::clamp<std::int64_t>(8 * queue.device().info().compute_units / jobs, 1, chunks);
  const std::int64_t slice = chunk_images * chunk_rows * p.out_size[1] * columns;
  const Tensor scratch = queue.scratch({jobs * parts, slice}, packed);
  const std::int64_t sum_rows = ceil_div(all, cpu_tile::tile_rows) * cpu_tile::tile_rows;
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

}  // namespace

void conv2d_backward_weight_cpu(Queue& queue, const ConvProblem& p, const Tensor& dy, const Tensor& x,
                                const Tensor& dw) {
  using namespace conv_cpu;
  const bool narrow = is_narrow(p.out_channels, p.groups);
  const Walk h{p.kernel[0], p.dilation[0], p.stride[0], p.padding[0], p.out_size[0]};
  const Walk w{p.kernel[1], p.dilation[1], p.stride[1], p.padding[1], p.out_size[1]};
  const PhasedInput input = make_phased(queue, x, h, w, !narrow);
  Stencil s = input_stencil(input, p.groups, p.in_channels, h, w);
  s.images = p.images;
  s.rows = p.out_channels;
  if (!narrow) return tiled(queue, p, s, dy, input.data, dw);
  queue.launch(queue.kernel("ops/conv/conv_direct_cpu.cl", "weight_direct", cpu_tile::defines(dw.dtype)),
               Range::groups(1, p.groups * p.out_channels * p.in_channels), dy, input.data, dw, s);
}

}  // namespace dlprim
