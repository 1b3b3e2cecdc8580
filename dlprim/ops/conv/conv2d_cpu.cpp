#include "dlprim/ops/conv/conv2d_cpu.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace conv_cpu {
namespace {

constexpr std::int64_t panel_budget = 384 * 1024;  // bytes of packed pixels that stay in a level-2 cache

// Rows (columns) of each phase that the walk reads.
std::int64_t phase_length(const Walk& walk) {
  return walk.out + std::max<std::int64_t>(0, walk.taps - 1) * walk.step / walk.stride;
}

std::int64_t phase_count(const Walk& walk) {
  return std::min(walk.stride, std::max<std::int64_t>(0, walk.taps - 1) * walk.step + 1);
}

void run_tiles(Queue& queue, const Stencil& s, const PhasedInput& x, const Tensor& weight,
               const WeightWalk& walk, const Tensor* bias, const Tensor& y, const Epilogue& epilogue) {
  const DType packed = x.data.dtype;
  const Tensor left = cpu_tile::pack_weights(
      queue, {weight, s.groups, walk.group, s.rows, walk.row},
      {walk.start, {s.taps_h, s.taps_w, s.channels}, {walk.tap[0], walk.tap[1], walk.channel}});
  const int columns = cpu_tile::tile_columns(packed);
  const std::int64_t depth = s.taps_h * s.taps_w * s.channels;
  const std::int64_t panels = ceil_div(s.images * s.out_h * s.out_w, columns);
  const std::int64_t panel_bytes =
      std::max<std::int64_t>(1, depth) * columns * static_cast<std::int64_t>(size_of(packed));
  std::int64_t per_job = std::clamp<std::int64_t>(panel_budget / panel_bytes, 1, CONV_MAX_PANELS);
  per_job =
      std::clamp<std::int64_t>(s.groups * panels / (8 * queue.device().info().compute_units), 1, per_job);
  const std::int64_t items = cpu_tile::items_for(queue.device(), s.groups * ceil_div(panels, per_job));
  const std::int64_t slice = per_job * depth * columns + columns;
  const Tensor scratch = queue.scratch({items, slice}, packed);
  queue.launch(
      queue.kernel("ops/conv/conv_tiles_cpu.cl", "conv_tiles", cpu_tile::defines(y.dtype, &epilogue)),
      Range::groups(1, items), left, x.data, Optional{bias}, Optional{epilogue.addend}, y, scratch, s,
      bias ? 1 : 0, epilogue.addend ? 1 : 0, static_cast<int>(per_job), slice);
}

void run_direct(Queue& queue, const Stencil& s, const PhasedInput& x, const Tensor& weight,
                const WeightWalk& walk, const Tensor* bias, const Tensor& y, const Epilogue& epilogue) {
  const std::int64_t slice = phased_size(x.shape, s.channels);
  const std::int64_t items = direct_items(queue.device(), s.images * s.groups * s.rows, slice);
  const Tensor scratch = queue.scratch({items, slice}, compute_dtype(y.dtype));
  queue.launch(
      queue.kernel("ops/conv/conv_direct_cpu.cl", "conv_direct", cpu_tile::defines(y.dtype, &epilogue)),
      Range::groups(1, items), weight, x.data, Optional{bias}, y, scratch, s, x.shape, slice, bias ? 1 : 0,
      walk.start, walk.group, walk.row, walk.channel, walk.tap[0], walk.tap[1]);
}

}  // namespace

double cost_of_multiply_add(Way way, std::int64_t rows, std::int64_t groups) {
  const double tile = static_cast<double>(ceil_div(rows, TILE_ROWS) * TILE_ROWS);
  if (way == Way::tiles) return tile / static_cast<double>(rows);
  return groups > 1 ? 2.1 : 9;
}

bool sums_in_registers(DType dtype, std::int64_t terms) {
  return terms <= CONV_MAX_TERMS || is_compute_dtype(dtype);
}

PhasedInput make_phased(Queue& queue, Way way, const Tensor& x, const Walk& h, const Walk& w,
                        bool may_alias) {
  const DType packed = compute_dtype(x.dtype);
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "conv2d", "a size"); };
  const int height = narrow(x.shape[2]), width = narrow(x.shape[3]);
  if (way == Way::tiles && may_alias && h.stride == 1 && w.stride == 1 && h.padding == 0 && w.padding == 0 &&
      x.dtype == packed)
    return {x, {height, width, 1, 1, height, width, 1, 1, 0, 0}};
  const Phases shape{height,
                     width,
                     narrow(phase_count(h)),
                     narrow(phase_count(w)),
                     narrow(phase_length(h)),
                     narrow(phase_length(w)),
                     narrow(h.stride),
                     narrow(w.stride),
                     narrow(h.padding),
                     narrow(w.padding)};
  if (way == Way::direct) return {x, shape};
  const std::int64_t planes = x.shape[0] * x.shape[1];
  const Tensor data = queue.scratch({phased_size(shape, planes)}, packed);
  queue.launch(queue.kernel("ops/conv/conv_phase_cpu.cl", "make_phases", cpu_tile::defines(x.dtype)),
               Range::groups(1, cpu_tile::items_for(queue.device(), std::max<std::int64_t>(1, planes))), x,
               data, planes, shape);
  return {data, shape};
}

std::int64_t phased_size(const Phases& s, std::int64_t planes) {
  return product({planes, s.phases_h, s.phases_w, s.rows, s.row_length}) + CONV_SLACK;
}

std::int64_t direct_items(const Device& device, std::int64_t jobs, std::int64_t slice) {
  constexpr std::int64_t budget = 16 * 1024 * 1024;  // elements
  return std::min(cpu_tile::items_for(device, jobs),
                  std::max<std::int64_t>(device.info().compute_units, budget / slice));
}

Stencil input_stencil(const PhasedInput& x, std::int64_t groups, std::int64_t channels, const Walk& h,
                      const Walk& w) {
  Stencil s{};
  s.groups = groups;
  s.channels = channels;
  s.taps_h = h.taps, s.taps_w = w.taps;
  s.step_h = h.step, s.step_w = w.step;
  s.stride_h = h.stride, s.stride_w = w.stride;
  s.out_h = h.out, s.out_w = w.out;
  s.phases_w = x.shape.phases_w;
  s.row_length = x.shape.row_length;
  s.phase_size = x.shape.rows * s.row_length;
  s.channel_stride = x.shape.phases_h * s.phases_w * s.phase_size;
  s.group_stride = channels * s.channel_stride;
  s.image_stride = groups * s.group_stride;
  s.limit = x.data.numel();
  return s;
}

void run_stencil(Queue& queue, Way way, const Stencil& stencil, const PhasedInput& x, const Tensor& weight,
                 const WeightWalk& walk, const Tensor* bias, const Tensor& y, const Epilogue& epilogue) {
  (way == Way::tiles ? run_tiles : run_direct)(queue, stencil, x, weight, walk, bias, y, epilogue);
}

}  // namespace conv_cpu

namespace {

using namespace conv_cpu;

template <Way way>
bool can_take(const DeviceInfo& device, const ConvForwardProblem& p) {
  if (!device.runs_cpu_kernels()) return false;
  if (way == Way::tiles) return true;
  const std::int64_t terms = p.sizes.in_channels * p.sizes.taps();
  const bool finishes = terms <= CONV_MAX_TERMS && !p.epilogue.addend;  // what it stores
  return sums_in_registers(p.y.dtype, terms) && (finishes || !p.epilogue.any());
}

template <Way way>
double expected_cost(const DeviceInfo&, const ConvForwardProblem& p) {
  return p.sizes.multiply_adds() * cost_of_multiply_add(way, p.sizes.out_channels, p.sizes.groups);
}

template <Way way>
void run(Queue& queue, const ConvForwardProblem& problem) {
  const ConvSizes& p = problem.sizes;
  const Walk h{p.kernel[0], p.dilation[0], p.stride[0], p.padding[0], p.out_size[0]};
  const Walk w{p.kernel[1], p.dilation[1], p.stride[1], p.padding[1], p.out_size[1]};
  const PhasedInput input = make_phased(queue, way, problem.x, h, w, true);
  Stencil s = input_stencil(input, p.groups, p.in_channels, h, w);
  s.images = p.images;
  s.rows = p.out_channels;
  s.y_channel = p.out_pixels();
  s.y_image = p.groups * p.out_channels * s.y_channel;
  s.y_row = p.out_size[1];
  s.y_column = 1;
  const std::int64_t filter = p.in_channels * p.taps();
  run_stencil(queue, way, s, input, problem.weight,
              {0, p.out_channels * filter, filter, p.taps(), {p.kernel[1], 1}}, problem.bias, problem.y,
              problem.epilogue);
}

}  // namespace

ConvForward conv2d_forward_cpu_tiles() {
  return {"cpu_tiles", can_take<Way::tiles>, expected_cost<Way::tiles>, run<Way::tiles>};
}
ConvForward conv2d_forward_cpu_direct() {
  return {"cpu_direct", can_take<Way::direct>, expected_cost<Way::direct>, run<Way::direct>};
}

}  // namespace dlprim
